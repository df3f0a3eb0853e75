"""Says what a reference did not find, and what is there instead."""

from collections.abc import Mapping
from difflib import get_close_matches
from typing import cast

from pydantic import JsonValue

from forge.workflows.expressions.functions import kind_of, reach
from forge.workflows.expressions.problem import ExpressionError
from forge.workflows.expressions.slots import Path, Slot, spelled

SHOWN = 12
"""Names that are listed."""


def describe_missing(slot: Slot, variables: Mapping[str, JsonValue]) -> ExpressionError:
    path = slot.path
    length = next(size for size in range(1, len(path) + 1) if not reach(variables, list(path[:size]))[1])
    parent = reach(variables, list(path[: length - 1]))[0]
    message = f"{spelled(path)} does not exist: {_reason(path[:length], parent)}."
    return ExpressionError(message, column=slot.column, hint=_hint(path[:length], parent))


def _reason(path: Path, parent: object) -> str:
    *before, name = path
    if not before:
        return f"nothing is called {name}"
    where = spelled(tuple(before))
    match parent:
        case dict():
            return f"{where} has no {name!r}"
        case list() if isinstance(name, int):
            return f"{where} has {len(cast('list[object]', parent))} items, counted from 0"
        case _:
            return f"{where} is {kind_of(parent)}"


def _hint(path: Path, parent: object) -> str | None:
    if not isinstance(parent, Mapping) or not parent:
        return None
    names = [str(name) for name in cast("Mapping[str, object]", parent)]
    close = get_close_matches(str(path[-1]), names, n=1)
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    meant = f"Did you mean {close[0]}? " if close else ""
    return f"{meant}There is: {listed}. `| default(…)` stands in for what may be missing."
