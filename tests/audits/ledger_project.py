"""A project with a ledger on disk."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forge.audits.evidence.chain import Entry
from forge.audits.evidence.evidence_log import LogState, verify_log
from forge.audits.evidence.ledger import LEDGER, append_audit, authorize, open_writer
from forge.audits.evidence.log_writer import LogWriter
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.models import AuditReport, CheckResult, Finding, Severity, Verdict
from forge.audits.project import Governance
from forge.audits.snapshot import Trust

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
GOVERNANCE = Governance("Forge", exists=True)


def finding(**given: object) -> Finding:
    usual = {
        "check": "A1",
        "rule": "unclaimed",
        "severity": Severity.FAIL,
        "path": "b.py",
        "line": None,
        "end_line": None,
        "excerpt": None,
        "message": "nobody claimed it",
        "why": "Scope.",
        "fix": "Claim it.",
        "reproduce": "forge audit --only A1",
        "fingerprint": "f",
    }
    return Finding.model_validate(usual | given)


def report_of(overall: Verdict = Verdict.PASS, *, phase: str = "Phase 1", tree: str = "tree") -> AuditReport:
    failed = overall is not Verdict.PASS
    scope = CheckResult(
        code="A1",
        name="Scope compliance",
        result=Verdict.FAIL if failed else Verdict.PASS,
        detail="nobody claimed b.py" if failed else "all is claimed",
        is_blocking=True,
        findings=[finding()] if failed else [],
        examined=2,
        unit="files",
        duration_ms=1,
    )
    secrets = scope.model_copy(
        update={
            "code": "W1",
            "name": "Secrets in diff",
            "result": Verdict.PASS,
            "detail": "none",
            "findings": [],
        }
    )
    return AuditReport(
        phase=phase,
        timestamp=AT,
        overall=overall,
        checks=[scope],
        warnings=[secrets],
        project="example",
        branch="main",
        head=None,
        base=None,
        tree=tree,
        claimed_files=None,
        changed_files=2,
        duration_ms=3,
    )


@dataclass
class Ledger:
    root: Path
    keys: SigningKeys
    branch: str | None = "main"

    @property
    def folder(self) -> Path:
        return self.root / "Forge" / "evidence"

    @property
    def records(self) -> Path:
        return self.folder / LEDGER.records

    @property
    def text(self) -> Path:
        return self.folder / LEDGER.text

    @property
    def head(self) -> Path:
        return self.folder / "audit_ledger.head.json"

    @property
    def writer(self) -> LogWriter:
        return open_writer(self.keys, self.root, branch=self.branch, head=None)

    def add(self, overall: Verdict = Verdict.PASS, *, key: str = "", phase: str = "Phase 1") -> Entry:
        return append_audit(
            self.writer, GOVERNANCE, report_of(overall, phase=phase), ["b.py", "a.py"], key=key
        )

    def authorize(self, commit: str = "c" * 40, by: str = "ann") -> Entry:
        return authorize(self.writer, GOVERNANCE, commit, by, at=AT)

    def evidence(self) -> dict[str, bytes]:
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def state(self, trust: Trust | None = None, committed: dict[str, bytes] | None = None) -> LogState:
        trust = trust or self.keys.trust(self.root)
        return verify_log(LEDGER, self.evidence(), trust, committed or {}, self.writer.where(LEDGER))

    def rules(self, **given: object) -> list[tuple[str, int | None]]:
        return [(problem.rule, problem.number) for problem in self.state(**given).problems]  # type: ignore[arg-type]


def new_ledger(folder: Path, count: int = 0) -> Ledger:
    root = folder / "project"
    root.mkdir()
    ledger = Ledger(root, SigningKeys(folder / "data" / "audit"))
    for _ in range(count):
        ledger.add()
    return ledger
