"""Text of others inside a prompt: it stays in its section, whatever it says."""

import re

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
_TAG = re.compile(rf"<(?=\s{{0,9}}/?\s{{0,9}}(?:{'|'.join(SECTIONS)})\b)", re.IGNORECASE)
"""Blanks as well: a parser would not take such a tag for one, a model does."""


def section(name: str, text: str) -> str:
    text = text.strip()
    return f"<{name}>\n{quoted(text)}\n</{name}>" if text else ""


def quoted(text: str) -> str:
    """No text can end a section or begin one of its own."""
    return _TAG.sub("&lt;", text)


def on_one_line(text: str, most: int) -> str:
    """Quoted as well; what is too long ends with an ellipsis."""
    line = " ".join(text.split())
    return quoted(line if len(line) <= most else line[: most - 1].rstrip() + "…")
