"""Find headings and comments in Markdown, ignoring code blocks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})(?=[ \t]|$)")
_BLANK = " \t"

_OPEN, _CLOSE = "<!--", "-->"


@dataclass(frozen=True, slots=True)
class Line:
    number: int
    """Counts from 1."""
    start: int
    text: str
    """Includes the line ending."""
    is_code: bool


@dataclass(slots=True)
class Section:
    """A heading and the text below it, up to the next heading of the same or a higher level."""

    title: str
    line: int
    level: int
    is_empty: bool = True


def lines(text: str) -> Iterator[Line]:
    fence = ""
    number = 0
    for found in _LINE.finditer(text):
        line, number = found[0], number + 1
        if not line:
            return
        mark = _FENCE.match(line)
        is_code = bool(fence or mark)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            fence = ""
        yield Line(number, found.start(), line, is_code)


def sections(text: str) -> list[Section]:
    found: list[Section] = []
    open_sections: list[Section] = []
    for line in lines(text):
        heading = None if line.is_code else _HEADING.match(line.text.rstrip("\r\n"))
        if heading:
            level = len(heading[1])
            open_sections = [section for section in open_sections if section.level < level]
            open_sections.append(Section(_title(line.text[heading.end() :]), line.number, level))
            found.append(open_sections[-1])
        elif line.text.strip():
            for section in open_sections:
                section.is_empty = False
    return found


def _title(rest: str) -> str:
    """Return a heading without closing marks. A regular expression would backtrack quadratically on blanks."""
    title = rest.strip()
    bare = title.rstrip("#")
    return bare.rstrip() if not bare or bare[-1] in _BLANK else title


def without_comments(text: str) -> tuple[str, int | None]:
    """Return the text without comments, and the offset of an unclosed comment, which stays in the text."""
    parts: list[str] = []
    opened: int | None = None
    for line in lines(text):
        if line.is_code and opened is None:
            parts.append(line.text)
            continue
        rest, begin = _strip(line.text, is_open=opened is not None)
        if begin is None:
            opened = None
        elif begin >= 0:
            opened = line.start + begin
        if rest.strip() or rest == line.text:
            parts.append(rest)
    return "".join(parts) + ("" if opened is None else text[opened:]), opened


def _strip(line: str, *, is_open: bool) -> tuple[str, int | None]:
    """Return the line without comments, and the offset of a comment that continues on the next line (-1: it started earlier)."""
    parts: list[str] = []
    position, begin = 0, -1
    while True:
        if is_open:
            close = line.find(_CLOSE, position)
            if close < 0:
                return "".join(parts), begin
            position = close + len(_CLOSE)
        begin = line.find(_OPEN, position)
        if begin < 0:
            return "".join([*parts, line[position:]]), None
        parts.append(line[position:begin])
        position, is_open = begin + len(_OPEN), True
