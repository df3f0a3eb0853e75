"""A report is split into events and reassembled completely."""

from datetime import UTC, date, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from forge.audits.models import (
    AuditFinished,
    AuditReport,
    AuditStarted,
    CheckResult,
    Finding,
    Known,
    Severity,
    Verdict,
)
from forge.audits.report_events import (
    MAX_EVENT_CHARACTERS,
    MAX_EVENT_FINDINGS,
    fold_report,
    result_events,
    summarize,
)
from forge.events.models import Event, EventData

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STARTED = AuditStarted(project="basket", phase="Phase 1", base=None, checks=["A4", "W1"])


def finding(number: int = 1, **more: Any) -> Finding:
    usual: dict[str, Any] = {
        "check": "A4",
        "rule": "forbidden-import",
        "severity": Severity.FAIL,
        "path": f"app/part_{number}.py",
        "line": number,
        "end_line": None,
        "excerpt": "import asyncpg",
        "message": "It imports asyncpg.",
        "why": "Routes know no database.",
        "fix": "Ask the service.",
        "reproduce": "forge audit --only A4",
        "fingerprint": f"{number:020d}",
    }
    return Finding(**(usual | more))


def result(code: str, findings: list[Finding], **more: Any) -> CheckResult:
    usual: dict[str, Any] = {
        "code": code,
        "name": "Boundary compliance",
        "result": Verdict.FAIL if findings else Verdict.PASS,
        "detail": "as it is",
        "is_blocking": True,
        "findings": findings,
        "examined": 3,
        "unit": "imports",
        "duration_ms": 4,
    }
    return CheckResult(**(usual | more))


def report(checks: list[CheckResult], warnings: list[CheckResult]) -> AuditReport:
    return AuditReport(
        phase="Phase 1",
        timestamp=AT,
        overall=Verdict.FAIL,
        checks=checks,
        warnings=warnings,
        project="basket",
        branch="main",
        head="a" * 40,
        base="a" * 40,
        tree="b" * 40,
        claimed_files=["app/part_1.py"],
        changed_files=2,
        duration_ms=12,
    )


def log(*facts: EventData) -> list[Event]:
    """Return the events as they are logged: with numbers and JSON."""
    return [
        Event("run:r1", seq, AT, fact.type, fact.model_dump(mode="json")) for seq, fact in enumerate(facts, 1)
    ]


def told(made: AuditReport) -> list[EventData]:
    facts = [fact for one in made.results for fact in result_events(one)]
    return [*facts, AuditFinished(summary=summarize(made), claimed_files=made.claimed_files)]


@settings(max_examples=30)
@given(st.lists(st.integers(1, 400), max_size=3), st.integers(0, 5))
def test_report_survives_round_trip_through_events(counts: list[int], warned: int):
    checks = [result(f"A{i}", [finding(n) for n in range(count)]) for i, count in enumerate(counts)]
    made = report(checks, [result("W1", [finding(n, severity=Severity.WARN) for n in range(warned)])])
    assert fold_report(log(STARTED, *told(made))) == made


def test_no_event_is_large_however_many_findings_there_are():
    long = [finding(n, reproduce="forge audit " + "x" * 5000) for n in range(300)]
    for findings in ([finding(n) for n in range(5000)], long):
        facts = list(result_events(result("A4", findings)))
        sizes = [len(fact.model_dump_json()) for fact in facts]
        assert max(sizes) < MAX_EVENT_CHARACTERS + 10_000
        assert len(facts) >= len(findings) / MAX_EVENT_FINDINGS


def test_excess_findings_are_counted_but_not_published():
    huge = [finding(n, message="x" * 1_000_000) for n in range(30)]
    first, *more = result_events(result("A4", huge))
    known = first.model_dump()["result"]["findings"]
    kept = len(known) + sum(len(fact.model_dump()["findings"]) for fact in more)
    assert (first.model_dump()["findings_total"], kept) == (30, 15)


def test_restarted_audit_discards_earlier_results():
    before = [STARTED, *result_events(result("A4", [finding(1)]))]
    made = report([result("A4", [])], [])
    assert fold_report(log(*before, STARTED, *told(made))) == made


def test_there_is_no_report_before_the_end():
    assert fold_report(log(STARTED, *result_events(result("A4", [finding(1)])))) is None


def test_a_summary_counts_and_stays_short():
    known = Known(since=date(2026, 1, 1), until=None, reason="old")
    made = report([result("A4", [finding(1), finding(2, known=known)], detail="d" * 9000)], [])
    (check,) = summarize(made).checks
    assert (check.findings, check.known, len(check.detail), check.detail[-1]) == (2, 1, 500, "…")
