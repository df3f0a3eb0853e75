"""What a text must be before anything in it is looked at."""

import re

from forge.bots.files.places import Places
from forge.bots.models import BotFile, FileProblem

_UNUSABLE = re.compile("[\x00\ud800-\udfff]")


def unusable_text(file: BotFile, text: str) -> FileProblem | None:
    """NUL, and halves of characters: neither a file nor a database keeps them."""
    found = _UNUSABLE.search(text)
    if found is None:
        return None
    line, column = Places(text).at(found.start())
    what = "a NUL character" if found[0] == "\x00" else "half of a character"
    return FileProblem(
        file=file, line=line, column=column, message=f"There is {what} here.", hint="Remove it."
    )
