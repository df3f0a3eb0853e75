"""W2: verify the chain, signatures and text of the audit ledger."""

from collections.abc import Callable

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.display_text import format_count
from forge.audits.evidence.chain import hash_line
from forge.audits.evidence.evidence_log import Problem
from forge.audits.evidence.examples import CODE, TRUST, UNTRUSTED_SIGNER, audited, ledger_files, with_evidence
from forge.audits.evidence.ledger import verify_in_snapshot
from forge.audits.evidence.records import AuditOutcome, Kind
from forge.audits.memory import HEAD, MemoryCommits, snapshot_of
from forge.audits.snapshot import Head, Snapshot, Trust, seen_at

DOCS = """
`audit_ledger.jsonl` has one entry per line. Each contains the hash of the previous line and a signature; a signed head
(`audit_ledger.head.json`) contains the number of entries; and this machine remembers the last head it saw of each project
and branch. So every change is detected, and the first wrong entry is named: `forge audit verify`.

The check is listed among the warnings, but a ledger that was tampered with **blocks**, as all other evidence depends on it.
Minor problems only warn.

| rule | what it means |
|---|---|
| `broken-entry` | FAIL: an entry was edited, removed, added or moved |
| `unfinished-line` | FAIL: there is data after the last entry; the next audit removes what an interrupted writer left |
| `cut-short`, `rewritten`, `replaced`, `removed` | FAIL: the signed head or this machine's memory does not match the entries |
| `not-as-committed` | FAIL: the ledger in HEAD or in the base is not the beginning of this one |
| `no-head`, `bad-head`, `bad-signature`, `empty` | FAIL: the proof of the ledger's end is missing or forged |
| `edited-text` | FAIL: `audit_ledger.md` does not match the entries; the next audit renders it again |
| `unknown-signer` | WARN: it is signed with a key that this machine does not trust: `forge audit trust KEY` |
| `unfinished-entry` | WARN: a writer was interrupted before writing the head; the next audit completes it |
| `legacy-ledger` | WARN: a plain-text ledger without entries; the next audit keeps it as the first entry |
| `no-ledger` | WARN: there is no ledger yet |

If history was rewritten on purpose, `forge audit verify --accept` makes this machine accept the current ledger.
"""


_MILD = {
    "missing": "no-ledger",
    "legacy": "legacy-ledger",
    "unknown-signer": "unknown-signer",
    "unfinished": "unfinished-entry",
}


def examine(snapshot: Snapshot) -> Examination:
    state = verify_in_snapshot(snapshot)
    if not state.exists and not state.is_tampered and not snapshot.governance.exists:
        return skip(
            "no ledger yet: the first audit of a project with contracts or claims creates it", "entries"
        )
    found = [_found(snapshot, problem) for problem in state.problems]
    signer = state.lines[-1].entry.signer[:16] if state.lines else ""
    summary = f"{format_count(len(state.lines), 'entries')}, as signed (the last by {signer}…)"
    return examined(found, len(state.lines), "entries", detail="" if found else summary)


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


RECORDS, TEXT, SIGNED = "audit_ledger.jsonl", "audit_ledger.md", "audit_ledger.head.json"
Files = dict[str, bytes]


def five() -> Files:
    return ledger_files(*((Kind.AUDIT, audited(AuditOutcome.FAIL, number=n)) for n in range(1, 6)))


def _with(change: Callable[[Files], None], *, seen: bool = False) -> Callable[[], Snapshot]:
    """Build a fixture. With `seen` this machine remembers the original ledger."""

    def snapshot() -> Snapshot:
        files = five()
        change(files)
        return with_evidence(CODE, files, trust=_remembered() if seen else TRUST)

    return snapshot


def _lines(change: Callable[[list[bytes]], object]) -> Callable[[Files], None]:
    def apply(files: Files) -> None:
        lines = files[RECORDS].splitlines(keepends=True)
        change(lines)
        files[RECORDS] = b"".join(lines)

    return apply


def _edit(lines: list[bytes]) -> None:
    lines[1] = lines[1].replace(b'"FAIL"', b'"SIGNED-OFF (awaiting AUTHORIZED)"')


def _swap(lines: list[bytes]) -> None:
    lines[1], lines[2] = lines[2], lines[1]


def _rewrite(files: Files) -> None:
    files.update(ledger_files((Kind.AUDIT, audited()), signer=UNTRUSTED_SIGNER))


def _roll_back(files: Files) -> None:
    files.update(ledger_files(*((Kind.AUDIT, audited(AuditOutcome.FAIL, number=n)) for n in range(1, 3))))


def _edit_text(files: Files) -> None:
    files[TEXT] = files[TEXT].replace(b"FAIL", b"PASS")


def _forget_head(files: Files) -> None:
    del files[SIGNED]


def _forge_head(files: Files) -> None:
    files[SIGNED] = files[SIGNED].replace(b'"count":5', b'"count":4')


def _remembered() -> Trust:
    last = five()[RECORDS].splitlines()[-1]
    return Trust(TRUST.keys, {seen_at(RECORDS, "main", None): Head(5, hash_line(last), "example")})


def _other_than_committed() -> Snapshot:
    files = five()
    committed = MemoryCommits(files={(HEAD, f"Forge/evidence/{RECORDS}"): files[RECORDS]})
    _roll_back(files)
    return with_evidence(CODE, files, base=CODE, commits=committed)


def _nothing(files: Files) -> None:
    files.clear()


def _legacy() -> Snapshot:
    return with_evidence(CODE, {TEXT: b"# Audit Ledger\n"})


FIXTURES = (
    Fixture("as it was written", _with(lambda _: None), "PASS"),
    Fixture("as this machine remembers it", _with(lambda _: None, seen=True), "PASS"),
    Fixture("no ledger, no governance", lambda: snapshot_of({"app.py": ""}), "SKIP"),
    Fixture("no ledger yet", lambda: snapshot_of({"Forge/Contracts/a.md": ""}), "WARN", ("no-ledger",)),
    Fixture("a text only", _legacy, "WARN", ("legacy-ledger",)),
    Fixture(
        "by a stranger",
        lambda: with_evidence(CODE, ledger_files((Kind.AUDIT, audited()), signer=UNTRUSTED_SIGNER)),
        "WARN",
        ("unknown-signer",),
    ),
    Fixture("an entry edited", _with(_lines(_edit)), "FAIL", ("broken-entry",)),
    Fixture("an entry removed", _with(_lines(lambda lines: lines.pop(1))), "FAIL", ("broken-entry",)),
    Fixture("two entries swapped", _with(_lines(_swap)), "FAIL", ("broken-entry",)),
    Fixture(
        "an entry twice", _with(_lines(lambda lines: lines.insert(1, lines[1]))), "FAIL", ("broken-entry",)
    ),
    Fixture("cut short", _with(_lines(lambda lines: lines.pop())), "FAIL", ("cut-short", "edited-text")),
    Fixture(
        "rewritten with another key", _with(_rewrite, seen=True), "FAIL", ("cut-short", "unknown-signer")
    ),
    Fixture("rolled back", _with(_roll_back, seen=True), "FAIL", ("cut-short",)),
    Fixture(
        "not what was committed",
        _other_than_committed,
        "FAIL",
        ("not-as-committed",),
    ),
    Fixture("removed", _with(_nothing, seen=True), "FAIL", ("removed",)),
    Fixture("the text edited", _with(_edit_text), "FAIL", ("edited-text",)),
    Fixture("no head", _with(_forget_head), "FAIL", ("no-head",)),
    Fixture("a forged head", _with(_forge_head), "FAIL", ("bad-head",)),
    Fixture(
        "something behind the end",
        _with(lambda files: files.update({RECORDS: files[RECORDS] + b"{}"})),
        "FAIL",
        ("unfinished-line",),
    ),
)


CHECK = Check(
    code="W2",
    name="Ledger integrity",
    why="Only a ledger that was not changed afterwards proves who audited and authorized what.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
