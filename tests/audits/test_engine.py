"""The engine with trivial checks: how findings, empty results, errors and a baseline combine."""

import json
from datetime import UTC, date, datetime
from typing import Any

import pytest

from forge.audits.check import Check, Examination, Found, examined, skip
from forge.audits.engine.baseline import create_baseline
from forge.audits.engine.check_runner import run_checks
from forge.audits.memory import TODAY, snapshot_of
from forge.audits.models import AuditReport, Known, Severity, Verdict
from forge.audits.snapshot import Snapshot
from forge.errors import Invalid, Unavailable

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
FILES = {"app.py": "one\ntwo\nthree\n"}
BASELINE = "Forge/Contracts/audit_baseline.json"


def found(severity: Severity = Severity.FAIL, **more: Any) -> Found:
    given = {"rule": "odd", "message": "It is odd.", "fix": "Make it even.", "path": "app.py", "line": 2}
    return Found(severity=severity, **(given | more))


def check(*finds: Found, code: str = "A4", is_blocking: bool = True, **more: Any) -> Check:
    def examine(_: Snapshot) -> Examination:
        return more.get("examination") or examined(finds, 3, "lines")

    return Check(code, "Oddness", "Odd is bad.", "…", examine, (), is_blocking=is_blocking)


def run(*checks: Check, files: dict[str, str] | None = None, only_path: str | None = None) -> AuditReport:
    return run_checks(snapshot_of(files or FILES), checks, at=AT, only_path=only_path)


@pytest.mark.parametrize(
    ("severities", "verdict", "overall"),
    [
        ([], "PASS", "PASS"),
        (["note"], "PASS", "PASS"),
        (["warn", "note"], "WARN", "PASS"),
        (["warn", "error"], "ERROR", "FAIL"),
        (["warn", "error", "fail"], "FAIL", "FAIL"),
    ],
)
def test_worst_finding_decides_verdict(severities: list[str], verdict: str, overall: str):
    report = run(check(*(found(Severity(severity)) for severity in severities)))
    assert (report.checks[0].result, report.overall) == (verdict, overall)


def test_non_blocking_check_never_fails_but_its_error_blocks():
    warned = run(check(found(), code="W9", is_blocking=False))
    assert (warned.warnings[0].result, warned.overall) == (Verdict.WARN, Verdict.PASS)
    blind = run(check(found(Severity.ERROR), code="W9", is_blocking=False))
    assert (blind.warnings[0].result, blind.overall) == (Verdict.ERROR, Verdict.FAIL)


def test_nothing_examined_is_an_error():
    silent = run(check(examination=Examination((), 0, "files"))).checks[0]
    assert (silent.result, silent.detail) == (
        Verdict.ERROR,
        "examined nothing without a reason",
    )
    honest = run(check(examination=skip("there are no files"))).checks[0]
    assert (honest.result, honest.detail) == (Verdict.SKIP, "there are no files")


def test_check_that_raises_blocks_and_others_still_run():
    def explode(_: Snapshot) -> Examination:
        raise KeyError("gone")

    broken = Check("X1", "Broken", "why", "docs", explode, ())
    report = run(broken, check(code="A9"))
    assert [(r.code, r.result) for r in report.checks] == [("X1", Verdict.ERROR), ("A9", Verdict.PASS)]
    assert "KeyError" in report.checks[0].detail
    assert report.overall is Verdict.FAIL


def test_forge_error_in_check_is_reported_with_its_message():
    def refuse(_: Snapshot) -> Examination:
        raise Unavailable("The history is cut.", hint="Fetch it.")

    report = run(Check("A6", "Cut", "why", "docs", refuse, ()))
    finding = report.checks[0].findings[0]
    assert (report.checks[0].result, finding.message, finding.fix) == (
        "ERROR",
        "The history is cut.",
        "Fetch it.",
    )


def test_finding_is_reported_completely():
    finding = run(check(found(subject="two"))).checks[0].findings[0]
    assert finding.model_dump(exclude={"fingerprint"}) == {
        "check": "A4",
        "rule": "odd",
        "severity": "fail",
        "path": "app.py",
        "line": 2,
        "end_line": None,
        "excerpt": "two",
        "message": "It is odd.",
        "why": "Odd is bad.",
        "fix": "Make it even.",
        "reproduce": "forge audit --only A4 --file app.py",
        "known": None,
    }


def test_fingerprint_survives_moved_lines_and_separates_equal_findings():
    before = run(check(found(subject="x"), found(subject="x", line=3))).checks[0].findings
    after = run(check(found(subject="x", line=7), found(subject="x", line=9))).checks[0].findings
    assert [one.fingerprint for one in before] == [one.fingerprint for one in after]
    assert len({one.fingerprint for one in before}) == 2


def test_findings_can_be_limited_to_one_file():
    files = {**FILES, "other.py": "x\n"}
    report = run(check(found(), found(path="other.py"), found(path=None)), files=files, only_path="other.py")
    assert [finding.path for finding in report.checks[0].findings] == ["other.py", None]
    clean = run(check(found()), files=files, only_path="other.py")
    assert (clean.overall, clean.checks[0].detail) == (Verdict.PASS, "no findings for other.py")


def test_missing_file_is_rejected():
    with pytest.raises(Invalid, match=r"There is no file nope\.py"):
        run(check(found()), only_path="nope.py")


@pytest.mark.parametrize("strange", [5, None, Examination((5,), 1, "files")])  # type: ignore[arg-type]
def test_invalid_result_is_an_error_of_the_check(strange: object):
    odd = Check("X1", "Odd", "why", "docs", lambda _: strange, ())  # type: ignore[arg-type,return-value]
    report = run(odd, check(code="A9"))
    assert [result.result for result in report.checks] == [Verdict.ERROR, Verdict.PASS]
    assert "TypeError" in report.checks[0].detail


def test_findings_may_be_any_iterable():
    given = Examination((one for one in [found()]), 3, "lines")  # type: ignore[arg-type]
    report = run(check(examination=given))
    assert (report.checks[0].result, [one.rule for one in report.checks[0].findings]) == ("FAIL", ["odd"])


@pytest.mark.parametrize(
    "given",
    [
        Examination((found(message=None),), 1, "files"),
        Examination((found(line="two"),), 1, "files"),
        Examination((), "some", "files"),  # type: ignore[arg-type]
        Examination((), 1, "files", detail=5),  # type: ignore[arg-type]
        Examination((1 // 0 for _ in "x"), 1, "files"),  # type: ignore[arg-type]
    ],
)
def test_invalid_finding_does_not_affect_other_checks(given: Examination):
    report = run(check(examination=given), check(found(), code="A9"))
    told = [(result.result, [one.rule for one in result.findings]) for result in report.checks]
    assert told == [("ERROR", ["broken-check"]), ("FAIL", ["odd"])]


def test_control_characters_in_file_names_are_escaped():
    evil = "a\nb\x1b[31m\udcff.py"
    finding = (
        run(check(found(path=evil, message=f"{evil} is odd")), files={evil: "x\ny\n"}).checks[0].findings[0]
    )
    assert finding.path == "a\\x0ab\\x1b[31m\\xff.py"
    assert finding.excerpt == "y"
    json.dumps(finding.model_dump(mode="json")).encode()
    assert "\x1b" not in finding.message + finding.reproduce


def accepted(report: AuditReport, until: date | None) -> dict[str, str]:
    file = create_baseline(report.checks[0].findings, since=date(2025, 12, 1), until=until, reason="later")
    return {**FILES, BASELINE: file.model_dump_json()}


def test_baseline_finding_does_not_block_until_expiry():
    first = run(check(found(subject="x")))
    frozen = run(check(found(subject="x")), files=accepted(first, TODAY)).checks[0]
    assert frozen.result is Verdict.PASS
    assert frozen.findings[0].known == Known(since=date(2025, 12, 1), until=TODAY, reason="later")
    assert frozen.detail == "3 lines examined (1 known)"
    over = run(check(found(subject="x")), files=accepted(first, date(2025, 12, 31)))
    assert over.overall is Verdict.FAIL
    new = run(check(found(subject="x"), found(subject="y")), files=accepted(first, None))
    assert (new.overall, [one.known is None for one in new.checks[0].findings]) == (
        Verdict.FAIL,
        [False, True],
    )


def test_scope_findings_cannot_be_baselined():
    first = run(check(found(subject="x"), code="A1"))
    assert run(check(found(subject="x"), code="A1"), files=accepted(first, None)).overall is Verdict.FAIL


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"findings": [{"check": 4}]}', '{"findings": [], "more": 1}']
)
def test_invalid_baseline_is_an_error_of_checks_that_use_it(text: str):
    report = run(check(), check(code="A1"), files={**FILES, BASELINE: text})
    assert [result.result for result in report.checks] == [Verdict.ERROR, Verdict.PASS]
    assert "audit_baseline.json cannot be read" in report.checks[0].detail


def test_report_describes_audited_state():
    seen: list[str] = []
    snapshot = snapshot_of(FILES, base={}, claims=["b.py", "./app.py"], phase="Phase 3")
    report = run_checks(
        snapshot, [check(), check(code="W1")], at=AT, on_result=lambda one: seen.append(one.code)
    )
    assert seen == ["A4", "W1"]
    assert report.model_dump(mode="json", exclude={"checks", "warnings", "duration_ms"}) == {
        "phase": "Phase 3",
        "timestamp": "2026-01-02T03:04:05Z",
        "overall": "PASS",
        "project": "example",
        "branch": "main",
        "head": "c" * 40,
        "base": "c" * 40,
        "tree": snapshot.tree_id,
        "claimed_files": ["app.py", "b.py"],
        "changed_files": 1,
    }


def test_errors_cannot_be_baselined():
    blind = run(check(found(Severity.ERROR, subject="x")))
    finding = blind.checks[0].findings[0].model_copy(update={"severity": Severity.FAIL})
    file = create_baseline([finding], since=date(2025, 12, 1), until=None, reason="later")
    again = run(check(found(Severity.ERROR, subject="x")), files={**FILES, BASELINE: file.model_dump_json()})
    assert (again.overall, again.checks[0].findings[0].known) == (Verdict.FAIL, None)


def test_empty_check_does_not_pass_with_accepted_findings():
    first = run(check(examination=Examination((found(subject="x"),), 0, "files")))
    frozen = run(
        check(examination=Examination((found(subject="x"),), 0, "files")), files=accepted(first, None)
    )
    assert frozen.checks[0].result is Verdict.ERROR
