"""A report as text: the block that scripts know, and below it what a person needs to act."""

from collections.abc import Callable

from forge.audits.models import AuditReport, CheckResult, Finding, Severity

WIDTH = 28
BEGIN = "=== AUDIT SCRIPT RESULT ==="
END = "=== END AUDIT SCRIPT RESULT ==="
NOBODY = "(none claimed)"

Paint = Callable[[str, str], str]
"""A text and what it stands for (a verdict, `dim`, `strong`), made colorful or left as it is."""


def plain(text: str, _: str) -> str:
    return text


def block(report: AuditReport, paint: Paint = plain) -> str:
    claimed = ", ".join(report.claimed_files) if report.claimed_files else NOBODY
    lines = [
        BEGIN,
        f"Timestamp: {report.timestamp:%Y-%m-%dT%H:%M:%SZ}",
        f"Phase: {report.phase}",
        f"Claimed files: {claimed}",
        "",
        *(check_line(result, paint) for result in report.checks),
        "",
        *(check_line(result, paint) for result in report.warnings),
        "",
        f"Overall: {paint(report.overall, report.overall)}",
        END,
    ]
    return "\n".join(lines)


def check_line(result: CheckResult, paint: Paint = plain) -> str:
    name = f"{result.code} {result.name}:"
    detail = result.detail.replace("\n", " ")
    return f"{name:<{WIDTH}} {paint(result.result, result.result)} -- {detail}"


def details(report: AuditReport, paint: Paint = plain) -> str:
    """Every finding but notes, check by check."""
    found = [one for result in report.results for one in result.findings if one.severity is not Severity.NOTE]
    return "\n\n".join(finding_text(one, paint) for one in found)


def finding_text(finding: Finding, paint: Paint = plain) -> str:
    place = finding.path or "the project"
    if finding.path and finding.line:
        place = f"{finding.path}:{finding.line}"
    lines = [f"{paint(finding.check, finding.severity)} {paint(place, 'strong')}  {finding.message}"]
    if finding.excerpt:
        lines.append(f"   | {finding.excerpt}")
    lines.append(f"  why  {finding.why}")
    lines.append(f"  fix  {finding.fix}")
    if finding.known:
        until = f" until {finding.known.until}" if finding.known.until else ""
        lines.append(paint(f"  known since {finding.known.since}{until}: {finding.known.reason}", "dim"))
    lines.append(paint(f"  run  {finding.reproduce}", "dim"))
    return "\n".join(lines)
