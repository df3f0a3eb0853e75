"""A chain of records on disk with its Markdown beside it, and what can be proven about both. Pure: from bytes to a state."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Annotated

import msgspec

from forge.audits.evidence.chain import (
    MAX_NUMBER,
    UNFINISHED,
    Chain,
    Entry,
    Line,
    Signer,
    canonical,
    is_signed,
    read_chain,
    split_lines,
)
from forge.audits.evidence.records import Legacy, body_of
from forge.audits.models import Severity
from forge.audits.trust import Head, Trust

_HEAD_DOMAIN = b"forge audit head 1\n"
MAX_HEAD = 4096
AGAIN = "Put the file back as it was (git has it if it was committed); `forge audit verify` tells when it is right."
ACCEPT = "Put the file back; if this is meant (history was rewritten), say so: `forge audit verify --accept`."

COMMITTED = (
    "Put it back: git restore the files of the evidence folder. What was committed to a ledger stays in it."
)


@dataclass(frozen=True)
class Book:
    records: str
    """The file of the chain."""
    text: str
    """The file rendered from it."""
    head: str | None
    """The file with the signed head, if it has one."""
    header: str
    """How the text begins."""
    render: Callable[[Entry], str]
    made_by: str
    """How the first record comes about, in a sentence."""

    def whole_text(self, lines: Sequence[Line]) -> str:
        """A text from before there were records stays at the beginning, as it was."""
        first = body_of(lines[0].entry) if lines else None
        begin = first.text.rstrip("\n") + "\n" if isinstance(first, Legacy) else self.header
        return begin + "".join(self.render(line.entry) for line in lines)


@dataclass(frozen=True, slots=True)
class Problem:
    rule: str
    severity: Severity
    message: str
    fix: str
    number: int | None = None
    """The entry it is about."""
    file: str = ""


@dataclass(frozen=True, slots=True)
class BookState:
    exists: bool
    lines: Sequence[Line]
    """Those that can be followed from the first one."""
    size: int
    """Their bytes."""
    problems: tuple[Problem, ...]

    @property
    def is_tampered(self) -> bool:
        return any(problem.severity is Severity.FAIL for problem in self.problems)

    @property
    def head(self) -> Head | None:
        return head_of(self.lines[-1]) if self.lines else None


class SignedHead(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    chain: str
    count: Annotated[int, msgspec.Meta(ge=1, le=MAX_NUMBER)]
    hash: str
    signature: str
    signer: str

    @property
    def is_signed(self) -> bool:
        return is_signed(
            self.signer, self.signature, _HEAD_DOMAIN + _signed_part(self.chain, self.count, self.hash)
        )


def signed_by_stranger(what: str, key: str) -> str:
    return f"{what} is signed by a key that this machine does not know: {key[:16]}…"


def head_of(line: Line) -> Head:
    return Head(line.entry.number, line.hash, line.entry.chain)


def write_head(line: Line, signer: Signer) -> bytes:
    part = _signed_part(line.entry.chain, line.entry.number, line.hash)
    signature = signer.sign(_HEAD_DOMAIN + part)
    head = SignedHead(line.entry.chain, line.entry.number, line.hash, signature, signer.key)
    return canonical(head) + b"\n"


def verify_book(
    book: Book, evidence: Mapping[str, bytes], trust: Trust, committed: Mapping[str, bytes], where: str
) -> BookState:
    """`committed`: what the records file was, by commit. `where`: see `seen_at`."""
    data = evidence.get(book.records)
    if not data:
        return BookState(False, (), 0, tuple(_absent(book, evidence, trust.heads.get(where), committed)))
    chain = read_chain(data)
    problems = [*_broken(book, chain)]
    is_whole = chain.broken is None or chain.broken.what == UNFINISHED
    if is_whole and chain.last:
        problems += _signature(book, chain.last, trust)
        head = _head(book, evidence, chain, trust)
        problems += head.problems
        problems += _text(book, evidence.get(book.text), chain, head.count)
    if chain.last:
        problems += _remembered(book, chain, trust.heads.get(where), is_whole=is_whole)
    problems += _committed(book, data, committed)
    return BookState(True, chain.lines, chain.size, tuple(problems))


def _absent(
    book: Book, evidence: Mapping[str, bytes], seen: Head | None, committed: Mapping[str, bytes]
) -> Iterator[Problem]:
    was_there = seen is not None or any(committed.values()) or bool(book.head and book.head in evidence)
    if was_there:
        how = "is empty" if book.records in evidence else "is gone"
        fix = COMMITTED if any(committed.values()) else ACCEPT
        yield _fail(book, "removed", f"{book.records} {how}, and it held records before", fix, number=1)
    elif book.records in evidence:
        yield _fail(book, "empty", f"{book.records} is empty", f"Delete it. {book.made_by}", number=1)
    elif evidence.get(book.text):
        yield Problem(
            "legacy",
            Severity.WARN,
            f"{book.text} is plain text: nothing proves that it is what was written",
            f"The next record keeps it at the beginning of {book.records} and goes on from there.",
            file=book.text,
        )
    else:
        yield Problem(
            "missing",
            Severity.WARN,
            f"there is no {book.records} yet",
            book.made_by,
            file=book.records,
        )


def _broken(book: Book, chain: Chain) -> Iterator[Problem]:
    if chain.broken:
        rule = "unfinished-line" if chain.broken.what == UNFINISHED else "broken-entry"
        message = f"entry {chain.broken.number}: {chain.broken.what}"
        yield _fail(book, rule, message, AGAIN, number=chain.broken.number)


def _signature(book: Book, last: Line, trust: Trust) -> Iterator[Problem]:
    number = last.entry.number
    if not last.is_signed:
        yield _fail(
            book, "bad-signature", f"entry {number}: the signature is not of this text", AGAIN, number=number
        )
    elif last.entry.signer not in trust.keys:
        yield _unknown(book, last.entry.signer, f"entry {number}")


def _unknown(book: Book, key: str, what: str) -> Problem:
    return Problem(
        "unknown-signer",
        Severity.WARN,
        signed_by_stranger(what, key),
        f"If you know whose it is: forge audit trust {key}",
        file=book.records,
    )


@dataclass(frozen=True, slots=True)
class _HeadState:
    problems: tuple[Problem, ...]
    count: int
    """Entries it covers."""


def _head(book: Book, evidence: Mapping[str, bytes], chain: Chain, trust: Trust) -> _HeadState:
    count = len(chain.lines)
    if book.head is None:
        return _HeadState((), count)
    data = evidence.get(book.head)
    if data is None:
        what = f"{book.head} is missing: nothing proves that entry {count} is the last one"
        return _HeadState((_fail(book, "no-head", what, AGAIN, number=count),), 0)
    head = read_head(data)
    if head is None or not head.is_signed:
        what = f"{book.head} is not what Forge wrote: {'bad signature' if head else 'unreadable'}"
        return _HeadState((_fail(book, "bad-head", what, AGAIN),), count)
    problems = [*_compare(book, chain, Head(head.count, head.hash, head.chain), "the signed head", AGAIN)]
    if head.signer not in trust.keys:
        problems.append(_unknown(book, head.signer, book.head))
    if not problems and head.count < count:
        message = f"entry {count} was written, and then the writer was stopped"
        fix = "The next audit finishes it."
        problems.append(Problem("unfinished", Severity.WARN, message, fix, count, book.records))
    return _HeadState(tuple(problems), min(head.count, count))


def read_head(data: bytes) -> SignedHead | None:
    """None when it is no head, or not in the one form it is written in."""
    if len(data) > MAX_HEAD:
        return None
    try:
        head = msgspec.json.decode(data, type=SignedHead)
        return head if canonical(head) + b"\n" == data else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _compare(book: Book, chain: Chain, head: Head, who: str, fix: str) -> Iterator[Problem]:
    count = len(chain.lines)
    if head.chain != chain.id:
        yield _fail(
            book, "replaced", f"entry 1: this is another chain than the one {who} tells of", fix, number=1
        )
    elif head.count > count:
        message = f"entry {count + 1} is missing: {who} tells of {head.count}"
        yield _fail(book, "cut-short", message, fix, number=count + 1)
    elif head.count < 1 or chain.lines[head.count - 1].hash != head.hash:
        message = f"entry {head.count} is not the one {who} tells of: it, or one before it, was rewritten"
        yield _fail(book, "rewritten", message, fix, number=head.count)


def _remembered(book: Book, chain: Chain, seen: Head | None, *, is_whole: bool) -> Iterator[Problem]:
    """What comes behind a break cannot be compared; the break is named already."""
    if seen is None or (not is_whole and seen.count > len(chain.lines)):
        return
    yield from _compare(book, chain, seen, "this machine's memory", ACCEPT)


def _committed(book: Book, data: bytes, committed: Mapping[str, bytes]) -> Iterator[Problem]:
    """Whatever was committed is the beginning of what is there now."""
    for commit, before in committed.items():
        whole = before[: before.rfind(b"\n") + 1]
        if data.startswith(whole):
            continue
        pairs = enumerate(zip_longest(split_lines(data), split_lines(whole)), 1)
        number, now = next((number, now) for number, (now, then) in pairs if now != then)
        what = "is missing" if now is None else "is another one"
        message = f"entry {number} {what}: the records of commit {commit[:12]} have it"
        yield _fail(book, "not-as-committed", message, COMMITTED, number=number)
        return


def _text(book: Book, data: bytes | None, chain: Chain, covered: int) -> Iterator[Problem]:
    """While the head is behind, the text may be, too."""
    whole = normal_text(book.whole_text(chain.lines).encode())
    now = normal_text(data or b"")
    if now == whole:
        return
    if covered < len(chain.lines):
        least = len(normal_text(book.whole_text(chain.lines[:covered]).encode())) if covered else 0
        if whole.startswith(now) and len(now) >= least:
            return
    fix = f"Delete {book.text}; the next record writes it anew."
    message = (
        f"{book.text} is not what the records say: it was edited{'' if data is not None else ' or deleted'}"
    )
    yield Problem("edited-text", Severity.FAIL, message, fix, file=book.text)


def normal_text(data: bytes) -> bytes:
    """A mark at the beginning and other line ends are editors' doing and say nothing."""
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def _fail(book: Book, rule: str, message: str, fix: str, *, number: int | None = None) -> Problem:
    return Problem(rule, Severity.FAIL, message, fix, number, book.records)


def _signed_part(chain: str, count: int, hash: str) -> bytes:
    return canonical({"chain": chain, "count": count, "hash": hash})
