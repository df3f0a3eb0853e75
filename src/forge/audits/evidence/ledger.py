"""The audit ledger: the signed log of all audits and authorizations of a project."""

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path

from forge.audits.display_text import escape_path
from forge.audits.evidence.chain import Entry, Line
from forge.audits.evidence.evidence_folder import open_folder
from forge.audits.evidence.evidence_log import EvidenceLog, LogState, verify_log
from forge.audits.evidence.evidence_markdown import LEDGER_HEADER, render_ledger_entry
from forge.audits.evidence.log_writer import LogWriter, add_record, recent_entries
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
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.models import AuditReport, CheckResult, Severity, Verdict
from forge.audits.project import EVIDENCE_FILES, Governance
from forge.audits.snapshot import Snapshot, seen_at
from forge.errors import Conflict, Invalid
from forge.kernel.clock import now

LEDGER = EvidenceLog(
    records="audit_ledger.jsonl",
    text="audit_ledger.md",
    head="audit_ledger.head.json",
    header=LEDGER_HEADER,
    render=render_ledger_entry,
    creation_hint="The first audit creates it.",
)
AUTHORIZATION_KINDS = frozenset({Kind.AUTHORIZED, Kind.AUTO_AUTHORIZED, Kind.BYPASS})
AUTHORIZATION_CHECK = "A6"
"""The check that requires authorizations."""
MAX_PLANNED = 100
_COMMIT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_ITERATION = re.compile(r"^## .* -- Iteration (\d{1,9})\s*$", re.MULTILINE)


def open_writer(keys: SigningKeys, root: Path, *, branch: str | None, head: str | None) -> LogWriter:
    """Build a writer, creating this machine's key if needed."""
    return LogWriter(keys, root, branch, head, keys.signer(root))


def append_audit(
    writer: LogWriter, governance: Governance, report: AuditReport, files: Sequence[str], *, key: str = ""
) -> Entry:
    """Append an audit, passed or failed. `files` are the changed paths. Idempotent for the same `key`."""

    def make(last: Line | None) -> Audited:
        failed = report.overall is not Verdict.PASS
        return Audited(
            phase=fit(report.phase),
            iteration=last_iteration(last) + 1,
            outcome=AuditOutcome.FAIL if failed else AuditOutcome.SIGNED_OFF,
            checks=tuple(map(_result, report.checks)),
            warnings=tuple(map(_result, report.warnings)),
            fix_plan=tuple(_plan(report))[:MAX_PLANNED],
            files=listed([escape_path(path) for path in sorted(changed)]),
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
    writer: LogWriter,
    governance: Governance,
    commit: str,
    by: str,
    *,
    kind: Kind = Kind.AUTHORIZED,
    reason: str = "",
    at: datetime | None = None,
) -> Entry:
    """Authorize a commit, by its full id, and all its ancestors. A bypass requires a reason."""
    if not _COMMIT.fullmatch(commit):
        raise Invalid("The commit must be given by its full id.", field="commit")
    if kind not in AUTHORIZATION_KINDS or (kind is Kind.BYPASS) != bool(reason.strip()):
        raise Invalid("A reason is required for a bypass, and only for a bypass.", field="reason")

    def make(last: Line | None) -> Authorized:
        return Authorized(commit=commit, by=fit(by), iteration=last_iteration(last), reason=fit(reason))

    with open_folder(writer.root, governance) as folder:
        return add_record(folder, LEDGER, writer, kind, make, at=stamp(at or now()))


def check_signed_off(snapshot: Snapshot, commit: str) -> None:
    """Raise Conflict unless the last audit signed off exactly the files of the commit."""
    audit = last_audit(verify_in_snapshot(snapshot).lines)
    failed = failed_checks(audit) if audit else ()
    if audit is None or failed:
        what = "There is no audit yet" if audit is None else f"Iteration {audit.iteration} failed"
        codes = f" ({', '.join(failed)})" if failed else ""
        raise Conflict(
            f"{what}{codes}: only a commit that an audit signed off can be authorized.",
            hint="Run forge audit, or give a reason with --bypass.",
        )
    evidence = {snapshot.governance.path("evidence", name) for name in EVIDENCE_FILES}
    if snapshot.commits.tree_without(commit, evidence) != audit.tree:
        is_uncommitted = snapshot.tree_id == audit.tree
        raise Conflict(
            f"Commit {commit[:12]} does not contain the files that iteration {audit.iteration} signed off.",
            hint="Some files are not committed: run git add -A and git commit, then authorize."
            if is_uncommitted and commit == snapshot.head
            else "Audit the committed files (forge audit evidence, forge audit), then authorize; "
            "or give a reason with --bypass.",
        )


def failed_checks(audit: Audited) -> tuple[str, ...]:
    """Return the checks that prevent an authorization: all blocking ones except A6, which waits for it."""
    if audit.outcome is AuditOutcome.SIGNED_OFF:
        return ()
    results = (*audit.checks, *audit.warnings)
    blocking = tuple(line.code for line in results if line.result in (Verdict.FAIL, Verdict.ERROR))
    return tuple(code for code in blocking if code != AUTHORIZATION_CHECK) if blocking else ("no check",)


def verify_in_snapshot(snapshot: Snapshot, log: EvidenceLog = LEDGER) -> LogState:
    """Verify a log of a snapshot against its commits and the remembered heads."""
    where = seen_at(log.records, snapshot.branch, snapshot.head)
    return verify_log(log, snapshot.evidence, snapshot.trust, _committed(snapshot, log), where)


def last_audit(lines: Sequence[Line]) -> Audited | None:
    return next((body for line in reversed(lines) if isinstance(body := body_of(line.entry), Audited)), None)


def last_iteration(last: Line | None) -> int:
    """Return the iteration of the last entry; a legacy text is searched for its last iteration."""
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


def _committed(snapshot: Snapshot, log: EvidenceLog) -> dict[str, bytes]:
    path = snapshot.governance.path("evidence", log.records)
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
