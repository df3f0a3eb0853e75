"""Text that bots bring along, before another model reads it as the description of a tool."""

import unicodedata

from forge.kernel.text import cut_line

LONGEST = 500
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn"})
_JOINER = "\N{ZERO WIDTH JOINER}"
"""Holds some emoji together, and shows."""


def plain(text: str, longest: int = LONGEST) -> str:
    """One line without anything that a person would not see: control characters, marks of direction, tags."""
    seen = "".join(" " if _is_hidden(character) else character for character in text)
    return cut_line(seen, longest)


def _is_hidden(character: str) -> bool:
    return character != _JOINER and unicodedata.category(character) in _HIDDEN
