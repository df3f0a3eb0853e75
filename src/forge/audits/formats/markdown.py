"""Render a report as Markdown. Text from the project is escaped."""

from forge.audits.models import AuditReport, CheckResult, Finding, Severity, Verdict

_MARKS = {Verdict.PASS: "✅", Verdict.WARN: "⚠️", Verdict.FAIL: "❌", Verdict.ERROR: "❌", Verdict.SKIP: "⏭️"}
_SPECIAL = str.maketrans({character: f"\\{character}" for character in "\\`*_{}[]<>()#+-.!|~@&"})
MAX_FINDINGS = 200


def markdown(report: AuditReport) -> str:
    claimed = "not stated" if report.claimed_files is None else f"{len(report.claimed_files)}"
    head = [
        f"# {_MARKS[report.overall]} Audit {report.overall}: {_quoted(report.phase)}",
        "",
        f"- Project: {_quoted(report.project)}, branch {_code(report.branch or 'none')}",
        f"- Commit: {_code(report.head or 'none yet')}, base {_code(report.base or 'the beginning')}",
        f"- Tree: {_code(report.tree)}",
        f"- Files changed: {report.changed_files}; claimed: {claimed}",
        f"- When: {report.timestamp:%Y-%m-%d %H:%M:%S} UTC, in {report.duration_ms} ms",
        "",
        "| Check | Result | Detail |",
        "|---|---|---|",
    ]
    rows = [_row(result) for result in report.results]
    found = [finding for result in report.results for finding in result.findings]
    reported = [finding for finding in found if finding.severity is not Severity.NOTE]
    findings = [_finding(finding) for finding in reported[:MAX_FINDINGS]]
    if len(reported) > MAX_FINDINGS:
        findings.append(f"…and {len(reported) - MAX_FINDINGS} more.")
    return "\n".join([*head, *rows, *(["", "## Findings", "", *findings] if findings else [])]) + "\n"


def _row(result: CheckResult) -> str:
    name = f"{result.code} {_quoted(result.name)}"
    return f"| {name} | {_MARKS[result.result]} {result.result} | {_quoted(result.detail)} |"


def _finding(finding: Finding) -> str:
    place = "the project"
    if finding.path:
        place = _code(f"{finding.path}:{finding.line}" if finding.line else finding.path)
    known = " (known)" if finding.known else ""
    lines = [f"- **{finding.check}** {place}{known}: {_quoted(finding.message)}"]
    if finding.excerpt:
        lines.append(f"  - {_code(finding.excerpt)}")
    return "\n".join([*lines, f"  - Fix: {_quoted(finding.fix)}", f"  - Alone: {_code(finding.reproduce)}"])


def _quoted(text: str) -> str:
    return text.replace("\n", " ").translate(_SPECIAL)


def _code(text: str) -> str:
    """Format code with a fence longer than any in the text."""
    fence = "`" * (text.count("`") + 1)
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text.replace(chr(10), ' ')}{pad}{fence}"
