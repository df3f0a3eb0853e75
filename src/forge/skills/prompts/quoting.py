"""Quote untrusted text inside a prompt, so that it cannot leave its section."""

import re

from forge.kernel.text import truncate_line

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
"""The section tags of all prompts that can contain text of a skill."""
_UNSEEN = r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]{0,9}"
_BLANK = r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]{0,9}"
_NAMES = "|".join(_UNSEEN.join(name) for name in SECTIONS)
_TAG = re.compile(rf"[<\uff1c\ufe64](?={_BLANK}[/\uff0f]?{_BLANK}(?:{_NAMES})\b)", re.IGNORECASE)
"""Includes blanks and invisible characters: a parser would not accept such a tag, but a model does."""
_SMUGGLED = re.compile(
    "(\U0001f3f4[\U000e0020-\U000e007e]{1,6}\U000e007f)|[\U000e0000-\U000e007f]"  # the former are flags
)
"""Invisible tag characters, which models can read."""


def section(name: str, text: str) -> str:
    text = text.strip()
    return f"<{name}>\n{quoted(text)}\n</{name}>" if text else ""


def quoted(text: str) -> str:
    """Escape section tags and remove invisible characters."""
    seen = _SMUGGLED.sub(lambda found: found[1] or "", text)
    return _TAG.sub("&lt;", seen)


def on_one_line(text: str, most: int) -> str:
    """Quote text and cut it to one line, with an ellipsis if it is too long."""
    return quoted(truncate_line(text, most))
