"""A6: require an authorization in the ledger for every commit, by full commit id."""

from collections.abc import Sequence

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.display_text import join_names
from forge.audits.evidence.chain import Line
from forge.audits.evidence.evidence_log import LogState
from forge.audits.evidence.examples import UNTRUSTED_SIGNER, audited, authorized, ledger_files, with_evidence
from forge.audits.evidence.ledger import AUTHORIZATION_KINDS, LEDGER, verify_in_snapshot
from forge.audits.evidence.records import Audited, Authorized, Kind, body_of
from forge.audits.memory import HEAD, MemoryCommits, snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

DOCS = """
An authorization is a ledger entry written by `forge audit authorize`: the full id of one commit and who authorized it. The
last one counts, for that commit and all its ancestors. Prose is never read: a sentence about a commit authorizes nothing.
`forge audit authorize` accepts a commit that contains exactly the files of the last audit, and that audit must have passed
everything except this check.

| rule | what it means |
|---|---|
| `unauthorized` | FAIL: HEAD has newer commits; the finding counts and names them. Commits that change only evidence files do not count, as the ledger is committed after the authorization in it |
| `rewritten-history` | FAIL: the authorized commit is no longer an ancestor of HEAD |
| `unknown-commit` | ERROR: the authorized commit is not in this repository, for example in a shallow clone |
| `broken-ledger` | ERROR: the ledger was tampered with, see W2 |
| `unknown-signer` | ERROR: it is signed with a key that this machine does not trust |
| `bypassed` | a note: the commit was authorized without an audit, with the given reason |

Before the first authorization the check is skipped, as long as only evidence was committed since the first audit.
"""


FIRST_CYCLE = "first cycle: nothing has been authorized yet"
MAX_NAMED = 5
MAX_ASKED = 1000
"""Commits whose changed files are read; older ones count as changes of code."""

SHORT = 12


def examine(snapshot: Snapshot) -> Examination:
    state = verify_in_snapshot(snapshot)
    if not state.exists and not state.is_tampered:
        return skip(f"{FIRST_CYCLE}, and there is no ledger", "commits")
    if problem := _unusable(snapshot, state):
        return examined([problem], 0, "commits")
    grants = [line for line in state.lines if line.entry.kind in AUTHORIZATION_KINDS]
    if not grants:
        return _nothing_granted(snapshot, state.lines)
    if not grants[-1].is_signed or grants[-1].entry.signer not in snapshot.trust.keys:
        number, key = grants[-1].entry.number, grants[-1].entry.signer
        message = f"entry {number} authorizes a commit, but its key is not trusted here: {key[:16]}…"
        return examined(
            [_error(snapshot, "unknown-signer", message, f"forge audit trust {key}")], 0, "commits"
        )
    return _since(snapshot, grants[-1])


def _unusable(snapshot: Snapshot, state: LogState) -> Found | None:
    """Return an ERROR finding if the ledger was tampered with or signed with an unknown key."""
    for problem in state.problems:
        if problem.severity is Severity.FAIL and problem.rule != "edited-text":
            return _error(
                snapshot, "broken-ledger", f"the ledger cannot be trusted: {problem.message}", problem.fix
            )
        if problem.rule == "unknown-signer":
            return _error(snapshot, "unknown-signer", problem.message, problem.fix)
    return None


def _nothing_granted(snapshot: Snapshot, lines: Sequence[Line]) -> Examination:
    first = next((body for line in lines if isinstance(body := body_of(line.entry), Audited)), None)
    if first is None or snapshot.head is None or first.head == snapshot.head:
        return skip(FIRST_CYCLE, "commits")
    since = snapshot.commits.since(first.head) if first.head else None
    commits = None if since is None else _with_content(snapshot, since)
    if commits is not None and not commits:
        return skip(f"{FIRST_CYCLE}, and only evidence was committed since the first audit", "commits")
    named = f": {_named(commits)}" if commits else ""
    message = f"commits were made since the first audit, but none was authorized{named}"
    found = Found("unauthorized", Severity.FAIL, message, _fix(snapshot), subject="HEAD")
    return examined([found], len(commits or ()) or 1, "commits")


def _since(snapshot: Snapshot, grant: Line) -> Examination:
    body = body_of(grant.entry)
    if not isinstance(body, Authorized):
        message = f"entry {grant.entry.number} cannot be read by this version of Forge"
        return examined([_error(snapshot, "broken-ledger", message, "Update Forge.")], 0, "commits")
    found: list[Found] = []
    if grant.entry.kind == Kind.BYPASS:
        message = f"{body.commit[:SHORT]} was authorized without an audit: {body.reason}"
        found.append(Found("bypassed", Severity.NOTE, message, "Audit it later.", subject=body.commit))
    if snapshot.commits.find(body.commit) is None:
        message = f"the authorized commit {body.commit[:SHORT]} is not in this repository"
        fix = "Fetch the whole history (git fetch --unshallow), or authorize an existing commit."
        return examined([*found, _error(snapshot, "unknown-commit", message, fix)], 0, "commits")
    since = snapshot.commits.since(body.commit)
    after = _with_content(snapshot, since or ())
    if since is None:
        message = f"the authorized commit {body.commit[:SHORT]} is not in the history of HEAD: history was rewritten"
        found.append(Found("rewritten-history", Severity.FAIL, message, _fix(snapshot), subject=body.commit))
    elif after:
        count = f"{len(after)} commit{'' if len(after) == 1 else 's'}"
        message = f"{count} since the last authorized one ({body.commit[:SHORT]}): {_named(after)}"
        found.append(Found("unauthorized", Severity.FAIL, message, _fix(snapshot), subject="HEAD"))
    is_good = all(one.severity is Severity.NOTE for one in found)
    what = "only evidence" if since else "nothing"
    detail = f"{what} was committed since {body.commit[:SHORT]}, authorized by {body.by}" if is_good else ""
    return examined(found, 1 + len(since or ()), "commits", detail=detail)


def _with_content(snapshot: Snapshot, commits: Sequence[str]) -> list[str]:
    """Drop commits that change only evidence files: committing the ledger needs no authorization."""
    changed = snapshot.commits.changed(commits[-MAX_ASKED:])
    is_evidence = snapshot.governance.is_evidence
    return [one for one in commits if one not in changed or not all(map(is_evidence, changed[one]))]


def _named(commits: Sequence[str]) -> str:
    return join_names([commit[:SHORT] for commit in commits], MAX_NAMED)


def _fix(snapshot: Snapshot) -> str:
    return f"Audit and authorize it: forge audit authorize --commit {(snapshot.head or 'HEAD')[:SHORT]}"


def _error(snapshot: Snapshot, rule: str, message: str, fix: str) -> Found:
    path = snapshot.governance.path("evidence", LEDGER.records)
    return Found(rule, Severity.ERROR, message, fix, path, subject=rule)


CODE = {"app.py": "x = 1\n"}
OLD = "b" * 40
GONE = "d" * 40
BEFORE = {"app.py": "x = 0\n"}


def _history(*log: str) -> MemoryCommits:
    return MemoryCommits(log or (HEAD, OLD))


def _granted(commit: str, **given: object) -> Snapshot:
    evidence = ledger_files((Kind.AUDIT, audited(head=OLD)), (Kind.AUTHORIZED, authorized(commit)))
    return with_evidence(CODE, evidence, base=BEFORE, **{"commits": _history(), **given})


def _only_audited(head: str) -> Snapshot:
    evidence = ledger_files((Kind.AUDIT, audited(head=head)))
    return with_evidence(CODE, evidence, base=BEFORE, commits=_history())


def _committed(*paths: str, grant: bool = True) -> Snapshot:
    """A commit that changes these files after an authorized or audited one."""
    commits = MemoryCommits((HEAD, OLD), changes={HEAD: paths})
    if grant:
        return _granted(OLD, commits=commits)
    evidence = ledger_files((Kind.AUDIT, audited(head=OLD)))
    return with_evidence(CODE, evidence, base=BEFORE, commits=commits)


def _prose() -> Snapshot:
    text = f"AUTHORIZED\ncommit: {HEAD}\n".encode()
    return with_evidence(CODE, {"audit_ledger.md": text}, base=BEFORE, commits=_history())


def _forged() -> Snapshot:
    evidence = ledger_files((Kind.AUTHORIZED, authorized(OLD)))
    evidence["audit_ledger.jsonl"] = evidence["audit_ledger.jsonl"].replace(OLD.encode(), HEAD.encode())
    return with_evidence(CODE, evidence, base=BEFORE, commits=_history())


def _by_a_stranger() -> Snapshot:
    evidence = ledger_files((Kind.AUTHORIZED, authorized(HEAD)), signer=UNTRUSTED_SIGNER)
    return with_evidence(CODE, evidence, base=BEFORE, commits=_history())


def _bypassed() -> Snapshot:
    grant = Authorized(HEAD, "somebody", 1, reason="the site is down")
    return with_evidence(CODE, ledger_files((Kind.BYPASS, grant)), base=BEFORE, commits=_history())


LEDGER_PATH = "Forge/evidence/audit_ledger.jsonl"
FIXTURES = (
    Fixture("HEAD is authorized", lambda: _granted(HEAD), "PASS"),
    Fixture("a bypass with its reason", _bypassed, "PASS", ("bypassed",)),
    Fixture("no ledger", lambda: snapshot_of(CODE), "SKIP"),
    Fixture("audited, nothing committed since", lambda: _only_audited(HEAD), "SKIP"),
    Fixture("a commit in prose only", _prose, "SKIP"),
    Fixture("committed, never authorized", lambda: _only_audited(OLD), "FAIL", ("unauthorized",)),
    Fixture("a commit after the authorized one", lambda: _granted(OLD), "FAIL", ("unauthorized",)),
    Fixture("the ledger committed afterwards", lambda: _committed(LEDGER_PATH), "PASS"),
    Fixture("the ledger committed first", lambda: _committed(LEDGER_PATH, grant=False), "SKIP"),
    Fixture("code beside the ledger", lambda: _committed(LEDGER_PATH, "app.py"), "FAIL", ("unauthorized",)),
    Fixture(
        "another file in its folder",
        lambda: _committed("Forge/evidence/app.py"),
        "FAIL",
        ("unauthorized",),
    ),
    Fixture("an unknown commit", lambda: _granted(GONE), "ERROR", ("unknown-commit",)),
    Fixture("an authorization changed by hand", _forged, "ERROR", ("broken-ledger",)),
    Fixture("an authorization by a stranger", _by_a_stranger, "ERROR", ("unknown-signer",)),
)


CHECK = Check(
    code="A6",
    name="Authorization gate",
    why="A person is responsible for every commit, and the ledger proves who authorized it.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
