"""The functions that Forge adds to CEL, called as `x.lower()`, `x | lower` or `lower(x)`."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.values import as_json, as_text, is_truthy, kind_of, reach

MAX_TEXT = 8_000_000
"""The maximum length of the result of a function."""

Function = Callable[..., Any]

NATIVE = {"double", "duration", "int", "matches", "timestamp", "type"} | {
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getFullYear",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getSeconds",
}
"""Functions of CEL itself."""
MACROS = {"all", "exists", "exists_one", "existsOne", "filter", "map"}


def _text(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    raise ExpressionError(
        f"{name} expects a string, got {kind_of(value)}.",
        hint="Convert the value with string(x) or json(x).",
    )


def _list(value: object, name: str) -> list[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value)
    raise ExpressionError(f"{name} expects a list, got {kind_of(value)}.")


def _fits(length: int, name: str) -> None:
    if length > MAX_TEXT:
        raise ExpressionError(f"The result of {name} has more than {MAX_TEXT:,} characters.")


def _lower(value: object) -> str:
    return _text(value, "lower").lower()


def _upper(value: object) -> str:
    return _text(value, "upper").upper()


def _trim(value: object) -> str:
    return _text(value, "trim").strip()


def _split(value: object, separator: object = ",") -> list[str]:
    mark = _text(separator, "split")
    if not mark:
        raise ExpressionError("split needs a separator that is not empty.")
    return _text(value, "split").split(mark)


def _not(value: object) -> bool:
    return not is_truthy(value)


def _contains(value: object, part: object) -> bool:
    if isinstance(value, list | dict):
        return part in cast("list[object] | dict[object, object]", value)
    return _text(part, "contains") in _text(value, "contains")


def _match(value: object, part: object) -> bool:
    return _text(part, "match") in _text(value, "match")


def _starts_with(value: object, part: object) -> bool:
    return _text(value, "startsWith").startswith(_text(part, "startsWith"))


def _ends_with(value: object, part: object) -> bool:
    return _text(value, "endsWith").endswith(_text(part, "endsWith"))


def _length(value: object) -> int:
    if isinstance(value, str | bytes | list | dict):
        return len(cast("str | bytes | list[object] | dict[object, object]", value))
    raise ExpressionError(f"length expects a string, list or map, got {kind_of(value)}.")


def _join(value: object, separator: object = ",") -> str:
    texts = [as_text(as_json(item)) for item in _list(value, "join")]
    mark = _text(separator, "join")
    _fits(sum(map(len, texts)) + len(mark) * len(texts), "join")
    return mark.join(texts)


def _json(value: object) -> str:
    return json.dumps(as_json(value), ensure_ascii=False, separators=(",", ":"))


def _first(value: object) -> object:
    items = value if isinstance(value, str) else _list(value, "first")
    return items[0] if items else None


def _last(value: object) -> object:
    items = value if isinstance(value, str) else _list(value, "last")
    return items[-1] if items else None


def _keys(value: object) -> list[str]:
    if isinstance(value, dict):
        return sorted(map(str, cast("dict[object, object]", value)))
    raise ExpressionError(f"keys expects a map, got {kind_of(value)}.")


def _replace(value: object, old: object, new: object) -> str:
    text, out, into = _text(value, "replace"), _text(old, "replace"), _text(new, "replace")
    if not out:
        raise ExpressionError("replace needs a search string that is not empty.")
    _fits(len(text) + text.count(out) * max(len(into) - len(out), 0), "replace")
    return text.replace(out, into)


def _number(value: object) -> int | float:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        return value
    text = _text(value, "number").strip()
    try:
        return int(text)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        raise ExpressionError("number cannot convert this string to a number.") from None


def _string(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return as_text(as_json(value))


def _default(value: object, otherwise: object) -> object:
    return otherwise if value is None else value


def _reach(value: object, path: list[Any]) -> object:
    return reach(value, path)[0]


def _has(value: object, path: list[Any]) -> bool:
    return reach(value, path)[1]


OWN: Mapping[str, Function] = {
    "lower": _lower,
    "upper": _upper,
    "trim": _trim,
    "split": _split,
    "not": _not,
    "contains": _contains,
    "startsWith": _starts_with,
    "endsWith": _ends_with,
    "match": _match,
    "length": _length,
    "size": _length,
    "json": _json,
    "default": _default,
    "join": _join,
    "first": _first,
    "last": _last,
    "keys": _keys,
    "replace": _replace,
    "number": _number,
    "string": _string,
}
HIDDEN: Mapping[str, Function] = {"reach": _reach, "has": _has}
"""Used by generated CEL only; they cannot be called by name."""
