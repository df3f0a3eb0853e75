"""Verify an evidence log: a chain of records with its rendered Markdown and signed head. Works on bytes only."""

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
from forge.audits.snapshot import Head, Trust

_HEAD_DOMAIN = b"forge audit head 1\n"
MAX_HEAD = 4096
RESTORE_FIX = "Restore the file (from git, if it was committed); `forge audit verify` shows when it is valid."
ACCEPT_FIX = "Restore the file, or, if history was rewritten on purpose, run `forge audit verify --accept`."

COMMITTED_FIX = (
    "Restore the files of the evidence folder with git. Committed ledger entries must not be removed."
)


@dataclass(frozen=True)
class EvidenceLog:
    records: str
    """The name of the file with the chain."""
    text: str
    """The name of the rendered Markdown file."""
    head: str | None
    """The name of the file with the signed head, if any."""
    header: str
    """The beginning of the rendered text."""
    render: Callable[[Entry], str]
    creation_hint: str
    """A sentence that says how the first record is created."""

    def full_text(self, lines: Sequence[Line]) -> str:
        """Render the whole text. A legacy text is kept at the beginning."""
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
    """The number of the affected entry."""
    file: str = ""


@dataclass(frozen=True, slots=True)
class LogState:
    exists: bool
    lines: Sequence[Line]
    """The valid lines from the beginning."""
    size: int
    """The size of the valid lines in bytes."""
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


def unknown_signer_message(what: str, key: str) -> str:
    return f"{what} is signed with a key that this machine does not trust: {key[:16]}…"


def head_of(line: Line) -> Head:
    return Head(line.entry.number, line.hash, line.entry.chain)


def write_head(line: Line, signer: Signer) -> bytes:
    part = _signed_part(line.entry.chain, line.entry.number, line.hash)
    signature = signer.sign(_HEAD_DOMAIN + part)
    head = SignedHead(line.entry.chain, line.entry.number, line.hash, signature, signer.key)
    return canonical(head) + b"\n"


def verify_log(
    log: EvidenceLog, evidence: Mapping[str, bytes], trust: Trust, committed: Mapping[str, bytes], where: str
) -> LogState:
    """Verify a log. `committed` has the records file by commit; `where` is the key of `seen_at`."""
    data = evidence.get(log.records)
    if not data:
        return LogState(
            False, (), 0, tuple(_missing_log_problems(log, evidence, trust.heads.get(where), committed))
        )
    chain = read_chain(data)
    problems = [*_broken_entry_problems(log, chain)]
    is_intact = chain.broken is None or chain.broken.reason == UNFINISHED
    if is_intact and chain.last:
        problems += _signature_problems(log, chain.last, trust)
        head = _check_head(log, evidence, chain, trust)
        problems += head.problems
        problems += _text_problems(log, evidence.get(log.text), chain, head.count)
    if chain.last:
        problems += _remembered_head_problems(log, chain, trust.heads.get(where), is_intact=is_intact)
    problems += _committed_problems(log, data, committed)
    return LogState(True, chain.lines, chain.size, tuple(problems))


def _missing_log_problems(
    log: EvidenceLog, evidence: Mapping[str, bytes], seen: Head | None, committed: Mapping[str, bytes]
) -> Iterator[Problem]:
    existed = seen is not None or any(committed.values()) or bool(log.head and log.head in evidence)
    if existed:
        state_text = "is empty" if log.records in evidence else "is missing"
        fix = COMMITTED_FIX if any(committed.values()) else ACCEPT_FIX
        yield _failure(
            log, "removed", f"{log.records} {state_text}, but it had records before", fix, number=1
        )
    elif log.records in evidence:
        yield _failure(log, "empty", f"{log.records} is empty", f"Delete it. {log.creation_hint}", number=1)
    elif evidence.get(log.text):
        yield Problem(
            "legacy",
            Severity.WARN,
            f"{log.text} is plain text without signed records",
            f"The next record keeps it as the first entry of {log.records}.",
            file=log.text,
        )
    else:
        yield Problem(
            "missing",
            Severity.WARN,
            f"there is no {log.records} yet",
            log.creation_hint,
            file=log.records,
        )


def _broken_entry_problems(log: EvidenceLog, chain: Chain) -> Iterator[Problem]:
    if chain.broken:
        rule = "unfinished-line" if chain.broken.reason == UNFINISHED else "broken-entry"
        message = f"entry {chain.broken.number}: {chain.broken.reason}"
        yield _failure(log, rule, message, RESTORE_FIX, number=chain.broken.number)


def _signature_problems(log: EvidenceLog, last: Line, trust: Trust) -> Iterator[Problem]:
    number = last.entry.number
    if not last.is_signed:
        yield _failure(
            log,
            "bad-signature",
            f"entry {number}: the signature is invalid",
            RESTORE_FIX,
            number=number,
        )
    elif last.entry.signer not in trust.keys:
        yield _unknown_signer_problem(log, last.entry.signer, f"entry {number}")


def _unknown_signer_problem(log: EvidenceLog, key: str, what: str) -> Problem:
    return Problem(
        "unknown-signer",
        Severity.WARN,
        unknown_signer_message(what, key),
        f"If you trust its owner: forge audit trust {key}",
        file=log.records,
    )


@dataclass(frozen=True, slots=True)
class _HeadState:
    problems: tuple[Problem, ...]
    count: int
    """The number of entries that the head covers."""


def _check_head(log: EvidenceLog, evidence: Mapping[str, bytes], chain: Chain, trust: Trust) -> _HeadState:
    count = len(chain.lines)
    if log.head is None:
        return _HeadState((), count)
    data = evidence.get(log.head)
    if data is None:
        what = f"{log.head} is missing, so entry {count} may not be the last one"
        return _HeadState((_failure(log, "no-head", what, RESTORE_FIX, number=count),), 0)
    head = read_head(data)
    if head is None or not head.is_signed:
        what = f"{log.head} was not written by Forge: {'invalid signature' if head else 'unreadable'}"
        return _HeadState((_failure(log, "bad-head", what, RESTORE_FIX),), count)
    problems = [
        *_compare_with_head(
            log, chain, Head(head.count, head.hash, head.chain), "the signed head", RESTORE_FIX
        )
    ]
    if head.signer not in trust.keys:
        problems.append(_unknown_signer_problem(log, head.signer, log.head))
    if not problems and head.count < count:
        message = f"entry {count} was written, but its writer was interrupted"
        fix = "The next audit completes it."
        problems.append(Problem("unfinished", Severity.WARN, message, fix, count, log.records))
    return _HeadState(tuple(problems), min(head.count, count))


def read_head(data: bytes) -> SignedHead | None:
    """Parse a head; None if it is invalid or not in canonical form."""
    if len(data) > MAX_HEAD:
        return None
    try:
        head = msgspec.json.decode(data, type=SignedHead)
        return head if canonical(head) + b"\n" == data else None
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None


def _compare_with_head(
    log: EvidenceLog, chain: Chain, head: Head, source: str, fix: str
) -> Iterator[Problem]:
    count = len(chain.lines)
    if head.chain != chain.id:
        yield _failure(log, "replaced", f"entry 1: this is not the chain recorded in {source}", fix, number=1)
    elif head.count > count:
        message = f"entry {count + 1} is missing: {source} has {head.count} entries"
        yield _failure(log, "cut-short", message, fix, number=count + 1)
    elif head.count < 1 or chain.lines[head.count - 1].hash != head.hash:
        message = f"entry {head.count} does not match {source}: it or an earlier entry was rewritten"
        yield _failure(log, "rewritten", message, fix, number=head.count)


def _remembered_head_problems(
    log: EvidenceLog, chain: Chain, seen: Head | None, *, is_intact: bool
) -> Iterator[Problem]:
    """Compare with the head this machine remembers. Entries after a break cannot be compared."""
    if seen is None or (not is_intact and seen.count > len(chain.lines)):
        return
    yield from _compare_with_head(log, chain, seen, "this machine's memory", ACCEPT_FIX)


def _committed_problems(log: EvidenceLog, data: bytes, committed: Mapping[str, bytes]) -> Iterator[Problem]:
    """Check that committed records are the beginning of the current ones."""
    for commit, before in committed.items():
        expected = before[: before.rfind(b"\n") + 1]
        if data.startswith(expected):
            continue
        pairs = enumerate(zip_longest(split_lines(data), split_lines(expected)), 1)
        number, now = next((number, now) for number, (now, then) in pairs if now != then)
        what = "is missing" if now is None else "was changed"
        message = f"entry {number} {what}: compare the records of commit {commit[:12]}"
        yield _failure(log, "not-as-committed", message, COMMITTED_FIX, number=number)
        return


def _text_problems(log: EvidenceLog, data: bytes | None, chain: Chain, covered: int) -> Iterator[Problem]:
    """Compare the text with the records. After an interrupted write the text may lag behind like the head."""
    expected = normal_text(log.full_text(chain.lines).encode())
    now = normal_text(data or b"")
    if now == expected:
        return
    if covered < len(chain.lines):
        minimum = len(normal_text(log.full_text(chain.lines[:covered]).encode())) if covered else 0
        if expected.startswith(now) and len(now) >= minimum:
            return
    fix = f"Delete {log.text}; the next record renders it again."
    message = (
        f"{log.text} does not match the records: it was edited{'' if data is not None else ' or deleted'}"
    )
    yield Problem("edited-text", Severity.FAIL, message, fix, file=log.text)


def normal_text(data: bytes) -> bytes:
    """Ignore a byte order mark and CRLF, which editors add."""
    return data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")


def _failure(log: EvidenceLog, rule: str, message: str, fix: str, *, number: int | None = None) -> Problem:
    return Problem(rule, Severity.FAIL, message, fix, number, log.records)


def _signed_part(chain: str, count: int, hash: str) -> bytes:
    return canonical({"chain": chain, "count": count, "hash": hash})
