"""Path and query parameters shared by routes."""

from typing import Annotated

from fastapi import Depends, Path, Query, Request, params
from fastapi.dependencies.utils import get_flat_params

from forge.errors import Invalid
from forge.store.pagination import Cursor

Id = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$")]


Limit = Annotated[int, Query(ge=1, le=200, description="Maximum number of items.")]
OptionalLimit = Annotated[
    int | None, Query(ge=1, le=200, description="Maximum number of items. Default: all.")
]


def reject_unknown_parameters(request: Request) -> None:
    """Reject misspelled query parameters, which would otherwise be ignored, as bodies reject unknown fields."""
    if not request.query_params:
        return
    parameters = get_flat_params(request.scope["route"].dependant)
    # The fields of a query model have no class of their own, so tell query parameters by what they are not.
    others = (params.Path, params.Header, params.Cookie)
    known = sorted(one.alias for one in parameters if not isinstance(one.field_info, others))
    for name in request.query_params:
        if name not in known:
            hint = f"Parameters of this route: {', '.join(known)}." if known else "This route takes none."
            raise Invalid(f"{name}: unknown query parameter", hint=hint, field=name)


def _decode(
    cursor: Annotated[str | None, Query(description="`meta.next_cursor` of the previous page.")] = None,
) -> Cursor | None:
    return Cursor.decode(cursor)


CursorParam = Annotated[Cursor | None, Depends(_decode)]
