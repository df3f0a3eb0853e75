"""Between JSON and the engine, which has two kinds of numbers, times, and maps without an order."""

import math
from datetime import datetime, timedelta
from typing import Any, cast

from pydantic import JsonValue

from forge.workflows.expressions.problem import ExpressionError


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


def whole_again(value: JsonValue) -> JsonValue:
    match value:
        case float() if value.is_integer() and abs(value) < 1 << 53:
            return int(value)
        case list():
            return [whole_again(item) for item in value]
        case dict():
            return {key: whole_again(item) for key, item in value.items()}
        case _:
            return value


def as_json(value: Any) -> JsonValue:
    match value:
        case float() if not math.isfinite(value):
            raise ExpressionError("The result is no number that JSON knows: it is infinite, or none at all.")
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
            raise ExpressionError(f"The result is no JSON: it is a {type(value).__name__}.")


def _map_as_json(value: dict[Any, Any]) -> JsonValue:
    """Sorted, since the engine keeps no order."""
    if not all(isinstance(key, str) for key in value):
        raise ExpressionError("The result is no JSON: the keys of a map have to be texts.")
    return {key: as_json(value[key]) for key in sorted(value)}
