"""Which names a file makes itself: a word of boundaries.json is about what comes from outside, not about a variable.

It is read from code without comments and strings, whatever the line breaks: a function on one line is no other than one on ten.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, cast

import re2  # pyright: ignore[reportMissingTypeStubs]

_engine: Any = re2

HANDED = frozenset((b"req", b"res", b"request", b"response", b"ctx"))
"""What frameworks hand to a function: there is no other way to get at them, so the parameter is the thing itself."""
_CONTROL = frozenset((b"if", b"for", b"while", b"switch", b"catch", b"with", b"return", b"await"))
_LIST = rb"(?:[^()]|\([^()]*\))*"
_FIRST = rb"\((?:" + _LIST + rb"[,{])?[\s*.]*WORD\b"
_ASSIGNED = (
    rb"(?m)\b(?:def|class|for|const|let|var|function|interface|type|enum|global|nonlocal)\s+WORD\b"
    rb"|(?:^|[^.\w$])WORD[ \t]*(?::[^=\n]*)?=[^=>]"
)
_PARAMETER = (
    rb"(?m)\bdef\s+\w+\s*(?:\[[^\]]*\])?" + _FIRST,
    rb"(?m)\blambda\b[^:()\n]*\bWORD\b",
    rb"(?m)\bfunction\b[^(\n]*" + _FIRST,
    rb"(?m)(\.(?:then|catch|pipe|map)\(\s*(?:async\s*)?)?" + _FIRST + _LIST + rb"\)\s*(?::[^=\n]*)?=>",
    rb"(?m)(\.(?:then|catch|pipe|map)\(\s*(?:async\s*)?)?(?:^|[^.\w$])?\bWORD\s*=>",
)
"""The answer of a request is called `res`, too, where it is the parameter of a callback."""
_METHOD = (
    rb"(?m)^\s*(?:(?:async|static|public|private|protected|override)\s+)*([#\w$]+)\s*"
    + _FIRST
    + _LIST
    + rb"\)\s*(?::[^{\n]*)?\{"
)


class _Kind(StrEnum):
    ASSIGNED = "assigned"
    PARAMETER = "parameter"
    CALLBACK = "callback"


@dataclass(frozen=True)
class OwnNames:
    code: bytes
    _known: dict[bytes, frozenset[_Kind]] = field(default_factory=dict[bytes, frozenset[_Kind]], repr=False)

    def has(self, word: bytes) -> bool:
        """Whether it is a variable, a function or a parameter of this file."""
        return bool(self._kinds(word))

    def is_handed(self, word: bytes) -> bool:
        """Whether a framework hands it in here."""
        return word in HANDED and _Kind.PARAMETER in self._kinds(word)

    def _kinds(self, word: bytes) -> frozenset[_Kind]:
        if word not in self._known:
            self._known[word] = frozenset(self._found(cast(bytes, _engine.escape(word))))
        return self._known[word]

    def _found(self, word: bytes) -> Iterator[_Kind]:
        if _engine.search(_ASSIGNED.replace(b"WORD", word), self.code):
            yield _Kind.ASSIGNED
        for shape in _PARAMETER:
            for found in _engine.finditer(shape.replace(b"WORD", word), self.code):
                is_callback = bool(found.groups()) and bool(found.group(1))
                yield _Kind.CALLBACK if is_callback else _Kind.PARAMETER
        for found in _engine.finditer(_METHOD.replace(b"WORD", word), self.code):
            if found.group(1) not in _CONTROL:
                yield _Kind.PARAMETER
