"""Executor of audit steps: starts an audit run and returns its report."""

from collections import Counter
from dataclasses import dataclass

from pydantic import JsonValue

from forge.audits.models import AuditReport, Finding, NewAudit, Severity, Verdict
from forge.audits.service import Audits
from forge.events.log import EventLog
from forge.runs.journal import wait_for_end
from forge.runs.models import RunStatus
from forge.store.database import Store, Tx
from forge.workflows.definition.models import AuditConfig
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult
from forge.workspace.models import WorkspaceInfo
from forge.workspace.service import Workspaces

MAX_FINDINGS = 50
MAX_QUOTED = 3
"""Findings quoted in the error message."""
_WORST_FIRST = (Severity.FAIL, Severity.ERROR, Severity.WARN, Severity.NOTE)


@dataclass(frozen=True)
class AuditStepExecutor:
    audits: Audits
    workspaces: Workspaces
    database: Store
    events: EventLog

    async def execute(self, call: StepCall, config: AuditConfig) -> StepResult:
        workspace = await self._find(call.account_id, config.workspace)
        request = NewAudit(
            workspace_id=workspace.id, base=config.base or None, phase=f"{call.workflow_name}/{call.step_id}"
        )
        run_id = await self._start(call, request)
        await call.link(run_id)
        run = await wait_for_end(self.database, self.events, run_id)
        if run.status is RunStatus.CANCELLED:
            raise StepError("cancelled", f"The audit of {workspace.name} was cancelled.")
        report = await self.audits.report(call.account_id, run_id)
        verdict = verdict_of(report)
        if verdict.value in config.fail_on:
            raise StepError(f"audit_{verdict.value.lower()}", _why(workspace.name, verdict, report))
        return StepResult(_output(workspace.name, run_id, verdict, report))

    async def _start(self, call: StepCall, request: NewAudit) -> str:
        prepared = await self.audits.prepare(call.account_id, request)

        async def begin(tx: Tx) -> JsonValue:
            return (await self.audits.begin(tx, call.account_id, prepared, parent_id=call.run_id)).id

        return str(await call.begin(begin))

    async def _find(self, account_id: str, wanted: str) -> WorkspaceInfo:
        known = await self.workspaces.list(account_id)
        found = next((one for one in known if wanted in (one.id, one.name)), None)
        if found is None:
            names = ", ".join(sorted(one.name for one in known)[:10])
            raise StepError(
                "unknown_workspace",
                f"There is no workspace {wanted[:100]!r}.",
                hint=f"Workspaces: {names}." if names else "Create one: forge workspaces create NAME",
            )
        return found


def verdict_of(report: AuditReport) -> Verdict:
    """Derive a verdict from all checks; the report itself only knows whether it passed."""
    results = [check.result for check in report.results]
    if report.overall.blocks:
        has_failed = any(check.result is Verdict.FAIL and check.is_blocking for check in report.results)
        return Verdict.FAIL if has_failed or Verdict.ERROR not in results else Verdict.ERROR
    has_doubts = any(result not in (Verdict.PASS, Verdict.SKIP) for result in results)
    return Verdict.WARN if has_doubts else Verdict.PASS


def _output(workspace: str, run_id: str, verdict: Verdict, report: AuditReport) -> JsonValue:
    findings = _findings(report)
    checks = Counter(check.result for check in report.results)
    counts: dict[str, JsonValue] = {
        "checks": {result.value: checks[result] for result in Verdict if checks[result]},
        "findings": len(findings),
        "known": sum(finding.known is not None for finding in findings),
    }
    return {
        "type": "audit",
        "verdict": verdict.value,
        "run_id": run_id,
        "workspace": workspace,
        "tree": report.tree,
        "counts": counts,
        "findings": [_finding_json(finding) for finding in findings[:MAX_FINDINGS]],
    }


def _findings(report: AuditReport) -> list[Finding]:
    """Return findings by severity; accepted ones come last."""
    found = [finding for check in report.results for finding in check.findings]
    return sorted(
        found, key=lambda finding: (finding.known is not None, _WORST_FIRST.index(finding.severity))
    )


def _finding_json(finding: Finding) -> JsonValue:
    fields = {"check", "rule", "severity", "path", "line", "message", "fix"}
    return {**finding.model_dump(mode="json", include=fields), "is_known": finding.known is not None}


def _why(workspace: str, verdict: Verdict, report: AuditReport) -> str:
    bad = [f"{check.code} {check.result.value}" for check in report.results if check.result is verdict]
    named = [_line(finding) for finding in _findings(report)[:MAX_QUOTED]]
    return f"The audit of {workspace} ended with {verdict.value} ({', '.join(bad)}). " + " ".join(named)


def _line(finding: Finding) -> str:
    where = f"{finding.path}:{finding.line}" if finding.line else finding.path
    return f"{finding.check} {where}: {finding.message}" if where else f"{finding.check}: {finding.message}"
