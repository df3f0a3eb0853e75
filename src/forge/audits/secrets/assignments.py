"""Names that are given a value, in whatever language: code, JSON, YAML, .env, XML, a command line, a header."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from forge.audits.secrets.patterns import compiled
from forge.audits.secrets.rules import VENDORS

_PROMISING = "passw|passphrase|pwd|[_.-]pass|dbpass|secret|token|key|credential|creds|auth|access|client|api|dsn|login|sid"
_NAME = r"[\w.$\[\]-]*"
_MORE = r"[\w.$\[\] -]*"
"""What else belongs to the name, in words: `asana token 2 = …`."""
_LINK = (
    r"(?:\\?[\"'`]|[\])])*\s*"
    r"(?::\s*[A-Za-z_][\w.\[\]| ]*=|[Ss]tring\s*=|[:=!~?]{1,3}[=>]?|->|\|\|=?|,|\(|>|value\s*=)\s*"
    r"\(?"
)
_VALUE = (
    r"(?:[bBrRuUfFL@]{0,2}\\?\"([^\"'\s\\]{6,400})\\?\"|[bBrRuUfFL@]{0,2}\\?'([^\"'\s\\]{6,400})\\?'|`([^`\s]{6,400})`"
    r"|[\"'\\]{0,4}([^\s\"'`,;<>(){}\[\]\\|&]{6,400}))"
)
_ANY_VALUE = r"(?:[bBrRuUfFL@]{0,2}[\"'`\\]{1,4})?(?:[^\s\"'`]*[0-9]|[A-Za-z]{14})"
_MOST = 64
"""Of one window: more are only found where somebody wants to keep us busy."""
_QUOTED = 6
"""The group of a value without quotes."""


@dataclass(frozen=True, slots=True)
class Assignment:
    name: bytes
    value: bytes
    start: int
    end: int
    """Of the value."""
    is_quoted: bool


@cache
def lead() -> str:
    """Found wherever an assignment worth looking at begins; cheap."""
    return f"(?i:{_words()}){_MORE}(?:{_LINK}|\\s+){_ANY_VALUE}"


def assignments(line: bytes) -> Iterator[Assignment]:
    yield from _found(f"((?i:{_NAME}?(?:{_words()}){_MORE}))({_LINK}){_VALUE}", line)
    if b"--" in line or b" -" in line:
        yield from _found(f"(--?(?i:[\\w-]*(?:{_words()})[\\w-]*))(\\s+){_VALUE}", line)


def _found(pattern: str, line: bytes) -> Iterator[Assignment]:
    at = 0
    for _ in range(_MOST):
        found = compiled(pattern).search(line, at)
        if found is None:
            return
        group = next(number for number in (3, 4, 5, 6) if found.group(number) is not None)
        yield Assignment(
            name=found.group(1) or b"",
            value=found.group(group) or b"",
            start=found.start(group),
            end=found.end(group),
            is_quoted=group != _QUOTED,
        )
        at = found.end(1)


@cache
def _words() -> str:
    return "|".join([_PROMISING, *sorted({word for vendor in VENDORS for word in vendor.words})])
