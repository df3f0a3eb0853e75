"""Audits that are killed or cancelled, or that use unreliable checks."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.audits.git_project import make_project, spoil
from tests.support.server import Server, wait_until

from forge.audits.auditor import Auditor
from forge.audits.auditor_loader import replace_unsound_check
from forge.audits.check import Check, Fixture, examined
from forge.audits.engine.check_runner import run_checks
from forge.audits.engine.self_test import run_self_tests
from forge.audits.memory import snapshot_of
from forge.audits.models import AuditRequest, Verdict

OWN = 12
HOLDING = '''
"""A team's check that takes as long as a file is there."""

import time
from pathlib import Path

from forge.audits.check import Check, Fixture, Found, examined
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity


def examine(snapshot):
    if "hold.txt" in snapshot.tree.entries:
        while Path(snapshot.tree.read("hold.txt").decode()).exists():
            time.sleep(0.01)
    bad = [Found("bad", Severity.FAIL, "It is bad.", "Do not.", path=p) for p in snapshot.tree.entries if p == "bad"]
    return examined(bad, len(snapshot.tree.entries), "files")


CHECK = Check(
    "TEAM1",
    "Patience",
    "To see what happens meanwhile.",
    "Waits.",
    examine,
    (
        Fixture("good", lambda: snapshot_of({"good": ""}), "PASS"),
        Fixture("bad", lambda: snapshot_of({"bad": ""}), "FAIL"),
    ),
)
'''


class Held:
    """A project whose audit is blocked at its last check until `release` is called."""

    def __init__(self, folder: Path) -> None:
        self.root = make_project(folder / "projects" / "basket")
        spoil(self.root)
        self._hold = folder / "hold"
        self._hold.touch()
        (self.root / "hold.txt").write_text(str(self._hold))
        self.packages = folder / "packages"
        self._install()

    def release(self) -> None:
        self._hold.unlink()

    def _install(self) -> None:
        about = self.packages / "holding-1.0.dist-info"
        about.mkdir(parents=True)
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: holding\nVersion: 1.0\n")
        (about / "entry_points.txt").write_text("[forge.checks]\nteam1 = holding_check:CHECK\n")
        (self.packages / "holding_check.py").write_text(HOLDING)


@pytest.fixture
def held(tmp_path: Path) -> Held:
    return Held(tmp_path)


@pytest.fixture
def server(held: Held, start_server: Callable[..., Server]) -> Server:
    return start_server(FORGE_AUDIT_ROOTS=str(held.root.parent), PYTHONPATH=str(held.packages))


def events(server: Server, run_id: str) -> list[Any]:
    return server.call("GET", f"/api/v1/events?stream=run:{run_id}")


def types(server: Server, run_id: str) -> list[str]:
    return [event["type"] for event in events(server, run_id)]


def start_and_hold(server: Server, held: Held) -> str:
    """Start an audit and wait until all checks but the last are logged as finished."""
    body = {"path": str(held.root), "claimed_files": ["app/routers/items.py", "hold.txt"]}
    run_id = server.call("POST", "/audit/run", body)["id"]
    wait_until(lambda: types(server, run_id).count("audit.check") == OWN, what="the other checks")
    return run_id


def test_a_server_killed_in_the_middle_does_the_audit_again_and_leaves_one_entry(server: Server, held: Held):
    run_id = start_and_hold(server, held)
    server.kill()
    held.release()
    server.start()
    detail = wait_until(
        lambda: (found := server.call("GET", f"/api/v1/runs/{run_id}"))["run"]["finished_at"] and found,
        what="the end of the run",
    )
    told = [kind for kind in types(server, run_id) if kind.startswith("audit.")]
    once = ["audit.started", *["audit.check"] * OWN]
    assert told == [*once, *once, "audit.check", "audit.finished", "audit.recorded"]
    assert (detail["run"]["status"], detail["run"]["attempt"]) == ("completed", 2)
    report = server.call("GET", f"/audit/run?run_id={run_id}")
    codes = [check["code"] for check in [*report["checks"], *report["warnings"]]]
    assert (len(codes), len(set(codes)), report["overall"]) == (OWN + 1, OWN + 1, "FAIL")
    ledger = (held.root / "Forge/evidence/audit_ledger.md").read_text()
    assert ledger.count("## Audit Entry") == 1


def test_an_audit_that_is_cancelled_says_nothing_more(server: Server, held: Held):
    run_id = start_and_hold(server, held)
    server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    before = types(server, run_id)
    held.release()
    after = server.call("GET", f"/audit/run?path={held.root}&only=TEAM1")
    assert (after["overall"], before[-1]) == ("PASS", "run.cancelled")
    assert types(server, run_id) == before
    assert not (held.root / "Forge/evidence").exists()


def test_the_tests_run_first_when_that_is_asked_and_their_record_counts(
    start_server: Callable[..., Server], tmp_path: Path
):
    root = make_project(tmp_path / "projects" / "basket")
    (root / "test_sum.py").write_text("def test_sum():\n    assert 1 + 1 == 2\n")
    server = start_server(FORGE_AUDIT_ROOTS=str(root.parent))
    body = {"path": str(root), "claimed_files": ["test_sum.py"], "evidence": True, "summary": "It adds up."}
    run_id = server.call("POST", "/audit/run", body)["id"]
    detail = wait_until(
        lambda: (found := server.call("GET", f"/api/v1/runs/{run_id}"))["run"]["finished_at"] and found,
        what="the end of the run",
    )
    assert [step["name"] for step in detail["steps"]] == ["evidence", "audit", "ledger"]
    results = {check["code"]: check["result"] for check in detail["run"]["output"]["checks"]}
    assert {code: results[code] for code in ("A1", "A3", "A5", "A7", "A8")} == dict.fromkeys(
        ("A1", "A3", "A5", "A7", "A8"), "PASS"
    )
    assert (root / "Forge/evidence/test_runs_latest.md").read_text().startswith("Status: PASS\n")
    assert "It adds up." in (root / "Forge/evidence/diff_log.md").read_text()


def test_a_check_that_fails_its_own_examples_is_an_error_of_every_audit():
    sleepy = Check(
        "TEAM2",
        "Sleep",
        "Why not.",
        "…",
        lambda _: examined((), 1, "files"),
        (
            Fixture("good", lambda: snapshot_of({"a": ""}), "PASS"),
            Fixture("bad", lambda: snapshot_of({"b": ""}), "FAIL"),
        ),
    )
    (proof,) = run_self_tests([sleepy])
    report = run_checks(
        snapshot_of({"a": ""}), [replace_unsound_check(sleepy, proof)], at=datetime(2026, 1, 1, tzinfo=UTC)
    )
    assert (proof.problems, report.overall) == (["bad: PASS instead of FAIL"], Verdict.FAIL)
    (found,) = report.checks[0].findings
    assert (report.checks[0].result, found.rule) == (Verdict.ERROR, "unsound-check")
    assert found.message == "TEAM2 fails its own examples: bad: PASS instead of FAIL"


def test_what_is_recorded_again_with_the_same_key_is_one_entry(tmp_path: Path):
    root = make_project(tmp_path / "basket")
    auditor = Auditor(tmp_path / "data")
    audited = auditor.run(root, AuditRequest(ledger=False))
    numbers = [auditor.record(root, audited, key=key) for key in ("run:2", "run:2", "other:2")]
    assert numbers == [1, 1, 2]
    assert (root / "Forge/evidence/audit_ledger.md").read_text().count("## Audit Entry") == 2


def test_a_sound_check_is_left_as_it_is():
    from forge.audits.engine.registry import load_checks

    for check, proof in zip(checks := load_checks(), run_self_tests(checks), strict=True):
        assert replace_unsound_check(check, proof) is check, proof.problems
