"""One audit of one folder, from beginning to end: what the command and the run of an audit call."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from forge.audits.check import Check
from forge.audits.claims import read_claims
from forge.audits.desk import open_desk
from forge.audits.engine import audit
from forge.audits.evidence.keys import Keys
from forge.audits.evidence.ledger import append_audit, open_writer
from forge.audits.models import AuditReport, AuditRequest, CheckResult
from forge.audits.project import Governance
from forge.audits.registry import choose, load_checks
from forge.audits.repository import open_snapshot
from forge.audits.snapshot import Snapshot
from forge.errors import ForgeError
from forge.kernel.clock import now
from forge.workspace.observed_place import find_place


@dataclass(frozen=True)
class Audited:
    report: AuditReport
    governance: Governance
    changed: tuple[str, ...]
    """Paths, as in the snapshot."""
    ledger_entry: int | None = None
    """The number of the entry it got; None when it got none."""
    ledger_problem: ForgeError | None = None
    """Why it got none although it should have."""

    @property
    def is_governed(self) -> bool:
        """A project that has no contracts and makes no claims gets no folder that it did not ask for."""
        return self.governance.exists or self.report.claimed_files is not None


class Auditor:
    def __init__(self, data_dir: Path, checks: Sequence[Check] | None = None) -> None:
        self._folder = data_dir / "audit"
        self.keys = Keys(self._folder)
        self._checks = load_checks() if checks is None else checks

    @contextmanager
    def open(self, path: Path, request: AuditRequest, *, git_dir: Path | None = None) -> Generator[Snapshot]:
        """`git_dir` where the history of a project is kept outside of it, as a workspace's is."""
        claims = None if request.claimed_files is None else read_claims(request.claimed_files)
        root = find_place(path, git_dir).root
        self.keys.check_outside(root)
        with (
            open_desk(self._folder / "facts.db") as desk,
            open_snapshot(
                path,
                base=request.base,
                claims=claims,
                phase=request.phase,
                trust=self.keys.trust(root),
                desk=desk,
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
    ) -> Audited:
        """`place`: how the commands behind the findings name the project."""
        checks = choose(self._checks, request.only)
        with self.open(path, request, git_dir=git_dir) as snapshot:
            report = audit(
                snapshot, checks, at=now(), only_path=request.file, place=place, on_result=on_result
            )
            changed = sorted({path for change in snapshot.changes for path in change.paths})
            audited = Audited(report, snapshot.governance, tuple(changed))
        if not (request.is_recorded and audited.is_governed):
            return audited
        try:
            return replace(audited, ledger_entry=self.record(path, audited, git_dir=git_dir))
        except ForgeError as error:  # the verdict stands, with or without an entry
            return replace(audited, ledger_problem=error)

    def record(self, path: Path, audited: Audited, *, git_dir: Path | None = None, key: str = "") -> int:
        """Append it to the project's ledger; a second time with the same key finds the entry of the first."""
        report = audited.report
        root = find_place(path, git_dir).root
        writer = open_writer(self.keys, root, branch=report.branch, head=report.head)
        return append_audit(writer, audited.governance, report, audited.changed, key=key).number
