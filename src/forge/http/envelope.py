"""The shape of every answer under `/api/v1`: `{data, meta, errors, _links}`."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from forge.errors import ForgeError
from forge.http.context import current_request
from forge.kernel.clock import now
from forge.store.paging import Page

T = TypeVar("T")


class Meta(BaseModel):
    request_id: str
    timestamp: datetime
    response_time_ms: int
    next_cursor: str | None = None


class ErrorBody(BaseModel):
    """What went wrong, and what to do about it."""

    code: str
    message: str
    hint: str | None = None
    field: str | None = None
    detail: dict[str, Any] | None = None
    """What a client needs to go on: for a conflict, what it is with."""


class Envelope(BaseModel, Generic[T]):
    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    data: T
    meta: Meta
    errors: list[ErrorBody] = []
    links: dict[str, str] = Field(default={}, validation_alias="links", serialization_alias="_links")


def reply(data: T, **links: str) -> Envelope[T]:
    return Envelope(data=data, meta=_meta(), links=links)


def reply_page(page: Page[T], **links: str) -> Envelope[list[T]]:
    return Envelope(data=list(page.items), meta=_meta(page.next_cursor), links=links)


def failure(errors: Sequence[ForgeError]) -> Envelope[None]:
    bodies = [
        ErrorBody(code=e.code, message=e.message, hint=e.hint, field=e.field, detail=e.detail) for e in errors
    ]
    return Envelope(data=None, meta=_meta(), errors=bodies)


def _meta(next_cursor: str | None = None) -> Meta:
    request = current_request()
    return Meta(
        request_id=request.request_id,
        timestamp=now(),
        response_time_ms=request.elapsed_ms(),
        next_cursor=next_cursor,
    )
