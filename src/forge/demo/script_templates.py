"""Templates in scripts with values of the request: `{{ latest }}`, `{{ result.read_file | first_line }}`.

A template names a value and optional filters, which are checked when the script is loaded. A value that the request
does not have is empty.
"""

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar, cast

T = TypeVar("T")
Lookup = Callable[[str], str]

_TEMPLATE = re.compile(r"\{\{\s*(.+?)\s*\}\}", re.DOTALL)
NAMES = ("turn", "model", "system", "opening", "latest", "result", "tools")
FAMILIES = ("result.", "match.")


def _first_line(text: str, _: str) -> str:
    return text.strip().partition("\n")[0]


def _lines(text: str, count: str) -> str:
    return "\n".join(text.splitlines()[: int(count)])


def _chars(text: str, count: str) -> str:
    return text[: int(count)]


def _find(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    return "" if found is None else found.group(1 if found.re.groups else 0) or ""


def _json(text: str, path: str) -> str:
    try:
        value: Any = json.loads(text)
        for key in filter(None, path.split(".")):
            value = value[int(key) if isinstance(value, list) else key]
    except (ValueError, KeyError, IndexError, TypeError):
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _number(text: str, _: str) -> str:
    return str(int(text)) if re.fullmatch(r"\s*-?\d+\s*", text) else "0"


FILTERS: Mapping[str, Callable[[str, str], str]] = {
    "first_line": _first_line,
    "lines": _lines,
    "chars": _chars,
    "find": _find,
    "json": _json,
    "number": _number,
}


def _parsed(template: str) -> tuple[str, list[tuple[str, str]]]:
    name, *filters = re.split(r"\s+\|\s+", template)
    named = [(filter_.partition(":")[0].strip(), filter_.partition(":")[2].strip()) for filter_ in filters]
    return name, named


def check_templates(value: T) -> T:
    """Raise ValueError for the first invalid template in any string of the value."""
    for text in _strings(value):
        for template in _TEMPLATE.findall(text):
            _check(template)
    return value


def _check(template: str) -> None:
    name, filters = _parsed(template)
    if name not in NAMES and not (name.startswith(FAMILIES) and name.partition(".")[2]):
        raise ValueError(
            f"{{{{ {template} }}}}: unknown value `{name}`; known are {', '.join(NAMES)}, result.TOOL, match.GROUP"
        )
    for filter_, argument in filters:
        if filter_ not in FILTERS:
            raise ValueError(
                f"{{{{ {template} }}}}: unknown filter `{filter_}`; known are {', '.join(FILTERS)}"
            )
        if filter_ in ("lines", "chars") and not argument.isdecimal():
            raise ValueError(f"{{{{ {template} }}}}: `{filter_}` needs a number")
        if filter_ == "find":
            _check_pattern(template, argument)


def _check_pattern(template: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"{{{{ {template} }}}}: {error}") from error


def used_groups(value: object) -> set[str]:
    """Return the pattern groups that templates in the value use."""
    names = {_parsed(template)[0] for text in _strings(value) for template in _TEMPLATE.findall(text)}
    return {name.partition(".")[2] for name in names if name.startswith("match.")}


def _strings(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, Mapping):
        return [text for item in cast("Mapping[str, Any]", value).values() for text in _strings(item)]
    if isinstance(value, list | tuple):
        return [text for item in cast("list[Any]", value) for text in _strings(item)]
    return []


def fill(text: str, look_up: Lookup) -> str:
    return _TEMPLATE.sub(lambda template: _value(template.group(1), look_up), text)


def fill_json(value: Any, look_up: Lookup) -> Any:
    """Fill templates in every string of a JSON value. A string that is one template with the final filter `number` becomes
    a number."""
    if isinstance(value, str):
        whole = _TEMPLATE.fullmatch(value.strip())
        is_number = whole is not None and _parsed(whole.group(1))[1][-1:] == [("number", "")]
        return int(fill(value.strip(), look_up)) if is_number else fill(value, look_up)
    if isinstance(value, dict):
        return {key: fill_json(item, look_up) for key, item in cast("dict[str, Any]", value).items()}
    if isinstance(value, list):
        return [fill_json(item, look_up) for item in cast("list[Any]", value)]
    return value


def _value(template: str, look_up: Lookup) -> str:
    name, filters = _parsed(template)
    value = look_up(name)
    for filter_, argument in filters:
        value = FILTERS[filter_](value, argument)
    return value
