"""Apply edits to text: each replaces a passage that occurs exactly once; all are applied or none.

A missing or ambiguous passage is refused with the details that a model needs to correct the edit.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_SHOWN = 10
MAX_COUNTED = 1000
MAX_COMPARED = 1_000_000
"""Characters; comparing the lines of a longer text would block the event loop."""


class EditRefused(ValueError):
    """An edit cannot be applied; the message says which, why and what would help."""


@dataclass(frozen=True)
class Replacement:
    old: str
    new: str


@dataclass(frozen=True)
class Document:
    """Text of a file with normalized line ends, which are restored when it is written."""

    text: str
    is_crlf: bool

    @classmethod
    def read(cls, data: bytes) -> "Document":
        """Decode a file. Invalid UTF-8 is preserved; CRLF is normalized if all line ends are CRLF."""
        text = data.decode("utf-8", "surrogateescape")
        is_crlf = has_windows_ends(data)
        return cls(plain(text) if is_crlf else text, is_crlf)

    def bytes_of(self, text: str) -> bytes:
        if self.is_crlf:
            text = plain(text).replace("\n", "\r\n")
        return text.encode("utf-8", "surrogateescape")

    def apply(self, edits: Sequence[Replacement]) -> str:
        """Apply the edits in order, each to the result of the previous one."""
        text = self.text
        for number, edit in enumerate(edits, 1):
            old, new = (plain(edit.old), plain(edit.new)) if self.is_crlf else (edit.old, edit.new)
            at = _only_offset(text, old, f"edit {number}" if len(edits) > 1 else "the edit")
            text = text[:at] + new + text[at + len(old) :]
        return text


def has_windows_ends(data: bytes) -> bool:
    """Return whether all line ends are CRLF; a mixed file is shown and edited unchanged."""
    return 0 < data.count(b"\r\n") == data.count(b"\n") == data.count(b"\r")


def plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _only_offset(text: str, old: str, label: str) -> int:
    if not old:
        raise EditRefused(f"{label}: old_text is empty.")
    offsets = list(_offsets(text, old))
    if len(offsets) == 1:
        return offsets[0]
    if not offsets:
        raise EditRefused(f"{label}: old_text does not occur in the file. {_hint(text, old)}")
    count = f"{len(offsets)}" if len(offsets) < MAX_COUNTED else f"at least {MAX_COUNTED}"
    lines = ", ".join(str(line_of(text, at)) for at in offsets[:MAX_SHOWN])
    more = ", …" if len(offsets) > MAX_SHOWN else ""
    raise EditRefused(
        f"{label}: old_text occurs {count} times (lines {lines}{more}). "
        "Include more of the surrounding lines, so that it occurs only once."
    )


def _offsets(text: str, old: str) -> Iterator[int]:
    """Yield the offsets of all occurrences, including overlapping ones."""
    at, found = text.find(old), 0
    while at >= 0 and found < MAX_COUNTED:
        yield at
        found += 1
        at = text.find(old, at + 1)


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _hint(text: str, old: str) -> str:
    """Suggest a fix. Most mistakes are white space, so report the lines that equal the first line without it."""
    first = next((line.split() for line in old.splitlines() if line.strip()), None)
    compared = text.split("\n") if len(text) <= MAX_COMPARED else []
    lines = [number for number, line in enumerate(compared, 1) if line.split() == first]
    if not lines:
        return "Read the file again and copy the passage exactly."
    shown = ", ".join(map(str, lines[:MAX_SHOWN]))
    return f"Its first line is like line {shown}: copy the passage exactly, with its white space."
