"""A6: nothing was committed that nobody has authorised. Authorisations are entries of the ledger with full commit ids."""

from collections.abc import Sequence

from forge.audits.check import Check, Examination, Found, examined, skip
from forge.audits.checks.a6_fixtures import FIXTURES
from forge.audits.counting import first_of
from forge.audits.evidence.book import BookState
from forge.audits.evidence.chain import Line
from forge.audits.evidence.ledger import GRANTS, LEDGER, verify_in
from forge.audits.evidence.records import Audited, Authorized, Kind, body_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

FIRST_CYCLE = "first cycle: nothing has been authorised yet"
MAX_NAMED = 5
MAX_ASKED = 1000
"""Commits that are looked into; of so many nobody will say that they are all evidence."""
SHORT = 12


def examine(snapshot: Snapshot) -> Examination:
    state = verify_in(snapshot)
    if not state.exists and not state.is_tampered:
        return skip(f"{FIRST_CYCLE}, and there is no ledger", "commits")
    if problem := _unusable(snapshot, state):
        return examined([problem], 0, "commits")
    grants = [line for line in state.lines if line.entry.kind in GRANTS]
    if not grants:
        return _nothing_granted(snapshot, state.lines)
    if not grants[-1].is_signed or grants[-1].entry.signer not in snapshot.trust.keys:
        number, key = grants[-1].entry.number, grants[-1].entry.signer
        message = f"entry {number} authorises, and its key is not known here: {key[:16]}…"
        return examined(
            [_error(snapshot, "unknown-signer", message, f"forge audit trust {key}")], 0, "commits"
        )
    return _since(snapshot, grants[-1])


def _unusable(snapshot: Snapshot, state: BookState) -> Found | None:
    """What a ledger says that was tampered with, nobody can tell."""
    for problem in state.problems:
        if problem.severity is Severity.FAIL and problem.rule != "edited-text":
            return _error(
                snapshot, "broken-ledger", f"the ledger cannot be believed: {problem.message}", problem.fix
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
    message = f"commits were made since the first audit, and none was ever authorised{named}"
    found = Found("unauthorized", Severity.FAIL, message, _fix(snapshot), subject="HEAD")
    return examined([found], len(commits or ()) or 1, "commits")


def _since(snapshot: Snapshot, grant: Line) -> Examination:
    body = body_of(grant.entry)
    if not isinstance(body, Authorized):
        message = f"entry {grant.entry.number} cannot be read by this version of Forge"
        return examined([_error(snapshot, "broken-ledger", message, "Update Forge.")], 0, "commits")
    found: list[Found] = []
    if grant.entry.kind == Kind.BYPASS:
        message = f"{body.commit[:SHORT]} was let through without an audit: {body.reason}"
        found.append(
            Found("bypassed", Severity.NOTE, message, "Audit it when there is time.", subject=body.commit)
        )
    if snapshot.commits.find(body.commit) is None:
        message = f"the authorised commit {body.commit[:SHORT]} is unknown here"
        fix = "Fetch the whole history (git fetch --unshallow), or authorise a commit that is there."
        return examined([*found, _error(snapshot, "unknown-commit", message, fix)], 0, "commits")
    since = snapshot.commits.since(body.commit)
    after = _with_content(snapshot, since or ())
    if since is None:
        message = (
            f"the authorised commit {body.commit[:SHORT]} is not in the history of HEAD: it was rewritten"
        )
        found.append(Found("rewritten-history", Severity.FAIL, message, _fix(snapshot), subject=body.commit))
    elif after:
        count = f"{len(after)} commit{'' if len(after) == 1 else 's'}"
        message = f"{count} since the last authorised one ({body.commit[:SHORT]}): {_named(after)}"
        found.append(Found("unauthorized", Severity.FAIL, message, _fix(snapshot), subject="HEAD"))
    is_good = all(one.severity is Severity.NOTE for one in found)
    what = "nothing but evidence" if since else "nothing"
    detail = f"{what} was committed since {body.commit[:SHORT]}, authorised by {body.by}" if is_good else ""
    return examined(found, 1 + len(since or ()), "commits", detail=detail)


def _with_content(snapshot: Snapshot, commits: Sequence[str]) -> list[str]:
    """Without those that change evidence and nothing else: who commits the ledger adds nothing to be authorised."""
    changed = snapshot.commits.changed(commits[-MAX_ASKED:])
    is_evidence = snapshot.governance.is_evidence
    return [one for one in commits if one not in changed or not all(map(is_evidence, changed[one]))]


def _named(commits: Sequence[str]) -> str:
    return first_of([commit[:SHORT] for commit in commits], MAX_NAMED)


def _fix(snapshot: Snapshot) -> str:
    return (
        f"Have it audited and authorised: forge audit authorize --commit {(snapshot.head or 'HEAD')[:SHORT]}"
    )


def _error(snapshot: Snapshot, rule: str, message: str, fix: str) -> Found:
    path = snapshot.governance.path("evidence", LEDGER.records)
    return Found(rule, Severity.ERROR, message, fix, path, subject=rule)


DOCS = """
An authorisation is an entry of the ledger that `forge audit authorize` writes: one commit, by its full id, and who did
it. The last one counts, for that commit and all before it. Prose is never read: a sentence about a commit authorises
nothing. `forge audit authorize` takes a commit that holds exactly the files of the last audit, and that audit has to
have signed off everything but this check.

| rule | what it means |
|---|---|
| `unauthorized` | FAIL: HEAD has commits that came after it; they are counted and named. Those that change nothing but the files of evidence do not count: the ledger is committed after the authorisation that is in it |
| `rewritten-history` | FAIL: the authorised commit is no ancestor of HEAD any more |
| `unknown-commit` | ERROR: it is not in this repository; in a shallow clone nobody can tell |
| `broken-ledger` | ERROR: somebody tampered with the ledger, see W2 |
| `unknown-signer` | ERROR: a key signed it that this machine does not know |
| `bypassed` | a note: the commit was let through without an audit, with this reason |

Before the first authorisation there is nothing to compare with: SKIP, as long as nothing but evidence was committed since
the first audit.
"""

CHECK = Check(
    code="A6",
    name="Authorization gate",
    why="A person answers for what is committed: every commit was authorised by somebody, and who it was can be proven.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
