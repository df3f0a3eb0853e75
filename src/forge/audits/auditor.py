"""Audit a folder: open the snapshot, run the checks, record the result. Used by the command and the audit run."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from forge.audits.analysis.analyses import open_analyses
from forge.audits.check import Check
from forge.audits.claims import read_claims
from forge.audits.engine.check_runner import run_checks
from forge.audits.engine.registry import load_checks, select_checks
from forge.audits.evidence.ledger import append_audit, open_writer
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.models import AuditReport, AuditRequest, CheckResult
from forge.audits.project import Governance
from forge.audits.repository import open_snapshot
from forge.audits.snapshot import Snapshot
from forge.errors import ForgeError
from forge.kernel.clock import now
from forge.workspace.observed.location import find_repository


@dataclass(frozen=True)
class CompletedAudit:
    report: AuditReport
    governance: Governance
    changed: tuple[str, ...]
    """The changed paths, as in the snapshot."""
    ledger_entry: int | None = None
    """The number of the ledger entry, or None."""
    ledger_problem: ForgeError | None = None
    """Why the audit could not be appended to the ledger."""

    @property
    def is_governed(self) -> bool:
        """Whether the audit is recorded in a ledger: only for projects with contracts or claims."""
        return self.governance.exists or self.report.claimed_files is not None


class Auditor:
    def __init__(self, data_dir: Path, checks: Sequence[Check] | None = None) -> None:
        self._folder = data_dir / "audit"
        self.keys = SigningKeys(self._folder)
        self._checks = load_checks() if checks is None else checks

    @contextmanager
    def open(self, path: Path, request: AuditRequest, *, git_dir: Path | None = None) -> Generator[Snapshot]:
        """Open a snapshot. `git_dir` is for projects with their history elsewhere, such as workspaces."""
        claims = None if request.claimed_files is None else read_claims(request.claimed_files)
        root = find_repository(path, git_dir).root
        self.keys.check_outside(root)
        with (
            open_analyses(self._folder / "facts.db") as analyses,
            open_snapshot(
                path,
                base=request.base,
                claims=claims,
                phase=request.phase,
                trust=self.keys.trust(root),
                analyses=analyses,
                today=now().date(),
                git_dir=git_dir,
            ) as snapshot,
        ):
            yield snapshot

    def run(
        self,
        path: Path,
        request: AuditRequest,
        *,
        git_dir: Path | None = None,
        place: str = "",
        on_result: Callable[[CheckResult], None] = lambda _: None,
    ) -> CompletedAudit:
        """Run an audit. `place` is the project path in the `reproduce` commands."""
        checks = select_checks(self._checks, request.only)
        with self.open(path, request, git_dir=git_dir) as snapshot:
            report = run_checks(
                snapshot, checks, at=now(), only_path=request.file, place=place, on_result=on_result
            )
            changed = sorted({path for change in snapshot.changes for path in change.paths})
            audited = CompletedAudit(report, snapshot.governance, tuple(changed))
        if not (request.is_recorded and audited.is_governed):
            return audited
        try:
            return replace(audited, ledger_entry=self.record(path, audited, git_dir=git_dir))
        except ForgeError as error:  # the report is valid without a ledger entry
            return replace(audited, ledger_problem=error)

    def record(
        self, path: Path, audited: CompletedAudit, *, git_dir: Path | None = None, key: str = ""
    ) -> int:
        """Append the audit to the project's ledger. Idempotent for the same key."""
        report = audited.report
        root = find_repository(path, git_dir).root
        writer = open_writer(self.keys, root, branch=report.branch, head=report.head)
        return append_audit(writer, audited.governance, report, audited.changed, key=key).number
