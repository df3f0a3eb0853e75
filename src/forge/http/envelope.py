"""The envelope of every response under `/api/v1`: `{data, meta, errors, _links}`."""

import time
from collections.abc import Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from forge.errors import ForgeError
from forge.http.hints import name_requests
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.pagination import Page


@dataclass(frozen=True)
class RequestContext:
    request_id: str = field(default_factory=new_id)
    is_program: bool = False
    """Sent neither by a browser session nor by the commands, so hints name requests."""
    started: float = field(default_factory=time.perf_counter)

    def elapsed_ms(self) -> int:
        return round((time.perf_counter() - self.started) * 1000)


_current: ContextVar[RequestContext | None] = ContextVar("forge_request", default=None)


def current_request() -> RequestContext:
    return _current.get() or RequestContext()


def enter_request(context: RequestContext) -> None:
    """Set the current request. Each request is served in its own context, so it need not be reset."""
    _current.set(context)


T = TypeVar("T")


class Meta(BaseModel):
    request_id: str
    timestamp: datetime
    response_time_ms: int
    next_cursor: str | None = None


class ErrorBody(BaseModel):
    """An error, with a hint how to resolve it."""

    code: str
    message: str
    hint: str | None = None
    field: str | None = None
    detail: dict[str, Any] | None = None
    """Structured data for the client, such as what a conflict is with."""


class Envelope(BaseModel, Generic[T]):
    model_config = ConfigDict(populate_by_name=True, serialize_by_alias=True)

    data: T
    meta: Meta
    errors: list[ErrorBody] = []
    links: dict[str, str] = Field(default={}, validation_alias="links", serialization_alias="_links")


def reply(data: T, **links: str) -> Envelope[T]:
    return Envelope(data=data, meta=_make_meta(), links=links)


def reply_page(page: Page[T], **links: str) -> Envelope[list[T]]:
    return Envelope(data=list(page.items), meta=_make_meta(page.next_cursor), links=links)


def failure(errors: Sequence[ForgeError]) -> Envelope[None]:
    return Envelope(data=None, meta=_make_meta(), errors=[_error_body(error) for error in errors])


def _error_body(error: ForgeError) -> ErrorBody:
    hint = name_requests(error.hint) if error.hint and current_request().is_program else error.hint
    return ErrorBody(
        code=error.code, message=error.message, hint=hint, field=error.field, detail=error.detail
    )


def _make_meta(next_cursor: str | None = None) -> Meta:
    request = current_request()
    return Meta(
        request_id=request.request_id,
        timestamp=now(),
        response_time_ms=request.elapsed_ms(),
        next_cursor=next_cursor,
    )
