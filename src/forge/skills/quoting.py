"""Text of others inside a prompt: it stays in its section, whatever it says."""

import re

from forge.kernel.text import cut_line

SECTIONS = (
    "soul",
    "identity",
    "user",
    "memory",
    "skills",
    "skill",
    "skill_file",
    "skill_output",
    "used",
    "instructions",
    "skill_input",
    "recalled",
    "summary",
    "before",
    "conversation",
)
"""Of every prompt a skill's text can be in."""
_UNSEEN = r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]{0,9}"
_BLANK = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]{0,9}"
_NAMES = "|".join(_UNSEEN.join(name) for name in SECTIONS)
_TAG = re.compile(rf"[<\uff1c\ufe64](?={_BLANK}[/\uff0f]?{_BLANK}(?:{_NAMES})\b)", re.IGNORECASE)
"""Blanks as well, and what nobody sees: a parser would not take such a tag for one, a model does."""
_SMUGGLED = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f)|[\U000e0000-\U000e007f]"  # the former are flags
)
"""A second alphabet that is shown to no person, and read by models."""


def section(name: str, text: str) -> str:
    text = text.strip()
    return f"<{name}>\n{quoted(text)}\n</{name}>" if text else ""


def quoted(text: str) -> str:
    """No text can end a section or begin one of its own, and none is there that a person would not see."""
    seen = _SMUGGLED.sub(lambda found: found[1] or "", text)
    return _TAG.sub("&lt;", seen)


def on_one_line(text: str, most: int) -> str:
    """Quoted as well; what is too long ends with an ellipsis."""
    return quoted(cut_line(text, most))
