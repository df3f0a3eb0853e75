"""What a value that was refused is told to a person, by the kind of the mistake."""

from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from pydantic_core import ErrorDetails

_LIST = "Write `[one, two]`, or one item per line, each after `- `."

_TYPES = {
    "string_type": ("must be a text.", "Put the text in quotes, on the line of the key."),
    "list_type": ("must be a list.", _LIST),
    "bool_type": ("must be true or false.", "Write `true` or `false`."),
    "bool_parsing": ("must be true or false.", "Write `true` or `false`."),
    "dict_type": ("must be a table.", None),
    "model_type": ("must be a table.", "Write keys and values below it, each on its line."),
    "model_attributes_type": ("must be a table.", "Write keys and values below it, each on its line."),
    "float_type": ("must be a number.", None),
    "float_parsing": ("must be a number.", None),
    "int_type": ("must be a whole number.", None),
    "int_parsing": ("must be a whole number.", None),
    "int_parsing_size": ("must be a whole number.", None),
    "int_from_float": ("must be a whole number.", None),
}


def explain(error: ErrorDetails, patterns: Mapping[str, str]) -> tuple[str, str | None]:
    """Message and hint. `patterns` says how what has a pattern is written, by the last part of its name."""
    name = _named(error["loc"])
    if error["type"] in _TYPES:
        message, hint = _TYPES[error["type"]]
        return f"{name} {message}", hint
    return _explain_content(name, error, patterns)


def _explain_content(name: str, error: ErrorDetails, patterns: Mapping[str, str]) -> tuple[str, str | None]:
    context: dict[str, Any] = error.get("ctx", {})
    match error["type"]:
        case "missing":
            return f"{name} is missing.", f"Add a line `{error['loc'][-1]}: …`."
        case "enum" | "literal_error":
            return f"{name} is none of the words it can be.", f"Write {context['expected']}."
        case "greater_than":
            return f"{name} must be more than {context['gt']:g}.", None
        case "greater_than_equal":
            return f"{name} must be at least {context['ge']:g}.", None
        case "less_than_equal":
            return f"{name} must be at most {context['le']:g}.", None
        case "too_short" | "string_too_short":
            return f"{name} is empty.", None
        case "too_long" | "string_too_long":
            unit = "characters" if isinstance(error["input"], str) else "items"
            return f"{name} has more than {context['max_length']:,} {unit}.", None
        case "string_pattern_mismatch":
            return f"{name} is not written as it must be.", patterns.get(str(error["loc"][-1]))
        case "value_error":
            return f"{name} {context['error']}.", None
        case _:
            return f"{name}: {error['msg']}.", None


def _named(path: Sequence[int | str]) -> str:
    """`tags`, item 2."""
    keys = ".".join(part for part in path if isinstance(part, str))
    items = "".join(f", item {part + 1}," for part in path if isinstance(part, int))
    return f"`{keys[:60]}`{items}"


def unknown(name: str, known: Iterable[str]) -> tuple[str, str]:
    names = list(known)
    close = get_close_matches(name[:60], names, n=1)
    listed = ", ".join(f"`{one}`" for one in names)
    hint = f"Did you mean `{close[0]}`?" if close else f"There can be {listed}."
    return f"There is no key `{name[:60]}`.", hint
