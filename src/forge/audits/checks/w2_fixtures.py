"""Examples for W2: a ledger as it was written, and one for each way to tamper with it."""

from collections.abc import Callable

from forge.audits.check import Fixture
from forge.audits.evidence.chain import hash_line
from forge.audits.evidence.examples import CODE, STRANGER, TRUST, audited, ledger_files, with_evidence
from forge.audits.evidence.records import AuditOutcome, Kind
from forge.audits.memory import HEAD, MemoryCommits, snapshot_of
from forge.audits.snapshot import Snapshot
from forge.audits.trust import Head, Trust, seen_at

RECORDS, TEXT, SIGNED = "audit_ledger.jsonl", "audit_ledger.md", "audit_ledger.head.json"
Files = dict[str, bytes]


def five() -> Files:
    return ledger_files(*((Kind.AUDIT, audited(AuditOutcome.FAIL, number=n)) for n in range(1, 6)))


def _with(change: Callable[[Files], None], *, seen: bool = False) -> Callable[[], Snapshot]:
    """`seen`: this machine remembers the ledger as it was."""

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
    files.update(ledger_files((Kind.AUDIT, audited()), signer=STRANGER))


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
        lambda: with_evidence(CODE, ledger_files((Kind.AUDIT, audited()), signer=STRANGER)),
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
