"""Problems in a text, with line and column, and checks of the raw text."""

import re
from bisect import bisect_right
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem at a line and column, both counted from 1."""

    line: int
    column: int
    message: str
    hint: str | None = None
    is_warning: bool = False
    """The text can be used despite a warning."""


LINE_END = re.compile(r"\r\n|\n|\r")


class TextPositions:
    """Lines and columns of a text, counted from 1, with the line ends that all editors agree on."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(end.end() for end in LINE_END.finditer(text))]

    def at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1


_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069]|[\U000e0000-\U000e007f]{8}")
"""Bidirectional overrides, and runs of invisible tag characters (short runs are parts of flag emoji)."""


def find_unusable_text(text: str) -> Problem | None:
    """Find NUL characters and unpaired surrogates, which files and databases cannot store."""
    found = _UNSTORABLE.search(text)
    if found is None:
        return None
    line, column = TextPositions(text).at(found.start())
    what = "a NUL character" if found[0] == "\x00" else "an unpaired surrogate"
    return Problem(line, column, f"The text contains {what}.", "Remove it.")


def find_hidden_text(text: str) -> Problem | None:
    """Find characters that make a text look different from what it contains, against hidden instructions."""
    found = _HIDDEN.search(text)
    if found is None:
        return None
    line, column = TextPositions(text).at(found.start())
    return Problem(
        line,
        column,
        f"The text contains invisible or misleading characters (U+{ord(found[0][0]):04X}).",
        "Remove it. If you did not write it, do not trust the rest.",
        is_warning=True,
    )
