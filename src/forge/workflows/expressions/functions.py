"""The functions of expressions that are Forge's own: written behind a value, `x.lower()` or `x | lower`, or around it."""

import json
from collections.abc import Callable, Mapping
from typing import Any, cast

from pydantic import JsonValue

from forge.workflows.expressions.problem import ExpressionError
from forge.workflows.expressions.results import as_json

MAX_TEXT = 8_000_000
"""Characters a function may make."""

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
"""Those that come with the language."""
MACROS = {"all", "exists", "exists_one", "existsOne", "filter", "map"}


def is_truthy(value: object) -> bool:
    """As in JavaScript: null, false, 0 and the empty text are not true; every list and map is."""
    return value is not None and value is not False and value != 0 and value != "" and value == value


def as_text(value: JsonValue) -> str:
    """A text as it is, anything else as compact JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def kind_of(value: object) -> str:
    """As a person would call it."""
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "a text"
        case list():
            return "a list"
        case dict():
            return "a map"
        case _:
            return f"a {type(value).__name__}"


def reach(value: Any, path: list[Any]) -> tuple[Any, bool]:
    """What lies at the end of the path, and whether there is anything."""
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


def _text(value: object, name: str) -> str:
    if isinstance(value, str):
        return value
    raise ExpressionError(
        f"{name} works on a text, and this is {kind_of(value)}.",
        hint="string(x) makes a text of anything, json(x) says it as JSON.",
    )


def _list(value: object, name: str) -> list[Any]:
    if isinstance(value, list):
        return cast("list[Any]", value)
    raise ExpressionError(f"{name} works on a list, and this is {kind_of(value)}.")


def _fits(length: int, name: str) -> None:
    if length > MAX_TEXT:
        raise ExpressionError(f"{name} would make a text of more than {MAX_TEXT:,} characters.")


def _lower(value: object) -> str:
    return _text(value, "lower").lower()


def _upper(value: object) -> str:
    return _text(value, "upper").upper()


def _trim(value: object) -> str:
    return _text(value, "trim").strip()


def _split(value: object, separator: object = ",") -> list[str]:
    mark = _text(separator, "split")
    if not mark:
        raise ExpressionError("split needs something to split at.")
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
    raise ExpressionError(f"length works on texts, lists and maps, and this is {kind_of(value)}.")


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
    raise ExpressionError(f"keys works on a map, and this is {kind_of(value)}.")


def _replace(value: object, old: object, new: object) -> str:
    text, out, into = _text(value, "replace"), _text(old, "replace"), _text(new, "replace")
    if not out:
        raise ExpressionError("replace needs something to replace.")
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
        raise ExpressionError("number cannot make a number of this text.") from None


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
"""Called by what Forge makes of an expression, never by name."""
