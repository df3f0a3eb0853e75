"""What a text must be before anything in it is looked at."""

import re

from forge.documents.places import Places
from forge.documents.problem import Problem

_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
_UNSEEN = re.compile("[\u202a-\u202e\u2066-\u2069]|[\U000e0000-\U000e007f]{8}")
"""What turns text around, and an alphabet no font has; fewer letters of it make a flag."""


def unusable_text(text: str) -> Problem | None:
    """NUL, and halves of characters: neither a file nor a database keeps them."""
    found = _UNUSABLE.search(text)
    if found is None:
        return None
    line, column = Places(text).at(found.start())
    what = "a NUL character" if found[0] == "\x00" else "half of a character"
    return Problem(line, column, f"There is {what} here.", "Remove it.")


def unseen_text(text: str) -> Problem | None:
    """Characters that make a text read differently than it looks, to a person who decides on it."""
    found = _UNSEEN.search(text)
    if found is None:
        return None
    line, column = Places(text).at(found.start())
    return Problem(
        line,
        column,
        f"There is text here that is not seen, or not as it is (U+{ord(found[0][0]):04X}).",
        "Remove it. If you did not write it, do not trust the rest.",
        is_warning=True,
    )
