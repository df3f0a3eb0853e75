"""Where things are in a TOML text: the reader of the standard library says what it holds, not where.

The text is cut into statements without understanding them, only strings, brackets and comments. A statement is small
enough to be read by itself, and of a text that cannot be read the first statement that spoils it can be searched for.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

from forge.bots.files.places import Places

Path = tuple[str, ...]

MOST_DEPTH = 4
"""Of keys that are looked for."""

_TOKEN = re.compile(
    r'''"""(?:[^\\]|\\.)*?"{3,5}'''
    r"""|\'\'\'.*?'{3,5}"""
    r"""|"(?:[^"\\\n]|\\.)*"?"""
    r"""|'[^'\n]*'?"""
    r"""|\#[^\n]*|[\[{]|[\]}]|\n|[^"'\#\[\]{}\n]+""",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Statement:
    start: int
    end: int
    text: str


def statements(text: str) -> list[Statement]:
    """Everything but blank lines and lines with a comment alone."""
    found: list[Statement] = []
    start = depth = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        depth = max(0, depth + (mark in ("[", "{")) - (mark in ("]", "}")))
        if (mark == "\n" and depth == 0) or token.end() == len(text):
            _add(found, text, start, token.end())
            start = token.end()
    return found


def _add(found: list[Statement], text: str, start: int, end: int) -> None:
    said = text[start:end]
    bare = said.lstrip()
    if bare and not bare.startswith("#"):
        found.append(Statement(start + len(said) - len(bare), end, bare))


def first_spoiler(text: str) -> Statement | None:
    """The statement up to which the text cannot be read, in a text that cannot be read."""
    found = statements(text)
    good, bad = 0, len(found)
    while good < bad:
        middle = (good + bad) // 2
        if _can_be_read(text[: found[middle].end]):
            good = middle + 1
        else:
            bad = middle
    return found[good] if good < len(found) else None


def _can_be_read(text: str) -> bool:
    try:
        tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False
    return True


class KeyLines:
    """The places of all keys and tables of a text that can be read."""

    def __init__(self, text: str) -> None:
        self._places = Places(text)
        self._starts: dict[Path, int] = {}
        table: Path = ()
        for statement in statements(text):
            content = tomllib.loads(statement.text)
            if statement.text.startswith("["):
                table = next(_paths(content, single=True))
                self._starts.setdefault(table, statement.start)
                continue
            for path in _paths(content):
                self._starts.setdefault((*table, *path), statement.start)

    def at(self, path: Path) -> tuple[int, int]:
        """Of the longest beginning of the path that is there."""
        for length in range(len(path), 0, -1):
            if path[:length] in self._starts:
                return self._places.at(self._starts[path[:length]])
        return 1, 1


def _paths(content: dict[str, Any], before: Path = (), *, single: bool = False) -> Iterator[Path]:
    """All paths of one statement; of the header of a table only the longest."""
    for name, value in content.items():
        path = (*before, name)
        inner = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
        if not (single and inner):
            yield path
        if inner and len(path) < MOST_DEPTH:
            yield from _paths(inner, path, single=single)
