"""Adding a record to a book so that a kill at any instant leaves one that is whole, or that the next record makes whole.

The order is: the line, its text, the head, this machine's memory. Each is on disk before the next begins. What is found
behind the last whole line was never acknowledged to anybody and goes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.audits.evidence.book import Book, BookState, Problem, head_of, read_head, verify_book, write_head
from forge.audits.evidence.chain import Entry, Line, Signer, next_entry, read_line, write_line
from forge.audits.evidence.folder import EvidenceFolder
from forge.audits.evidence.keys import Keys
from forge.audits.evidence.records import Kind, Legacy, Record, fit
from forge.audits.models import Severity
from forge.audits.trust import Trust, seen_at
from forge.errors import Conflict
from forge.kernel.ids import new_id

MAX_LEGACY = 8 << 20
_TAIL = 1 << 20
REPAIRED = frozenset({"unfinished-line", "empty", "edited-text"})
"""What a new record puts right: none of it hides a record that was signed."""


@dataclass(frozen=True, slots=True)
class Writer:
    """Who writes, for whom, and where what was written is remembered."""

    keys: Keys
    root: Path
    branch: str | None
    head: str | None
    signer: Signer

    def where(self, book: Book) -> str:
        return seen_at(book.records, self.branch, self.head)


@dataclass(frozen=True, slots=True)
class _End:
    """Where the next line goes."""

    last: Line | None
    size: int
    lines: Sequence[Line] | None
    """All of them, when the text has to be written anew."""


MakeBody = Callable[[Line | None], Record]
"""From the line before, once nobody else can write: its number and iteration are known only then."""


def add_record(
    folder: EvidenceFolder, book: Book, writer: Writer, kind: Kind, make: MakeBody, *, at: str
) -> Entry:
    end = _find_end(folder, book, writer)
    new = [] if end.last else _adopted(folder, book, writer, at)
    last = _line_of(new[-1]) if new else end.last
    entry = next_entry(last, new_id(), kind, make(last), at=at, signer=writer.signer.key)
    new.append(write_line(entry, writer.signer))
    folder.append(book.records, b"".join(new), at=end.size)
    lines = [_line_of(raw) for raw in new]
    _write_text(folder, book, end, lines)
    if book.head:
        folder.replace(book.head, write_head(lines[-1], writer.signer))
    writer.keys.remember(writer.root, writer.where(book), head_of(lines[-1]))
    return lines[-1].entry


def recent_entries(folder: EvidenceFolder, book: Book) -> list[Entry]:
    """The last ones, newest first, as far as they can be read: to find out whether something was written already."""
    found = (read_line(raw) for raw in reversed((folder.read(book.records, last=_TAIL) or b"").split(b"\n")))
    return [line.entry for line in found if isinstance(line, Line)]


def _find_end(folder: EvidenceFolder, book: Book, writer: Writer) -> _End:
    trust = writer.keys.trust(writer.root)
    quick = _as_remembered(folder, book, writer, trust)
    if quick is not None:
        return quick
    names = (book.records, book.text, *((book.head,) if book.head else ()))
    evidence = {name: data for name in names if (data := folder.read(name)) is not None}
    state = verify_book(book, evidence, trust, {}, writer.where(book))
    _check(state, writer)
    return _End(state.lines[-1] if state.lines else None, state.size, state.lines)


def _as_remembered(folder: EvidenceFolder, book: Book, writer: Writer, trust: Trust) -> _End | None:
    """The usual case, however long the book is: it ends with what this machine wrote last."""
    seen = trust.heads.get(writer.where(book))
    tail = folder.read(book.records, last=_TAIL)
    if seen is None or not tail or not tail.endswith(b"\n"):
        return None
    last = read_line(tail[tail.rfind(b"\n", 0, -1) + 1 : -1])
    if isinstance(last, str) or head_of(last) != seen or last.entry.signer not in trust.keys:
        return None
    rendered = book.render(last.entry).encode()
    if not rendered or folder.read(book.text, last=len(rendered)) != rendered:
        return None
    if book.head:
        head = read_head(folder.read(book.head) or b"")
        if head is None or (head.count, head.hash, head.signer in trust.keys) != (
            seen.count,
            seen.hash,
            True,
        ):
            return None
    return _End(last, folder.size(book.records) or 0, None)


def _check(state: BookState, writer: Writer) -> None:
    """Nothing is added to a book that somebody has tampered with: the new signature would vouch for it."""
    for problem in state.problems:
        if problem.severity is Severity.FAIL and not _is_repaired(problem, state, writer):
            raise Conflict(f"Nothing was written: {problem.file}: {problem.message}.", hint=problem.fix)
        if problem.rule == "unknown-signer":
            raise Conflict(f"Nothing was written: {problem.message}.", hint=problem.fix)


def _is_repaired(problem: Problem, state: BookState, writer: Writer) -> bool:
    if problem.rule in REPAIRED:
        return True
    # The very first record, or the one that adopts an old text: its writer was stopped before the head.
    return (
        problem.rule == "no-head"
        and len(state.lines) <= 2
        and state.lines[-1].entry.signer == writer.signer.key
    )


def _adopted(folder: EvidenceFolder, book: Book, writer: Writer, at: str) -> list[bytes]:
    """A text from before there were records becomes the first of them."""
    text = folder.read(book.text)
    if not text or not text.strip():
        return []
    if len(text) > MAX_LEGACY:
        raise Conflict(
            f"{book.text} has {len(text):,} bytes from before there were records: too many to be kept in one.",
            hint="Move the file elsewhere.",
        )
    legacy = Legacy(fit(text.decode("utf-8-sig", "replace").replace("\r\n", "\n"), MAX_LEGACY))
    entry = next_entry(None, new_id(), Kind.LEGACY, legacy, at=at, signer=writer.signer.key)
    return [write_line(entry, writer.signer)]


def _write_text(folder: EvidenceFolder, book: Book, end: _End, new: Sequence[Line]) -> None:
    if end.lines is None:
        more = "".join(book.render(line.entry) for line in new)
        folder.append(book.text, more.encode(), at=folder.size(book.text) or 0)
    else:
        folder.replace(book.text, book.whole_text([*end.lines, *new]).encode())


def _line_of(raw: bytes) -> Line:
    line = read_line(raw.rstrip(b"\n"))
    if isinstance(line, str):
        raise AssertionError(f"a record that was just written cannot be read: {line}")
    return line
