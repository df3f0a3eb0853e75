"""What a text must be before anything in it is looked at."""

import re

from forge.documents.places import Places
from forge.documents.problem import Problem

_UNUSABLE = re.compile("[\x00\ud800-\udfff]")


def unusable_text(text: str) -> Problem | None:
    """NUL, and halves of characters: neither a file nor a database keeps them."""
    found = _UNUSABLE.search(text)
    if found is None:
        return None
    line, column = Places(text).at(found.start())
    what = "a NUL character" if found[0] == "\x00" else "half of a character"
    return Problem(line, column, f"There is {what} here.", "Remove it.")
