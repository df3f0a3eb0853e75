"""Whether every file of the evidence folder is what was written there, whatever files of the project it is about."""

from collections.abc import Iterator
from dataclasses import dataclass

import msgspec

from forge.audits.counting import counted
from forge.audits.evidence.book import Book, Problem, normal_text, signed_by_stranger
from forge.audits.evidence.chain import Line, read_line
from forge.audits.evidence.ledger import LEDGER, verify_in
from forge.audits.evidence.proof import (
    DIFF_LOG,
    DIFF_TEXT,
    LATEST,
    MAKE,
    OTHER_RUN,
    RUNS,
    is_latest,
    last_run,
    rests_on,
    verify_runs,
)
from forge.audits.evidence.records import DiffLog
from forge.audits.evidence.rendering_diff import render_diff_log
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Soundness:
    file: str
    problems: tuple[Problem, ...]
    entries: int
    told: str
    """What is good about it, when there is no problem."""

    @property
    def is_whole(self) -> bool:
        return not any(problem.severity is Severity.FAIL for problem in self.problems)


def examine_evidence(snapshot: Snapshot) -> Iterator[Soundness]:
    """The books with the texts that are rendered from them, and what is written anew with every run."""
    yield _book(snapshot, LEDGER)
    yield _book(snapshot, RUNS)
    last = last_run(snapshot.once(verify_runs))
    if last or LATEST in snapshot.evidence:
        yield Soundness(LATEST, tuple(_latest(snapshot, last)), 1, "as the last record says")
    if last or snapshot.evidence.keys() & {DIFF_LOG, DIFF_TEXT}:
        told = f"1 entry, as signed; {DIFF_TEXT} says the same"
        yield Soundness(DIFF_LOG, tuple(_diff_log(snapshot, last)), 1, told)


def _book(snapshot: Snapshot, book: Book) -> Soundness:
    state = verify_in(snapshot, book)
    count = len(state.lines)
    told = f"{counted(count, 'entries')}, as signed; {book.text} says the same"
    return Soundness(book.records, state.problems, count, told)


def _latest(snapshot: Snapshot, last: Line | None) -> Iterator[Problem]:
    if last is None:
        yield _by_hand(LATEST)
    elif not is_latest(snapshot, last):
        how = "was edited, or its writer was stopped" if LATEST in snapshot.evidence else "is gone"
        message = f"{LATEST} {how}: it is not what entry {last.entry.number} of {RUNS.records} says"
        yield Problem("edited-text", Severity.FAIL, message, MAKE, file=LATEST)


def _diff_log(snapshot: Snapshot, last: Line | None) -> Iterator[Problem]:
    data = snapshot.evidence.get(DIFF_LOG)
    if data is None:
        yield _by_hand(DIFF_TEXT) if last is None else _wrong("removed", f"{DIFF_LOG} is gone")
        return
    line = read_line(data.removesuffix(b"\n"))
    if isinstance(line, str) or not line.is_signed:
        what = line if isinstance(line, str) else "the signature is not of this text"
        yield _wrong("broken-entry", f"{DIFF_LOG}: {what}")
        return
    if line.entry.signer not in snapshot.trust.keys:
        message = signed_by_stranger(DIFF_LOG, line.entry.signer)
        fix = f"If you know whose it is: forge audit trust {line.entry.signer}"
        yield Problem("unknown-signer", Severity.WARN, message, fix, file=DIFF_LOG)
    yield from _content(snapshot, line, last)


def _content(snapshot: Snapshot, line: Line, last: Line | None) -> Iterator[Problem]:
    try:
        log = msgspec.convert(line.entry.body, DiffLog)
    except msgspec.ValidationError:
        yield _wrong("broken-entry", f"{DIFF_LOG} holds no diff log")
        return
    if not rests_on(log, last):
        yield _wrong("replaced", OTHER_RUN)
    text = snapshot.evidence.get(DIFF_TEXT)
    if text is None or normal_text(text) != render_diff_log(log, line.entry.at).encode():
        how = "is gone" if text is None else f"was edited: it is not what {DIFF_LOG} says"
        yield Problem("edited-text", Severity.FAIL, f"{DIFF_TEXT} {how}", MAKE, file=DIFF_TEXT)


def _by_hand(file: str) -> Problem:
    message = f"{file} was written by hand: no signed record is behind it"
    return Problem("legacy", Severity.WARN, message, MAKE, file=file)


def _wrong(rule: str, message: str) -> Problem:
    return Problem(rule, Severity.FAIL, message, MAKE, 1, DIFF_LOG)
