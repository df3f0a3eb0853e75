"""Append a record to an evidence log so that a crash leaves it valid, or repairable by the next record.

The order is: line, text, head, remembered head. Each is synced to disk before the next. Data after the last complete line
was never acknowledged and is removed.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from forge.audits.evidence.chain import Entry, Line, Signer, next_entry, read_line, write_line
from forge.audits.evidence.evidence_folder import EvidenceFolder
from forge.audits.evidence.evidence_log import (
    EvidenceLog,
    LogState,
    Problem,
    head_of,
    read_head,
    verify_log,
    write_head,
)
from forge.audits.evidence.records import Kind, Legacy, Record, fit
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.models import Severity
from forge.audits.snapshot import Trust, seen_at
from forge.errors import Conflict
from forge.kernel.ids import new_id

MAX_LEGACY = 8 << 20
_TAIL_BYTES = 1 << 20
REPAIRED = frozenset({"unfinished-line", "empty", "edited-text"})
"""Problems that appending a record repairs; none of them hides a signed record."""


@dataclass(frozen=True, slots=True)
class LogWriter:
    """The project, branch and keys that records are written with."""

    keys: SigningKeys
    root: Path
    branch: str | None
    head: str | None
    signer: Signer

    def where(self, log: EvidenceLog) -> str:
        return seen_at(log.records, self.branch, self.head)


@dataclass(frozen=True, slots=True)
class _End:
    """The position after the last valid line."""

    last: Line | None
    size: int
    lines: Sequence[Line] | None
    """All lines if the whole text must be rendered again, else None."""


MakeBody = Callable[[Line | None], Record]
"""Build the record from the last line. Called under the lock, as the iteration number depends on it."""


def add_record(
    folder: EvidenceFolder, log: EvidenceLog, writer: LogWriter, kind: Kind, make: MakeBody, *, at: str
) -> Entry:
    end = _find_end(folder, log, writer)
    new = [] if end.last else _legacy_record(folder, log, writer, at)
    last = _line_of(new[-1]) if new else end.last
    entry = next_entry(last, new_id(), kind, make(last), at=at, signer=writer.signer.key)
    new.append(write_line(entry, writer.signer))
    folder.append(log.records, b"".join(new), at=end.size)
    lines = [_line_of(raw) for raw in new]
    _write_text(folder, log, end, lines)
    if log.head:
        folder.replace(log.head, write_head(lines[-1], writer.signer))
    writer.keys.remember(writer.root, writer.where(log), head_of(lines[-1]))
    return lines[-1].entry


def recent_entries(folder: EvidenceFolder, log: EvidenceLog) -> list[Entry]:
    """Return the last readable entries, newest first."""
    found = (
        read_line(raw) for raw in reversed((folder.read(log.records, last=_TAIL_BYTES) or b"").split(b"\n"))
    )
    return [line.entry for line in found if isinstance(line, Line)]


def _find_end(folder: EvidenceFolder, log: EvidenceLog, writer: LogWriter) -> _End:
    trust = writer.keys.trust(writer.root)
    remembered = _find_remembered_end(folder, log, writer, trust)
    if remembered is not None:
        return remembered
    names = (log.records, log.text, *((log.head,) if log.head else ()))
    evidence = {name: data for name in names if (data := folder.read(name)) is not None}
    state = verify_log(log, evidence, trust, {}, writer.where(log))
    _check(state, writer)
    return _End(state.lines[-1] if state.lines else None, state.size, state.lines)


def _find_remembered_end(
    folder: EvidenceFolder, log: EvidenceLog, writer: LogWriter, trust: Trust
) -> _End | None:
    """Fast path: return the end of the log if it is exactly what this machine wrote last."""
    seen = trust.heads.get(writer.where(log))
    tail = folder.read(log.records, last=_TAIL_BYTES)
    if seen is None or not tail or not tail.endswith(b"\n"):
        return None
    last = read_line(tail[tail.rfind(b"\n", 0, -1) + 1 : -1])
    if isinstance(last, str) or head_of(last) != seen or last.entry.signer not in trust.keys:
        return None
    rendered = log.render(last.entry).encode()
    if not rendered or folder.read(log.text, last=len(rendered)) != rendered:
        return None
    if log.head:
        head = read_head(folder.read(log.head) or b"")
        if head is None or (head.count, head.hash, head.signer in trust.keys) != (
            seen.count,
            seen.hash,
            True,
        ):
            return None
    return _End(last, folder.size(log.records) or 0, None)


def _check(state: LogState, writer: LogWriter) -> None:
    """Raise Conflict if the log was tampered with, as a new signature would cover the changes."""
    for problem in state.problems:
        if problem.severity is Severity.FAIL and not _is_repairable(problem, state, writer):
            raise Conflict(f"Nothing was written: {problem.file}: {problem.message}.", hint=problem.fix)
        if problem.rule == "unknown-signer":
            raise Conflict(f"Nothing was written: {problem.message}.", hint=problem.fix)


def _is_repairable(problem: Problem, state: LogState, writer: LogWriter) -> bool:
    if problem.rule in REPAIRED:
        return True
    # The writer of the first record (or of the one after a legacy text) was interrupted before the head.
    return (
        problem.rule == "no-head"
        and len(state.lines) <= 2
        and state.lines[-1].entry.signer == writer.signer.key
    )


def _legacy_record(folder: EvidenceFolder, log: EvidenceLog, writer: LogWriter, at: str) -> list[bytes]:
    """Return a legacy text as the first record."""
    text = folder.read(log.text)
    if not text or not text.strip():
        return []
    if len(text) > MAX_LEGACY:
        raise Conflict(
            f"The legacy text {log.text} has {len(text):,} bytes, which is too large for one record.",
            hint="Move the file elsewhere.",
        )
    legacy = Legacy(fit(text.decode("utf-8-sig", "replace").replace("\r\n", "\n"), MAX_LEGACY))
    entry = next_entry(None, new_id(), Kind.LEGACY, legacy, at=at, signer=writer.signer.key)
    return [write_line(entry, writer.signer)]


def _write_text(folder: EvidenceFolder, log: EvidenceLog, end: _End, new: Sequence[Line]) -> None:
    if end.lines is None:
        added = "".join(log.render(line.entry) for line in new)
        folder.append(log.text, added.encode(), at=folder.size(log.text) or 0)
    else:
        folder.replace(log.text, log.full_text([*end.lines, *new]).encode())


def _line_of(raw: bytes) -> Line:
    line = read_line(raw.rstrip(b"\n"))
    if isinstance(line, str):
        raise AssertionError(f"a record that was just written cannot be read: {line}")
    return line
