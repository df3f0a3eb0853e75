"""Find the positions of keys and errors in TOML, which `tomllib` does not report.

The text is split into statements by looking only at strings, brackets and comments. Each statement is then parsed on
its own, and the first invalid statement is found by bisection.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

Path = tuple[str, ...]

MAX_DEPTH = 16
"""`tomllib` uses gigabytes of memory for keys with many dots."""

_TOKEN = re.compile(
    r'"""(?:[^\\]|\\.)*?(?:"{3,5}|\\?\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:[^"\\\n]|\\[^\n])*"?'
    r"|'[^'\n]*'?"
    r"|#[^\n]*"
    r"|[^\"'#]",
    re.DOTALL,
)
_DEEPER, _HIGHER = "[{", "]}"
_SEPARATORS = "=,\n" + _DEEPER + _HIGHER


class TooDeep(ValueError):
    """A text is nested deeper than MAX_DEPTH."""

    def __init__(self, offset: int) -> None:
        super().__init__("nested too deeply")
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Statement:
    start: int
    end: int
    text: str


def read_toml(text: str) -> dict[str, Any]:
    """Parse TOML with `\\n` line endings. Raises TooDeep, or another ValueError if it is invalid."""
    statements(text)
    return tomllib.loads(text)


def statements(text: str) -> list[Statement]:
    """Split a text into statements, without blank lines and comment lines. Raises TooDeep."""
    found: list[Statement] = []
    start = depth = dots = 0
    for token in _TOKEN.finditer(text):
        mark = token[0]
        dots = 0 if mark in _SEPARATORS else dots + (mark == ".")
        depth = max(0, depth + (mark in _DEEPER) - (mark in _HIGHER))
        if depth + dots > MAX_DEPTH:
            raise TooDeep(start)
        if mark == "\n" and depth == 0:
            _add(found, text, start, token.end())
            start = token.end()
    _add(found, text, start, len(text))
    return found


def _add(found: list[Statement], text: str, start: int, end: int) -> None:
    line = text[start:end]
    bare = line.lstrip()
    if bare and not bare.startswith("#"):
        found.append(Statement(start + len(line) - len(bare), end, bare))


def first_invalid_statement(text: str) -> Statement | None:
    """Return the first statement that makes an invalid text invalid."""
    found = statements(text)
    good, bad = 0, len(found)
    while good < bad:
        middle = (good + bad) // 2
        if _is_valid_toml(text[: found[middle].end]):
            good = middle + 1
        else:
            bad = middle
    return found[good] if good < len(found) else None


def _is_valid_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except ValueError:
        return False
    return True


class KeyPositions:
    """Positions of all keys and tables of a valid text."""

    def __init__(self, text: str) -> None:
        self._starts: dict[Path, int] = {}
        table: Path = ()
        for statement in statements(text):
            content = tomllib.loads(statement.text)
            if statement.text.startswith("["):
                table = _header(content)
                for length in range(1, len(table) + 1):  # `[a.b]` also creates `a`
                    self._starts.setdefault(table[:length], statement.start)
                continue
            for path in _paths(content):
                self._starts.setdefault((*table, *path), statement.start)

    def at(self, path: Path) -> int:
        """Return the offset of the longest existing prefix of a path."""
        known = (path[:length] for length in range(len(path), 0, -1) if path[:length] in self._starts)
        return self._starts[next(known)]


def _header(content: dict[str, Any]) -> Path:
    path: Path = ()
    while content:
        name, inner = next(iter(content.items()))
        path = (*path, name)
        content = cast("dict[str, Any]", inner) if isinstance(inner, dict) else {}
    return path


def _paths(content: dict[str, Any], before: Path = ()) -> Iterator[Path]:
    for name, value in content.items():
        path = (*before, name)
        yield path
        if isinstance(value, dict):
            yield from _paths(cast("dict[str, Any]", value), path)
