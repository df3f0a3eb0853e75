"""Convert an error response into the exception that the server raised, so that it has the same exit code."""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from forge.errors import (
    WS_CLOSE_BASE,
    Conflict,
    Denied,
    ForgeError,
    Gone,
    Internal,
    Invalid,
    Malformed,
    NotAllowed,
    NotFound,
    SandboxTooWeak,
    TooLarge,
    TooMany,
    TooSlow,
    Unauthenticated,
    Unavailable,
)
from forge.terminal.text import clean

RETRY_AFTER_S = 60
"""Used if the server sends no Retry-After header."""

ERRORS: tuple[type[ForgeError], ...] = (
    Invalid,
    Malformed,
    Unauthenticated,
    Denied,
    NotFound,
    NotAllowed,
    Conflict,
    Gone,
    SandboxTooWeak,
    TooLarge,
    TooMany,
    TooSlow,
    Internal,
    Unavailable,
)
_BY_CODE: dict[str, type[ForgeError]] = {kind.code: kind for kind in ERRORS}
_BY_STATUS: dict[int, type[ForgeError]] = {kind.status: kind for kind in ERRORS}


class Refusal(BaseModel):
    code: str
    message: str
    hint: str | None = None
    field: str | None = None
    detail: dict[str, Any] | None = None


class Refusals(BaseModel):
    errors: list[Refusal] = Field(min_length=1)


def error_from(body: bytes, status: int, headers: Mapping[str, str]) -> ForgeError:
    """Return the error of an envelope; several errors become one with a line each."""
    try:
        refusals = Refusals.model_validate_json(body).errors
    except ValidationError:
        return Unavailable(f"The server answered {status} without a Forge error.")
    message = "\n".join(dict.fromkeys(refusal.message for refusal in refusals))
    return make_error(refusals[0].model_copy(update={"message": message}), status, headers.get("retry-after"))


def make_error(refusal: Refusal, status: int, retry_after: str | None = None) -> ForgeError:
    kind = _BY_CODE.get(refusal.code) or _BY_STATUS.get(status) or Internal
    message, hint = clean(refusal.message), refusal.hint and clean(refusal.hint)
    if kind is TooMany:
        seconds = int(retry_after) if retry_after and retry_after.isdigit() else RETRY_AFTER_S
        return TooMany(message, retry_after_s=seconds, hint=f"Try again in {seconds} s.")
    return kind(message, hint=hint, field=refusal.field, detail=refusal.detail)


def error_of_close(code: int, reason: str) -> ForgeError:
    """Return the error of a WebSocket closed with 4000 + an HTTP status. After other codes it may be reopened."""
    kind = _BY_STATUS.get(code - WS_CLOSE_BASE)
    if kind is None or kind is TooMany:
        return Unavailable(f"The connection was closed: {clean(reason) or code}")
    return kind(clean(reason) or f"The server closed the connection ({code}).")
