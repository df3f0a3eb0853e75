"""A report as events and back: pieces of bounded size while the audit goes on, the whole again for whoever asks.

There is no second record of a report: the log of its run has it.
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
from forge.kernel.text import cut

PIECE_FINDINGS = 200
PIECE_CHARACTERS = 200_000
MAX_CHARACTERS = 16_000_000
"""Of the findings of one check that are told; a check that finds more than this has lost its meaning."""
MAX_DETAIL = 500
TOLD = (AuditStarted.type, AuditChecked.type, AuditFound.type, AuditFinished.type)


def tell(result: CheckResult) -> Iterator[EventData]:
    """A result, and as many more events as its findings need."""
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
    """The report that these events of a run tell; None before its end."""
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
        if piece and (len(piece) == PIECE_FINDINGS or characters + size > PIECE_CHARACTERS):
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
        detail=cut(result.detail, MAX_DETAIL),
        findings=len(result.findings),
        known=sum(finding.known is not None for finding in result.findings),
    )
