"""Patterns that cannot hang: RE2 looks at each byte once, whatever the expression.

Python's `re` can take centuries for a short expression and cannot be interrupted. RE2 has no look-around and no
back references; expressions that need them are not patterns here.
"""

from collections.abc import Callable
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

MAX_PATTERN = 1000
MAX_MEMORY = 16 << 20

_engine: Any = re2


class Pattern:
    """Finds the next line that matches; offsets are in bytes of UTF-8."""

    def __init__(self, expression: str, *, literal: bool, case_sensitive: bool) -> None:
        """ValueError when the expression is none of RE2's."""
        source = cast(bytes, _engine.escape(expression.encode())) if literal else expression.encode()
        self._find = _compile(b"(?m)" + source, case_sensitive=case_sensitive).search

    def find(self, text: bytes, start: int = 0) -> int | None:
        """Where the next match begins."""
        found = self._find(text, start)
        return None if found is None else found.start()


class Glob:
    """`*.py` asks for the name of a file, `src/**/*.ts` for its path; `*`, `?`, `[…]`, `{a,b}` and `**` are known."""

    def __init__(self, glob: str) -> None:
        """ValueError when it cannot be read."""
        if len(glob) > MAX_PATTERN:
            raise ValueError(f"not a pattern: longer than {MAX_PATTERN} characters")
        self._is_path = "/" in glob.strip("/")
        self._full: Callable[[bytes], object] = _compile(_translate(glob.strip("/"))).fullmatch

    def matches(self, path: str) -> bool:
        asked = path if self._is_path else path.rpartition("/")[2]
        return self._full(asked.encode("utf-8", "surrogateescape")) is not None


def _compile(source: bytes, *, case_sensitive: bool = True) -> Any:
    options = _engine.Options()
    options.case_sensitive = case_sensitive
    options.never_nl = True
    options.never_capture = True
    options.log_errors = False
    options.max_mem = MAX_MEMORY
    try:
        return _engine.compile(source, options)
    except _engine.error as error:
        raise ValueError(f"not a pattern: {reason(error)}") from error


def reason(error: Exception) -> str:
    """Why RE2 cannot take an expression: it says so in bytes."""
    said: object = error.args[0] if error.args else error
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)


_WILDCARDS = {"**/": b"(?:.*/)?", "**": b".*", "*": b"[^/]*", "?": b"[^/]"}


def _translate(glob: str) -> bytes:
    """The expression of a glob."""
    expression, rest, depth = b"", glob, 0
    while rest:
        piece = next((piece for piece in _WILDCARDS if rest.startswith(piece)), rest[0])
        if piece == "[" and (end := rest.find("]", 2)) > 0:
            piece = rest[: end + 1]
            expression += _character_class(piece[1:-1])
        elif piece in ("{", "}") or (piece == "," and depth):
            depth += {"{": 1, "}": -1, ",": 0}[piece]
            expression += {"{": b"(?:", "}": b")", ",": b"|"}[piece]
        else:
            expression += _WILDCARDS.get(piece) or cast(bytes, _engine.escape(piece.encode()))
        rest = rest[len(piece) :]
    return expression


def _character_class(inner: str) -> bytes:
    negated = inner[:1] in ("!", "^")
    characters = (inner[1:] if negated else inner).replace("\\", "\\\\").replace("[", "\\[")
    return f"[{'^' if negated else ''}{characters}]".encode()
