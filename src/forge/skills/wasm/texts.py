"""JSON that came out of a skill, read strictly: what it is read as can be written again."""

import math
import re
from typing import Any, cast

from pydantic import JsonValue
from pydantic_core import from_json

HUGE = re.compile(r"[eE]\+?[0-9]{3}|[0-9]{300}")
"""What a number must have in it to be read as infinite."""


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
