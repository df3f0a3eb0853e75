"""Parse JSON from a skill strictly: only values that can be serialized again."""

import math
import re
from typing import Any, cast

from pydantic import JsonValue
from pydantic_core import from_json

HUGE = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")
"""Matches every number that could be parsed as infinite."""
MAX_VALUES = 100_000
"""Maximum number of values in the output of a skill. Parsing many values would block the event loop."""
MAX_ASKED = 64_000
"""Maximum number of values in host call arguments; the largest value a skill may store has fewer."""


def has_more_values(text: str, most: int) -> bool:
    """Return whether JSON has more values than allowed, by counting separators outside strings, without parsing."""
    if len(text) <= most:
        return False
    unescaped = text.replace("\\\\", "").replace('\\"', "")
    if unescaped.count('"') > 4 * most:  # a value has two at most, and its key two more
        return True
    between = "".join(unescaped.split('"')[::2])
    return sum(map(between.count, ",[{")) > most


def read_json(text: str) -> JsonValue:
    """Parse JSON. Raises ValueError for NaN, infinite numbers, lone surrogates and more than 200 levels."""
    found = from_json(text, allow_inf_nan=False)
    if HUGE.search(text) and _has_infinity(found):
        raise ValueError("a number in it is too large")
    return found


def _has_infinity(value: JsonValue) -> bool:
    if isinstance(value, dict):
        return any(map(_has_infinity, value.values()))
    if isinstance(value, list):
        return any(map(_has_infinity, value))
    return isinstance(value, float) and math.isinf(value)


def read_arguments(text: str) -> dict[str, Any] | None:
    """Parse arguments; None if they are not an object."""
    try:
        found = read_json(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
