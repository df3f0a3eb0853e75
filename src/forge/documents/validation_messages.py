"""Readable messages for pydantic's validation errors in hand-written files."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

_LIST = "Write `[one, two]`, or one item per line after `- `."

_TYPE_MESSAGES = {
    "string_type": ("must be a string.", "Put the text in quotes on the line of the key."),
    "list_type": ("must be a list.", _LIST),
    "bool_type": ("must be true or false.", "Write `true` or `false`."),
    "bool_parsing": ("must be true or false.", "Write `true` or `false`."),
    "dict_type": ("must be a mapping.", None),
    "model_type": ("must be a mapping.", "Write keys and values below it, one per line."),
    "model_attributes_type": ("must be a mapping.", "Write keys and values below it, one per line."),
    "float_type": ("must be a number.", None),
    "float_parsing": ("must be a number.", None),
    "int_type": ("must be a whole number.", None),
    "int_parsing": ("must be a whole number.", None),
    "int_parsing_size": ("must be a whole number.", None),
    "int_from_float": ("must be a whole number.", None),
}


def explain_error(error: ErrorDetails, patterns: Mapping[str, str]) -> tuple[str, str | None]:
    """Return message and hint. `patterns` maps the last part of a field's name to the description of its pattern."""
    name = _field_name(error["loc"])
    if error["type"] in _TYPE_MESSAGES:
        message, hint = _TYPE_MESSAGES[error["type"]]
        return f"{name} {message}", hint
    return _explain_content(name, error, patterns)


def _explain_content(name: str, error: ErrorDetails, patterns: Mapping[str, str]) -> tuple[str, str | None]:
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return f"{name} is missing.", f"Add a line `{error['loc'][-1]}: …`."
        case "enum" | "literal_error":
            return f"{name} has an unknown value.", f"Allowed: {context['expected']}."
        case "greater_than":
            return f"{name} must be more than {context['gt']:g}.", None
        case "greater_than_equal":
            return f"{name} must be at least {context['ge']:g}.", None
        case "less_than_equal":
            return f"{name} must be at most {context['le']:g}.", None
        case "too_short" | "string_too_short":
            return f"{name} must not be empty.", None
        case "too_long" | "string_too_long":
            unit = "characters" if isinstance(error["input"], str) else "items"
            return f"{name} must have at most {context['max_length']:,} {unit}.", None
        case "string_pattern_mismatch":
            return f"{name} has an invalid format.", patterns.get(str(error["loc"][-1]))
        case "value_error":
            return f"{name} {context['error']}.", None
        case _:
            return f"{name}: {error['msg']}.", None


def _field_name(path: Sequence[int | str]) -> str:
    """Format a location: `tags`, item 2."""
    keys = ".".join(part for part in path if isinstance(part, str))
    items = "".join(f", item {part + 1}," for part in path if isinstance(part, int))
    return f"`{keys[:60]}`{items}"


def unknown_key(name: str, known: Iterable[str]) -> tuple[str, str]:
    names = list(known)
    close = get_close_matches(name[:60], names, n=1)
    listed = ", ".join(f"`{known_name}`" for known_name in names)
    hint = f"Did you mean `{close[0]}`?" if close else f"Allowed keys: {listed}."
    return f"Unknown key `{name[:60]}`.", hint
