"""Query parameters of every list."""

from typing import Annotated

from fastapi import Depends, Query

from forge.store.paging import Cursor

Limit = Annotated[int, Query(ge=1, le=200, description="How many at most.")]


def _decode(
    cursor: Annotated[str | None, Query(description="`meta.next_cursor` of the page before.")] = None,
) -> Cursor | None:
    return Cursor.decode(cursor)


CursorParam = Annotated[Cursor | None, Depends(_decode)]
