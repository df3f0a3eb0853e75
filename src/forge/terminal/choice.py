"""Finds the one thing a person means by the beginning of its id, or by its name."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from forge.errors import Invalid, NotFound

T = TypeVar("T")

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHOWN = 5


def is_id(given: str) -> bool:
    return _ID.fullmatch(given) is not None


def choose(given: str, what: str, items: Iterable[T], id_of: Callable[[T], str]) -> T:
    """By a beginning of the id that fits one item only."""
    return only([item for item in items if given and id_of(item).startswith(given)], given, what, id_of)


def only(found: list[T], given: str, what: str, id_of: Callable[[T], str]) -> T:
    if not found:
        raise NotFound(f"There is no {what} {given!r}.", hint=f"List them: forge {what}s list")
    if len(found) > 1:
        ids = ", ".join(id_of(item) for item in found[:SHOWN])
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise Invalid(f"{given!r} fits {len(found)} {what}s.", hint=f"Say which: {ids}{more}")
    return found[0]
