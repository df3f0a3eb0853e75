"""Convert and describe the values of expressions. Unlike JSON, CEL has two number types, times and unordered maps."""

import json
import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, cast

from pydantic import JsonValue

from forge.workflows.expressions.errors import ExpressionError


def as_doubles(value: Any) -> Any:
    match value:
        case int() if not isinstance(value, bool):
            return float(value)
        case list():
            return [as_doubles(item) for item in cast("list[Any]", value)]
        case dict():
            return {key: as_doubles(item) for key, item in cast("dict[str, Any]", value).items()}
        case _:
            return value


def restore_integers(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer() and abs(value) < 1 << 53:
            return int(value)
        case list():
            return [restore_integers(item) for item in value]
        case dict():
            return {key: restore_integers(item) for key, item in value.items()}
        case _:
            return value


def as_json(value: Any) -> JsonValue:
    match value:
        case float() if not math.isfinite(value):
            raise ExpressionError("The result is infinite or not a number, which JSON cannot represent.")
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [as_json(item) for item in cast("list[Any]", value)]
        case dict():
            return _map_as_json(cast("dict[Any, Any]", value))
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case timedelta():
            return f"{value.total_seconds():g}s"
        case _:
            raise ExpressionError(
                f"The result cannot be represented as JSON: it is a {type(value).__name__}."
            )


def _map_as_json(value: dict[Any, Any]) -> JsonValue:
    """Convert a map with sorted keys, because CEL does not keep their order."""
    if not all(isinstance(key, str) for key in value):
        raise ExpressionError("The result cannot be represented as JSON: map keys must be strings.")
    return {key: as_json(value[key]) for key in sorted(value)}


def is_truthy(value: object) -> bool:
    """Return the truth value as in JavaScript: null, false, 0 and "" are false; all lists and maps are true."""
    return value is not None and value is not False and value != 0 and value != "" and value == value


def as_text(value: JsonValue) -> str:
    """Return a string as is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def kind_of(value: object) -> str:
    """Return the type of a value, for messages."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int() | float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case dict():
            return "a map"
        case _:
            return f"a {type(value).__name__}"


def reach(value: Any, path: list[Any]) -> tuple[Any, bool]:
    """Return the value at a path, and whether it exists."""
    for segment in path:
        if isinstance(value, Mapping) and segment in value:
            value = cast("Mapping[Any, Any]", value)[segment]
        elif isinstance(value, list) and _is_index(segment) and 0 <= segment < len(cast("list[Any]", value)):
            value = cast("list[Any]", value)[int(segment)]
        else:
            return None, False
    return value, True


def _is_index(segment: object) -> bool:
    return isinstance(segment, int | float) and not isinstance(segment, bool) and int(segment) == segment
