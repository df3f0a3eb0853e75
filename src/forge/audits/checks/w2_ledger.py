"""W2: the ledger is what was written to it, from the first entry to the last."""

from forge.audits.check import Check, Examination, Found, examined, skip
from forge.audits.checks.w2_fixtures import FIXTURES
from forge.audits.counting import counted
from forge.audits.evidence.book import Problem
from forge.audits.evidence.ledger import verify_in
from forge.audits.snapshot import Snapshot

_MILD = {
    "missing": "no-ledger",
    "legacy": "legacy-ledger",
    "unknown-signer": "unknown-signer",
    "unfinished": "unfinished-entry",
}


def examine(snapshot: Snapshot) -> Examination:
    state = verify_in(snapshot)
    if not state.exists and not state.is_tampered and not snapshot.governance.exists:
        return skip(
            "no ledger yet: the first audit of a project with contracts or claims makes it", "entries"
        )
    found = [_found(snapshot, problem) for problem in state.problems]
    signer = state.lines[-1].entry.signer[:16] if state.lines else ""
    told = f"{counted(len(state.lines), 'entries')}, as signed (the last by {signer}…)"
    return examined(found, len(state.lines), "entries", detail="" if found else told)


def _found(snapshot: Snapshot, problem: Problem) -> Found:
    return Found(
        _MILD.get(problem.rule, problem.rule),
        problem.severity,
        problem.message,
        problem.fix,
        snapshot.governance.path("evidence", problem.file),
        line=problem.number,
        subject=problem.rule,
    )


DOCS = """
`audit_ledger.jsonl` holds one entry per line. Each has the hash of the line before it and a signature; a signed head
(`audit_ledger.head.json`) says how many there are; and this machine remembers the last head it saw of each project and
branch. So every tampering shows, and the first entry that is not as it was is named: `forge audit verify`.

The check is listed among the warnings, as it always was, but a ledger that somebody tampered with **blocks**: everything
else that was proven rests on it. The mild cases warn.

| rule | what it means |
|---|---|
| `broken-entry` | FAIL: an entry was edited, removed, added or moved |
| `unfinished-line` | FAIL: something stands behind the last entry; the next audit removes what a killed writer left |
| `cut-short`, `rewritten`, `replaced`, `removed` | FAIL: the signed head or this machine's memory tells of other entries |
| `not-as-committed` | FAIL: the ledger in HEAD or in the base is not the beginning of this one |
| `no-head`, `bad-head`, `bad-signature`, `empty` | FAIL: what proves the end of the ledger is missing or forged |
| `edited-text` | FAIL: `audit_ledger.md` is not what the entries say; the next audit renders it anew |
| `unknown-signer` | WARN: a key signed it that this machine does not know: `forge audit trust KEY` |
| `unfinished-entry` | WARN: a writer was stopped before the head; the next audit finishes it |
| `legacy-ledger` | WARN: a text from before there were entries; the next audit keeps it and goes on from there |
| `no-ledger` | WARN: there is none yet |

When history was rewritten on purpose, `forge audit verify --accept` makes this machine take the ledger as it is now.
"""

CHECK = Check(
    code="W2",
    name="Ledger integrity",
    why="Who audited and authorised what can only be known from a ledger in which nothing was changed afterwards.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
