"""Parse and write `USER.md`, plain Markdown that only people edit."""

import re

from forge.bots.files.markdown_sections import sections, without_comments
from forge.bots.files.parsed import Parsed, parse_result
from forge.bots.models import BotFile
from forge.documents.frontmatter import BOM
from forge.documents.problems import Problem, TextPositions, find_unusable_text


def parse_user(text: str) -> Parsed[str]:
    """Return the text without comments; empty if there are only headings."""
    if problem := find_unusable_text(text):
        return parse_result(BotFile.USER, None, [problem])
    content, unclosed = without_comments(text.removeprefix(BOM))
    if not _has_content(content):
        content = ""
    if unclosed is None:
        return Parsed(content.strip())
    line, column = TextPositions(text).at(unclosed + len(text) - len(text.removeprefix(BOM)))
    problem = Problem(line, column, "The comment is not closed.", "Close it with `-->`.", is_warning=True)
    return parse_result(BotFile.USER, content.strip(), [problem])


def _has_content(text: str) -> bool:
    found = sections(text)
    written = sum(1 for line in text.splitlines() if line.strip())
    return written > len(found)


def render_user(name: str, purpose: str = "") -> str:
    """Return a template of headings with comments, which the bot does not read, and the purpose, which it does."""
    briefing = _BRIEFING.format(name=_one_line(name))
    purpose = _one_line(purpose)
    return f"{briefing}\n{_MADE_FOR.format(name=_one_line(name), purpose=purpose)}\n" if purpose else briefing


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
