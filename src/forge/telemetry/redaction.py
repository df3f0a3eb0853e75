"""Mask everything that looks like a secret in logs and traces.

False positives are cheap, a leaked key is not. So no pattern requires a word boundary where quoted or escaped text
(`\\nghp_…`) could lack one.
"""

import math
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, NamedTuple, cast

MASK = "•••"
MAX_DEPTH = 6

_NAMES = r"token|secret|passwd|password|passphrase|api[_-]?key|authorization|cookie|session"
_LONG_NAMES = rf"(?:[\w-]*[_-])?(?:{_NAMES})"
"""Matches `access_token` and `x-api-key`, but not `input_tokens`."""
_SECRET_NAME = re.compile(_LONG_NAMES, re.IGNORECASE)


class _Rule(NamedTuple):
    """Searches for `pattern` only if `mark` (in lower case) occurs, which is rare and fast to check."""

    mark: str
    pattern: re.Pattern[str]
    replacement: str = MASK


def _named(mark: str, pattern: str, after: str = "") -> _Rule:
    """Make a rule that keeps group 1."""
    return _Rule(mark, re.compile(pattern, re.IGNORECASE), rf"\1{MASK}{after}")


_RULES = (
    _named("://", r"(?<!http)(?<!https)(://[^\s:/@?#]*:)\S{1,512}@", "@"),
    _named("://", r"(?<=http|ttps)(://[^\s:/@?#]*:)[^\s/]{1,512}@", "@"),
    _Rule("forge_", re.compile(r"forge_[A-Za-z0-9_-]{20,}")),
    _Rule("sk-", re.compile(r"sk-(?:ant|proj|svcacct|admin|or)-[A-Za-z0-9_-]{8,}")),
    _Rule("sk-", re.compile(r"sk-[A-Za-z0-9]{20,}|(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}")),  # not task-<uuid>
    _Rule("gh", re.compile(r"gh[opusr]_[A-Za-z0-9]{20,}")),
    _Rule("github_pat_", re.compile(r"github_pat_[A-Za-z0-9_]{20,}")),
    _named("bearer", r"((?:bearer\s+)+)[^\s\"'<>]+"),
    _named("=", rf"((?:{_NAMES})=[\"']?)[^\s&#\"'<>]+"),
    _named("=", r"([?&](?:code|key|sig|signature)=)[^\s&#\"'<>]+"),
    _named("api-key", r"(api-key\s*:\s*)[^\s\"'<>]+"),
    _named("authorization", r"(authorization\s*:\s*(?:(?:basic|bearer|digest|token)\s+)*)[^\s\"'<>]+"),
    _named("cookie", r"(cookie\s*:\s*)[^\r\n\"'<>]+"),
    _named(":", rf"([\"']{_LONG_NAMES}[\"']\s*:\s*[\"'])[^\"']+"),
)


def redact(text: str) -> str:
    marks = text.lower()
    for rule in _RULES:
        if rule.mark in marks:
            text = rule.pattern.sub(rule.replacement, text)
    return text


def redact_value(value: object, depth: int = 0) -> object:
    """Convert a value to JSON without secrets. Never raises."""
    match value:
        case None | bool() | int():
            return value
        case str():
            return redact(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case Mapping() if depth < MAX_DEPTH:
            return redact_mapping(cast("Mapping[Any, object]", value), depth)
        case list() | tuple() | set() | frozenset() if depth < MAX_DEPTH:
            return [redact_value(item, depth + 1) for item in cast("Iterable[object]", value)]
        case _:
            return _redact_text_of(value)


def redact_mapping(values: Mapping[Any, object], depth: int = 0) -> dict[str, object]:
    """Redact a mapping; values of names such as `password` are masked completely."""
    named = ((_redact_text_of(name), value) for name, value in values.items())
    return {
        name: MASK if _SECRET_NAME.fullmatch(name) and value else redact_value(value, depth + 1)
        for name, value in named
    }


def _redact_text_of(value: object) -> str:
    with suppress(Exception):
        return redact(str(value))
    return f"<{type(value).__name__}>"
