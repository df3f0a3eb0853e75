"""The audit ledger: every audit and every authorisation of a project, in order, signed, and proven on request."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from forge.audits.evidence.book import Book, BookState, verify_book
from forge.audits.evidence.chain import Entry, Line
from forge.audits.evidence.folder import open_folder
from forge.audits.evidence.keys import Keys
from forge.audits.evidence.records import (
    Audited,
    AuditOutcome,
    Authorized,
    Kind,
    Legacy,
    ResultLine,
    body_of,
    fit,
    listed,
    stamp,
)
from forge.audits.evidence.rendering_ledger import HEADER, render_ledger_entry
from forge.audits.evidence.writing import Writer, add_record, recent_entries
from forge.audits.models import AuditReport, CheckResult, Severity, Verdict
from forge.audits.paths import shown
from forge.audits.project import EVIDENCE_FILES, Governance
from forge.audits.snapshot import Snapshot
from forge.audits.trust import seen_at
from forge.errors import Conflict, Invalid
from forge.kernel.clock import now

LEDGER = Book(
    records="audit_ledger.jsonl",
    text="audit_ledger.md",
    head="audit_ledger.head.json",
    header=HEADER,
    render=render_ledger_entry,
    made_by="The first audit makes it.",
)
GRANTS = frozenset({Kind.AUTHORIZED, Kind.AUTO_AUTHORIZED, Kind.BYPASS})
GATE = "A6"
"""The check that asks for authorisations."""
MAX_PLANNED = 100
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ITERATION = re.compile(r"^## .* -- Iteration (\d{1,9})\s*$", re.MULTILINE)


def open_writer(keys: Keys, root: Path, *, branch: str | None, head: str | None) -> Writer:
    """Makes this machine's key when there is none."""
    return Writer(keys, root, branch, head, keys.signer(root))


def append_audit(
    writer: Writer, governance: Governance, report: AuditReport, files: Sequence[str], *, key: str = ""
) -> Entry:
    """One audit, whatever came of it. `files`: what had changed, as paths of the snapshot. A second time with the same
    key gives the entry of the first."""

    def make(last: Line | None) -> Audited:
        failed = report.overall is not Verdict.PASS
        return Audited(
            phase=fit(report.phase),
            iteration=last_iteration(last) + 1,
            outcome=AuditOutcome.FAIL if failed else AuditOutcome.SIGNED_OFF,
            checks=tuple(map(_result, report.checks)),
            warnings=tuple(map(_result, report.warnings)),
            fix_plan=tuple(_plan(report))[:MAX_PLANNED],
            files=listed([shown(path) for path in sorted(changed)]),
            branch=report.branch and fit(report.branch),
            head=report.head,
            base=report.base,
            tree=report.tree,
            request=key,
        )

    changed = [path for path in files if not governance.is_evidence(path)]
    with open_folder(writer.root, governance) as folder:
        if key and (found := _find_key(recent_entries(folder, LEDGER), key)):
            return found
        return add_record(folder, LEDGER, writer, Kind.AUDIT, make, at=stamp(report.timestamp))


def authorize(
    writer: Writer,
    governance: Governance,
    commit: str,
    by: str,
    *,
    kind: Kind = Kind.AUTHORIZED,
    reason: str = "",
    at: datetime | None = None,
) -> Entry:
    """That commit, by its full id, and all before it. Only a bypass needs no audit that was signed off."""
    if not _COMMIT.fullmatch(commit):
        raise Invalid("An authorisation names one commit by its full id.", field="commit")
    if kind not in GRANTS or (kind is Kind.BYPASS) != bool(reason.strip()):
        raise Invalid("A bypass says why, and nothing else does.", field="reason")

    def make(last: Line | None) -> Authorized:
        return Authorized(commit=commit, by=fit(by), iteration=last_iteration(last), reason=fit(reason))

    with open_folder(writer.root, governance) as folder:
        return add_record(folder, LEDGER, writer, kind, make, at=stamp(at or now()))


def check_signed_off(snapshot: Snapshot, commit: str) -> None:
    """Raises unless the last audit signed off exactly what that commit holds."""
    audit = last_audit(verify_in(snapshot).lines)
    failed = failed_checks(audit) if audit else ()
    if audit is None or failed:
        what = "There is no audit yet" if audit is None else f"Iteration {audit.iteration} failed"
        codes = f" ({', '.join(failed)})" if failed else ""
        raise Conflict(
            f"{what}{codes}: nothing is authorised before an audit has signed it off.",
            hint="Run forge audit; or say why not to wait for it, with --bypass.",
        )
    evidence = {snapshot.governance.path("evidence", name) for name in EVIDENCE_FILES}
    if snapshot.commits.tree_without(commit, evidence) != audit.tree:
        is_uncommitted = snapshot.tree_id == audit.tree
        raise Conflict(
            f"Commit {commit[:12]} does not hold the files that iteration {audit.iteration} signed off.",
            hint="Part of them is not committed: git add -A, git commit, then authorise."
            if is_uncommitted and commit == snapshot.head
            else "Audit exactly what is committed (forge audit evidence, forge audit), then authorise; "
            "or say why not to wait for it, with --bypass.",
        )


def failed_checks(audit: Audited) -> tuple[str, ...]:
    """What stands in the way of an authorisation: whatever blocked, but for A6, which only waits for one."""
    if audit.outcome is AuditOutcome.SIGNED_OFF:
        return ()
    results = (*audit.checks, *audit.warnings)
    blocking = tuple(line.code for line in results if line.result in (Verdict.FAIL, Verdict.ERROR))
    return tuple(code for code in blocking if code != GATE) if blocking else ("no check",)


def verify_in(snapshot: Snapshot, book: Book = LEDGER) -> BookState:
    """A book of a snapshot, with what its commits and this machine's memory say."""
    where = seen_at(book.records, snapshot.branch, snapshot.head)
    return verify_book(book, snapshot.evidence, snapshot.trust, _committed(snapshot, book), where)


def last_audit(lines: Sequence[Line]) -> Audited | None:
    return next((body for line in reversed(lines) if isinstance(body := body_of(line.entry), Audited)), None)


def last_iteration(last: Line | None) -> int:
    """Every entry knows the one it stands at; a text from before there were entries is asked once, when it is adopted."""
    body = body_of(last.entry) if last else None
    if isinstance(body, Audited | Authorized):
        return body.iteration
    if isinstance(body, Legacy):
        return max((int(number) for number in _ITERATION.findall(body.text)), default=0)
    return last.entry.number if last else 0


def _find_key(entries: Sequence[Entry], key: str) -> Entry | None:
    for entry in entries:
        body = body_of(entry)
        if isinstance(body, Audited) and body.request == key:
            return entry
    return None


def _committed(snapshot: Snapshot, book: Book) -> dict[str, bytes]:
    path = snapshot.governance.path("evidence", book.records)
    commits = dict.fromkeys(commit for commit in (snapshot.head, snapshot.base) if commit)
    return {commit: data for commit in commits if (data := snapshot.commits.read(commit, path))}


def _result(result: CheckResult) -> ResultLine:
    return ResultLine(result.code, fit(result.name), result.result.value, fit(result.detail))


def _plan(report: AuditReport) -> Iterator[str]:
    for result in report.results:
        if result.result.blocks:
            for finding in result.findings:
                if finding.known is None and finding.severity in (Severity.FAIL, Severity.ERROR):
                    place = f"{finding.path}: " if finding.path else ""
                    yield fit(f"{result.code}: {place}{finding.message} -- {finding.fix}")
