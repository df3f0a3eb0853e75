"""Compile RE2 patterns for arbitrary bytes (as Latin-1), with linear matching time."""

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

_engine: Any = re2
_MEMORY = 64 << 20


class Match(Protocol):
    def start(self, group: int = 0) -> int: ...
    def end(self, group: int = 0) -> int: ...
    def group(self, group: int = 0) -> bytes | None: ...
    def groups(self) -> tuple[bytes | None, ...]: ...


class Pattern(Protocol):
    def search(self, text: bytes, start: int = 0) -> Match | None: ...
    def fullmatch(self, text: bytes) -> Match | None: ...
    def finditer(self, text: bytes) -> Iterator[Match]: ...


@cache
def compiled(expression: str) -> Pattern:
    """Compile a pattern on first use, as most rules are never needed."""
    options = _engine.Options()
    options.encoding = _engine.Options.Encoding.LATIN1
    options.max_mem = _MEMORY
    options.log_errors = False
    return cast(Pattern, _engine.compile(expression.encode("latin-1"), options))
