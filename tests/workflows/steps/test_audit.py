"""Audit steps, with real runs and workspaces."""

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.audits.git_project import make_project, spoil
from tests.support.live_forge import Live, live, settings_for
from tests.workflows.steps.step_calls import RUN, RecordedCall, call_of

from forge.audits.models import AuditReport, CheckResult, Verdict
from forge.errors import ForgeError
from forge.kernel.clock import now
from forge.workflows.engine.step_executor import StepError
from forge.workflows.steps.audit import AuditStepExecutor, verdict_of


def report(overall: Verdict, *results: tuple[Verdict, bool]) -> AuditReport:
    checks = [
        CheckResult(
            code=f"A{number}",
            name="",
            result=result,
            detail="",
            is_blocking=is_blocking,
            findings=[],
            examined=1,
            unit="files",
            duration_ms=0,
        )
        for number, (result, is_blocking) in enumerate(results)
    ]
    return AuditReport(
        phase="",
        timestamp=now(),
        overall=overall,
        checks=[check for check in checks if check.is_blocking],
        warnings=[check for check in checks if not check.is_blocking],
        project="",
        branch=None,
        head=None,
        base=None,
        tree="",
        claimed_files=None,
        changed_files=0,
        duration_ms=0,
    )


PASS, WARN, FAIL, ERROR, SKIP = Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.ERROR, Verdict.SKIP


@pytest.mark.parametrize(
    ("overall", "results", "expected"),
    [
        (PASS, [(PASS, True), (SKIP, True)], PASS),
        (PASS, [(PASS, True), (WARN, False)], WARN),
        (PASS, [(PASS, True), (FAIL, False)], WARN),
        (FAIL, [(FAIL, True), (ERROR, True)], FAIL),
        (FAIL, [(PASS, True), (ERROR, True)], ERROR),
        (FAIL, [(ERROR, False), (FAIL, False)], ERROR),
    ],
)
def test_verdict_is_that_of_worst_check(
    overall: Verdict, results: list[tuple[Verdict, bool]], expected: Verdict
):
    assert verdict_of(report(overall, *results)) is expected


@pytest.fixture
async def forge(tmp_path: Path) -> AsyncIterator[Live]:
    async with live(settings_for(tmp_path / "data", "sqlite")) as running:
        yield running


async def audit_call(running: Live, **config: Any) -> RecordedCall:
    """Create a step call in a run that waits for an answer."""
    run = await running.forge.runs.start_public(running.account_id, "self_test", {"ask": True})
    info = replace(RUN, account_id=running.account_id, run_id=run.id)
    return call_of("audit", run=info, database=running.forge.store, **config)


def executor(running: Live) -> AuditStepExecutor:
    forge = running.forge
    return AuditStepExecutor(forge.audits, forge.workspaces, forge.store, forge.events)


async def test_audit_is_a_child_run(forge: Live, tmp_path: Path):
    root = make_project(tmp_path / "basket")
    await forge.forge.workspaces.create(forge.account_id, "basket", path=root)
    call = await audit_call(forge, workspace="basket", fail_on=[])
    spoil(root)
    done = await executor(forge).execute(call, call.config())
    assert isinstance(done.output, dict)
    (run_id,) = call.linked
    assert done.output["run_id"] == run_id
    assert (done.output["type"], done.output["verdict"], done.output["workspace"]) == (
        "audit",
        "FAIL",
        "basket",
    )
    findings: Any = done.output["findings"]
    counts: Any = done.output["counts"]
    assert findings[0]["severity"] == "fail"
    known = [(one["check"], one["path"], one["is_known"]) for one in findings]
    assert ("A4", "app/routers/items.py", False) in known
    assert (counts["findings"], sum(counts["checks"].values())) == (len(findings), 12)
    run = await forge.forge.runs.find_one(forge.account_id, run_id)
    assert (run.kind, run.parent_id) == ("audit", call.run_id)
    again = await executor(forge).execute(call, call.config())
    assert again == done, "a repeated step waits for the audit that it started"


async def test_verdict_in_fail_on_fails_step(forge: Live, tmp_path: Path):
    root = make_project(tmp_path / "basket")
    info = await forge.forge.workspaces.create(forge.account_id, "basket", path=root)
    spoil(root)
    call = await audit_call(forge, workspace=info.id)
    with pytest.raises(StepError, match="The audit of basket ended with FAIL") as raised:
        await executor(forge).execute(call, call.config())
    assert raised.value.problem.code == "audit_fail"
    assert "app/routers/items.py:1" in raised.value.message


async def test_unknown_workspace_starts_no_audit(forge: Live, tmp_path: Path):
    unknown = await audit_call(forge, workspace="nothing")
    with pytest.raises(StepError, match="There is no workspace 'nothing'") as raised:
        await executor(forge).execute(unknown, unknown.config())
    assert raised.value.problem.code == "unknown_workspace"
    root = make_project(tmp_path / "basket")
    await forge.forge.workspaces.create(forge.account_id, "basket", path=root)
    call = await audit_call(forge, workspace="basket", base="no-such-branch")
    with pytest.raises(ForgeError, match="no-such-branch"):
        await executor(forge).execute(call, call.config())
