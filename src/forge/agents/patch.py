"""Anchored edits: each names a passage that occurs exactly once, and what takes its place. All of them, or none.

Pure text in, text out. Nothing is guessed: a passage that is not there, or there twice, is refused with what a model
needs to say it better.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

MAX_SHOWN = 10
MAX_COUNTED = 1000
MAX_COMPARED = 1_000_000
"""Characters; to compare all lines of a larger text would hold up everyone else."""


class EditRefused(ValueError):
    """Which edit cannot be applied, why, and what would help."""


@dataclass(frozen=True)
class Replacement:
    old: str
    new: str


@dataclass(frozen=True)
class Document:
    """A file's text with plain line ends, and how it is written back."""

    text: str
    is_crlf: bool

    @classmethod
    def read(cls, data: bytes) -> "Document":
        """Bytes that are no UTF-8 survive; line ends of Windows are hidden when all of them are."""
        text = data.decode("utf-8", "surrogateescape")
        is_crlf = has_windows_ends(data)
        return cls(plain(text) if is_crlf else text, is_crlf)

    def bytes_of(self, text: str) -> bytes:
        if self.is_crlf:
            text = plain(text).replace("\n", "\r\n")
        return text.encode("utf-8", "surrogateescape")

    def apply(self, edits: Sequence[Replacement]) -> str:
        """The text after all edits, each on the result of the one before."""
        text = self.text
        for number, edit in enumerate(edits, 1):
            old, new = (plain(edit.old), plain(edit.new)) if self.is_crlf else (edit.old, edit.new)
            at = _only_place(text, old, f"edit {number}" if len(edits) > 1 else "the edit")
            text = text[:at] + new + text[at + len(old) :]
        return text


def has_windows_ends(data: bytes) -> bool:
    """All of them: a file with both kinds is shown and edited as it is."""
    return 0 < data.count(b"\r\n") == data.count(b"\n") == data.count(b"\r")


def plain(text: str) -> str:
    return text.replace("\r\n", "\n")


def _only_place(text: str, old: str, which: str) -> int:
    if not old:
        raise EditRefused(f"{which}: old_text is empty.")
    places = list(_places(text, old))
    if len(places) == 1:
        return places[0]
    if not places:
        raise EditRefused(f"{which}: old_text does not occur in the file. {_hint(text, old)}")
    count = f"{len(places)}" if len(places) < MAX_COUNTED else f"at least {MAX_COUNTED}"
    lines = ", ".join(str(line_of(text, at)) for at in places[:MAX_SHOWN])
    more = ", …" if len(places) > MAX_SHOWN else ""
    raise EditRefused(
        f"{which}: old_text occurs {count} times (lines {lines}{more}). "
        "Include more of the lines around it, so that it occurs once."
    )


def _places(text: str, old: str) -> Iterator[int]:
    """Where it begins; places may overlap, since each of them could have been meant."""
    at, found = text.find(old), 0
    while at >= 0 and found < MAX_COUNTED:
        yield at
        found += 1
        at = text.find(old, at + 1)


def line_of(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1


def _hint(text: str, old: str) -> str:
    """The most common mistake is white space; where the first line would fit without it, its numbers are told."""
    first = next((line.split() for line in old.splitlines() if line.strip()), None)
    compared = text.split("\n") if len(text) <= MAX_COMPARED else []
    lines = [number for number, line in enumerate(compared, 1) if line.split() == first]
    if not lines:
        return "Read the file again and copy the passage exactly."
    shown = ", ".join(map(str, lines[:MAX_SHOWN]))
    return f"Its first line is like line {shown}: copy the passage exactly, with its white space."
