"""JSON that came out of a skill, read strictly: what it is read as can be written again."""

import math
import re
from typing import Any, cast

from pydantic import JsonValue
from pydantic_core import from_json

HUGE = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")
"""What a number must have in it to be read as infinite."""
MAX_VALUES = 100_000
"""In what a skill gives. Reading is quick by the character and slow by the value, and everybody waits for it."""
MAX_ASKED = 64_000
"""In what it asks the host for; the largest value it may keep has fewer."""


def has_more_values(text: str, most: int) -> bool:
    """Whether JSON holds more than so many, found without reading it: what stands between texts is counted."""
    if len(text) <= most:
        return False
    unescaped = text.replace("\\\\", "").replace('\\"', "")
    if unescaped.count('"') > 4 * most:  # a value has two at most, and its key two more
        return True
    between = "".join(unescaped.split('"')[::2])
    return sum(map(between.count, ",[{")) > most


def read_json(text: str) -> JsonValue:
    """Raises ValueError: for NaN, numbers beyond all bounds, half characters, more than two hundred levels."""
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
    """None if they are no object."""
    try:
        found = read_json(text)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None
