"""Render a report as SARIF 2.1.0, for code hosts and editors."""

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from forge import __version__
from forge.audits.check import Check
from forge.audits.display_text import unescape_path
from forge.audits.models import AuditReport, CheckResult, Finding, Severity, Verdict

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Severity.FAIL: "error",
    Severity.ERROR: "error",
    Severity.WARN: "warning",
    Severity.NOTE: "note",
}


def sarif(report: AuditReport, checks: Iterable[Check]) -> dict[str, Any]:
    by_code = {check.code: check for check in checks}
    findings = [finding for result in report.results for finding in result.findings]
    rules = list(dict.fromkeys(rule_id(finding) for finding in findings))
    run: dict[str, Any] = {
        "tool": {
            "driver": {
                "name": "Forge",
                "semanticVersion": __version__,
                "rules": [_rule(rule, by_code) for rule in rules],
            }
        },
        "automationDetails": {"id": f"forge/{report.phase}"},
        "columnKind": "utf16CodeUnits",
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The top of the audited project."}}},
        "invocations": [_invocation(report)],
        "results": [_result(finding, rules.index(rule_id(finding))) for finding in findings],
        "properties": {
            "phase": report.phase,
            "overall": report.overall,
            "tree": report.tree,
            "checks": [_summary(result) for result in report.results],
        },
    }
    if report.head:
        run["properties"]["head"] = report.head
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def rule_id(finding: Finding) -> str:
    return f"{finding.check}/{finding.rule}"


def _invocation(report: AuditReport) -> dict[str, Any]:
    """Build the invocation. Checks that could not run are tool notifications."""
    return {
        "executionSuccessful": not any(result.result is Verdict.ERROR for result in report.results),
        "endTimeUtc": f"{report.timestamp:%Y-%m-%dT%H:%M:%SZ}",
        "exitCode": 1 if report.overall is Verdict.FAIL else 0,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": f"{result.code} {result.name}: {result.detail}"}}
            for result in report.results
            if result.result is Verdict.ERROR
        ],
    }


def _rule(rule: str, checks: dict[str, Check]) -> dict[str, Any]:
    code, _, name = rule.partition("/")
    check = checks.get(code)
    title = check.name if check else code
    described: dict[str, Any] = {
        "id": rule,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": f"{title}: {name.replace('-', ' ')}"},
    }
    if check:
        described["fullDescription"] = {"text": check.why}
        described["help"] = {"text": check.docs, "markdown": check.docs}
    return described


def _result(finding: Finding, index: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": rule_id(finding),
        "ruleIndex": index,
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.message}\n{finding.fix}"},
        "partialFingerprints": {"forge/v1": finding.fingerprint},
        "properties": {"why": finding.why, "fix": finding.fix, "reproduce": finding.reproduce},
    }
    if finding.path is not None:
        result["locations"] = [{"physicalLocation": _location(finding)}]
    if finding.known:
        result["suppressions"] = [{"kind": "external", "justification": finding.known.reason}]
    return result


def _location(finding: Finding) -> dict[str, Any]:
    uri = quote(unescape_path(finding.path or ""), safe="/", errors="surrogateescape")
    location: dict[str, Any] = {"artifactLocation": {"uri": uri, "uriBaseId": "ROOT"}}
    if finding.line:
        region: dict[str, Any] = {"startLine": finding.line}
        if finding.end_line:
            region["endLine"] = finding.end_line
        if finding.excerpt:
            region["snippet"] = {"text": finding.excerpt}
        location["region"] = region
    return location


def _summary(result: CheckResult) -> dict[str, Any]:
    return {"code": result.code, "name": result.name, "result": result.result, "detail": result.detail}
