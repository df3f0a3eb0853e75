"""`USER.md`: what a person wants a bot to know about them. Plain Markdown; only people write it."""

import re

from forge.bots.files.markdown import sections, without_comments
from forge.bots.files.parsed import Parsed, parsed
from forge.bots.models import BotFile
from forge.documents.frontmatter import BOM
from forge.documents.places import Places
from forge.documents.problem import Problem
from forge.documents.text import unusable_text


def parse_user(text: str) -> Parsed[str]:
    """What it says: without comments, and nothing when there are only headings."""
    if problem := unusable_text(text):
        return parsed(BotFile.USER, None, [problem])
    said, unclosed = without_comments(text.removeprefix(BOM))
    if not _says_something(said):
        said = ""
    if unclosed is None:
        return Parsed(said.strip())
    line, column = Places(text).at(unclosed + len(text) - len(text.removeprefix(BOM)))
    problem = Problem(
        line, column, "A comment begins here and does not end.", "Close it with `-->`.", is_warning=True
    )
    return parsed(BotFile.USER, said.strip(), [problem])


def _says_something(text: str) -> bool:
    found = sections(text)
    written = sum(1 for line in text.splitlines() if line.strip())
    return written > len(found)


def render_user(name: str, purpose: str = "") -> str:
    """Headings, each with a comment: it is for the person who writes, and no fact for the bot. What the bot was made
    for is one."""
    briefing = _BRIEFING.format(name=_one_line(name))
    said = _one_line(purpose)
    return f"{briefing}\n{_MADE_FOR.format(name=_one_line(name), purpose=said)}\n" if said else briefing


def _one_line(text: str) -> str:
    return " ".join(_COMMENT_MARKS.sub(" ", text).split())


_COMMENT_MARKS = re.compile(r"[<>]|--+")
_BRIEFING = """\
# Preferences

<!-- How {name} should talk with you: language, length, form. -->

# Standing instructions

<!-- What always holds, such as: give prices in euros. -->

# Important context

<!-- What is good to know: your work, your projects, the people in them. -->
"""
_MADE_FOR = "I made {name} for this: {purpose}"
