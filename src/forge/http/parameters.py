"""Path and query parameters shared by routes."""

from typing import Annotated

from fastapi import Depends, Path, Query

from forge.store.pagination import Cursor

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$")]


Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of items.")]


def _decode(
    cursor: Annotated[str | None, Query(description="`meta.next_cursor` of the previous page.")] = None,
) -> Cursor | None:
    return Cursor.decode(cursor)


CursorParam = Annotated[Cursor | None, Depends(_decode)]
