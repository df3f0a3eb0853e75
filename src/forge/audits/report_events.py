"""Convert a report to events of bounded size, and build the report from the events of its run.

The events are the only record of a report.
"""

from collections.abc import Iterable, Iterator

from forge.audits.models import (
    AuditChecked,
    AuditFinished,
    AuditFound,
    AuditReport,
    AuditStarted,
    AuditSummary,
    CheckResult,
    CheckSummary,
    Finding,
)
from forge.events.models import Event, EventData
from forge.kernel.text import truncate

MAX_EVENT_FINDINGS = 200
MAX_EVENT_CHARACTERS = 200_000
MAX_CHARACTERS = 16_000_000
"""Findings of one check beyond this size are dropped from the events."""
MAX_DETAIL = 500
REPORT_EVENT_TYPES = (AuditStarted.type, AuditChecked.type, AuditFound.type, AuditFinished.type)


def result_events(result: CheckResult) -> Iterator[EventData]:
    """Yield the event of a check result, and further events for its remaining findings."""
    pieces = list(_pieces(result.findings))
    first = result.model_copy(update={"findings": pieces[0] if pieces else []})
    yield AuditChecked(result=first, findings_total=len(result.findings))
    for piece in pieces[1:]:
        yield AuditFound(code=result.code, findings=piece)


def summarize(report: AuditReport) -> AuditSummary:
    head = report.model_dump(exclude={"checks", "warnings", "claimed_files"})
    return AuditSummary(
        **head,
        checks=[_summary(result) for result in report.checks],
        warnings=[_summary(result) for result in report.warnings],
    )


def fold_report(events: Iterable[Event]) -> AuditReport | None:
    """Build the report from the events of a run; None before the audit finished."""
    results: dict[str, CheckResult] = {}
    finished: AuditFinished | None = None
    for event in events:
        if event.type == AuditStarted.type:
            results.clear()
        elif event.type == AuditChecked.type:
            result = AuditChecked.model_validate(event.data).result
            results[result.code] = result
        elif event.type == AuditFound.type:
            fact = AuditFound.model_validate(event.data)
            results[fact.code].findings.extend(fact.findings)
        elif event.type == AuditFinished.type:
            finished = AuditFinished.model_validate(event.data)
    return _report(finished, results) if finished else None


def _report(finished: AuditFinished, results: dict[str, CheckResult]) -> AuditReport:
    summary = finished.summary
    return AuditReport(
        **summary.model_dump(include=set(AuditReport.model_fields) - {"checks", "warnings"}),
        checks=[results[check.code] for check in summary.checks],
        warnings=[results[check.code] for check in summary.warnings],
        claimed_files=finished.claimed_files,
    )


def _pieces(findings: Iterable[Finding]) -> Iterator[list[Finding]]:
    piece: list[Finding] = []
    characters = total = 0
    for finding in findings:
        size = len(finding.model_dump_json())
        total += size
        if total > MAX_CHARACTERS:
            break
        if piece and (len(piece) == MAX_EVENT_FINDINGS or characters + size > MAX_EVENT_CHARACTERS):
            yield piece
            piece, characters = [], 0
        piece.append(finding)
        characters += size
    if piece:
        yield piece


def _summary(result: CheckResult) -> CheckSummary:
    return CheckSummary(
        code=result.code,
        name=result.name,
        result=result.result,
        detail=truncate(result.detail, MAX_DETAIL),
        findings=len(result.findings),
        known=sum(finding.known is not None for finding in result.findings),
    )
