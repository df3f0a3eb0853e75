"""Regular expressions and globs in linear time, based on RE2.

Python's `re` can take exponential time and cannot be interrupted. RE2 has neither look-around nor back
references; patterns that use them are invalid here.
"""

from collections.abc import Callable
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

MAX_PATTERN = 1000
MAX_MEMORY = 16 << 20

_engine: Any = re2


class Pattern:
    """A line pattern; offsets are in bytes of UTF-8."""

    def __init__(self, expression: str, *, literal: bool, case_sensitive: bool) -> None:
        """Raise ValueError if RE2 cannot parse the expression."""
        source = cast(bytes, _engine.escape(expression.encode())) if literal else expression.encode()
        self._find = _compile(b"(?m)" + source, case_sensitive=case_sensitive).search

    def find(self, text: bytes, start: int = 0) -> int | None:
        """Return the offset of the next match."""
        found = self._find(text, start)
        return None if found is None else found.start()


class Glob:
    """A glob: `*.py` matches file names, `src/**/*.ts` matches paths. Supports `*`, `?`, `[…]`, `{a,b}`
    and `**`."""

    def __init__(self, glob: str) -> None:
        """Raise ValueError if the glob is invalid."""
        if len(glob) > MAX_PATTERN:
            raise ValueError(f"not a pattern: longer than {MAX_PATTERN} characters")
        self._is_path = "/" in glob.strip("/")
        self._full: Callable[[bytes], object] = _compile(_translate(glob.strip("/"))).fullmatch

    def matches(self, path: str) -> bool:
        subject = path if self._is_path else path.rpartition("/")[2]
        return self._full(subject.encode("utf-8", "surrogateescape")) is not None


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
    """Return the message of an RE2 error, which may be bytes."""
    message: object = error.args[0] if error.args else error
    return message.decode("utf-8", "replace") if isinstance(message, bytes) else str(message)


_WILDCARDS = {"**/": b"(?:.*/)?", "**": b".*", "*": b"[^/]*", "?": b"[^/]"}


def _translate(glob: str) -> bytes:
    """Translate a glob into a regular expression."""
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
