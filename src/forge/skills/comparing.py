"""Whether what came out holds all that was expected."""

import json
import math
from typing import Any, cast

from forge.kernel.text import cut

_SHOWN = 80


def difference(expected: Any, found: Any, place: str = "") -> str | None:
    """The first one, in words; None when there is none. A table may have more keys than expected; a list has as many
    items. One and true are not the same."""
    if isinstance(expected, dict):
        return _in_table(cast("dict[str, Any]", expected), found, place)
    if isinstance(expected, list):
        return _in_list(cast("list[Any]", expected), found, place)
    return None if _is_same(expected, found) else _told(expected, found, place)


def _in_table(expected: dict[str, Any], found: Any, place: str) -> str | None:
    if not isinstance(found, dict):
        return _told(expected, found, place)
    given = cast("dict[str, Any]", found)
    for key, value in expected.items():
        below = f"{place}.{key}" if place else key
        if key not in given:
            return f"`{below}` is missing; expected {_shown(value)}."
        if told := difference(value, given[key], below):
            return told
    return None


def _in_list(expected: list[Any], found: Any, place: str) -> str | None:
    if not isinstance(found, list):
        return _told(expected, found, place)
    given = cast("list[Any]", found)
    if len(given) != len(expected):
        return f"`{place}` has {len(given)} items; expected {len(expected)}."
    pairs = enumerate(zip(expected, given, strict=True))
    return next((told for index, (a, b) in pairs if (told := difference(a, b, f"{place}[{index}]"))), None)


def _is_same(expected: Any, found: Any) -> bool:
    if isinstance(expected, bool) or isinstance(found, bool):
        return expected is found
    if isinstance(expected, float) and isinstance(found, int | float):
        return math.isclose(expected, found, rel_tol=1e-9)
    return expected == found


def _told(expected: Any, found: Any, place: str) -> str:
    return f"{f'`{place}`' if place else 'The result'} is {_shown(found)}; expected {_shown(expected)}."


def _shown(value: Any) -> str:
    return cut(json.dumps(value, ensure_ascii=False), _SHOWN)
