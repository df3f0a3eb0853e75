"""Find one item by its name or by the beginning of its id."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar
from urllib.parse import quote

from pydantic import BaseModel

from forge.errors import Invalid, NotFound
from forge.terminal.client import Client

T = TypeVar("T")

_ID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SHOWN = 5
SEARCHED = 2000
"""Number of the newest items that are searched for an id prefix."""


def is_id(query: str) -> bool:
    return _ID.fullmatch(query) is not None


class _Identified(BaseModel):
    id: str


def find_id(client: Client, query: str, what: str, path: str, *, listed_by: str | None = None) -> str:
    """Return the id that begins with `query` among the newest items of a list."""
    if is_id(query):
        return query
    newest = client.pages(path, _Identified, SEARCHED)
    return choose(query, what, newest, lambda one: one.id, listed_by=listed_by).id


def scope_of_bot(client: Client, bot: str) -> str:
    """Return the scope of a bot, named by its slug or id."""
    found = client.get(f"/bots/{quote(bot, safe='')}", _Identified)
    return f"bot:{found.id}"


def choose(
    query: str,
    what: str,
    items: Iterable[T],
    id_of: Callable[[T], str],
    *,
    name_of: Callable[[T], str] | None = None,
    many: str | None = None,
    listed_by: str | None = None,
) -> T:
    """Return the only item with this name, or else the only one whose id begins with `query`."""
    known = list(items) if query else []
    named = [item for item in known if name_of is not None and name_of(item) == query]
    found = named or [item for item in known if id_of(item).startswith(query)]
    return only(found, query, what, id_of, many=many, listed_by=listed_by)


def only(
    found: list[T],
    query: str,
    what: str,
    id_of: Callable[[T], str],
    *,
    many: str | None = None,
    listed_by: str | None = None,
) -> T:
    """Return the only item found.

    `many` is the plural of `what` and `listed_by` the command that lists the items, if they are irregular.
    """
    many = many or f"{what}s"
    if not found:
        raise NotFound(
            f"There is no {what} {query!r}.", hint=f"List them: forge {listed_by or f'{many} list'}"
        )
    if len(found) > 1:
        ids = ", ".join(id_of(item) for item in found[:SHOWN])
        more = f" and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
        raise Invalid(f"{query!r} matches {len(found)} {many}.", hint=f"Choose one: {ids}{more}")
    return found[0]
