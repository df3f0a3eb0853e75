"""What a value that was refused is told to a person, by the kind of the mistake."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

_BOOLS = "Write `true` or `false`."
_LIST = "Write `[one, two]`, or one item per line, each after `- `."


def explain(name: str, kind: str, context: dict[str, Any], fallback: str) -> tuple[str, str | None]:
    """Message and hint; `kind` and `context` as the validator names them."""
    match kind:
        case "missing":
            return f"`{name}` is missing.", f"Add a line `{name}: …`."
        case "string_type":
            return f"`{name}` must be a text.", "Put the text in quotes, on the line of the key."
        case "list_type":
            return f"`{name}` must be a list.", _LIST
        case "bool_type" | "bool_parsing":
            return f"`{name}` must be true or false.", _BOOLS
        case "dict_type" | "model_type":
            return f"`{name}` must be a table.", None
        case "float_type" | "float_parsing":
            return f"`{name}` must be a number.", None
        case "int_type" | "int_parsing" | "int_from_float" | "int_parsing_size":
            return f"`{name}` must be a whole number.", None
        case "enum":
            return f"`{name}` is none of the words it can be.", f"Write {context['expected']}."
        case _:
            return _explain_size(name, kind, context, fallback)


def _explain_size(name: str, kind: str, context: dict[str, Any], fallback: str) -> tuple[str, str | None]:
    match kind:
        case "greater_than_equal":
            return f"`{name}` must be at least {context['ge']:,}.", None
        case "less_than_equal":
            return f"`{name}` must be at most {context['le']:,}.", None
        case "string_too_short":
            return f"`{name}` is empty.", None
        case "string_too_long":
            return f"`{name}` is longer than {context['max_length']:,} characters.", None
        case "too_long":
            return f"`{name}` has more than {context['max_length']:,} items.", None
        case "string_pattern_mismatch":
            return f"`{name}` is not written as it must be.", _PATTERN_HINTS.get(name)
        case "value_error":
            return f"`{name}` {context['error']}.", None
        case _:
            return f"`{name}`: {fallback}.", None


_PATTERN_HINTS = {
    "colour": "Write six hexadecimal digits in lower case after a #, in quotes: `'#e2703a'`.",
    "skill_name": "Use lower-case letters, digits and single hyphens, such as `release-notes`.",
}


def unknown(name: str, known: Iterable[str]) -> tuple[str, str]:
    names = list(known)
    close = get_close_matches(name, names, n=1)
    listed = ", ".join(f"`{one}`" for one in names)
    hint = f"Did you mean `{close[0]}`?" if close else f"The keys are {listed}."
    return f"There is no key `{name[:60]}`.", hint
