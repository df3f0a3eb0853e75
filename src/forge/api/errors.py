"""Error handlers: every failure is returned in the same envelope. Internal details are only logged, with the request id."""

import logging
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from forge.errors import (
    DiskFull,
    ForgeError,
    Internal,
    Invalid,
    Malformed,
    NotAllowed,
    NotFound,
    TooMany,
    Unauthenticated,
    Unavailable,
)
from forge.http.envelope import failure
from forge.kernel.validation import plain_message
from forge.store.database import is_disk_full, is_outage

log = logging.getLogger(__name__)

MAX_PROBLEMS = 50
"""Maximum problems reported for one request; each item of a long list can have one."""


def error_response(*errors: ForgeError) -> JSONResponse:
    headers: dict[str, str] = {}
    if isinstance(errors[0], TooMany):
        headers["Retry-After"] = str(errors[0].retry_after_s)
    if isinstance(errors[0], Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="forge"'
    content = failure(errors).model_dump(mode="json")
    return JSONResponse(content, status_code=errors[0].status, headers=headers)


def install_error_handlers(api: FastAPI) -> None:
    api.add_exception_handler(ForgeError, _forge_error)
    api.add_exception_handler(RequestValidationError, _validation_error)
    api.add_exception_handler(HTTPException, _http_error)
    api.add_exception_handler(SQLAlchemyError, _database_error)
    api.add_exception_handler(OSError, _system_error)


async def _forge_error(_: Request, error: Exception) -> JSONResponse:
    error = cast(ForgeError, error)
    if error.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        log.error("request failed: %s", error.message, exc_info=error)
    return error_response(error)


async def _validation_error(_: Request, error: Exception) -> JSONResponse:
    problems = cast(RequestValidationError, error).errors()
    return error_response(*(_explain(problem) for problem in problems[:MAX_PROBLEMS]))


def _explain(problem: dict[str, Any]) -> ForgeError:
    if problem["type"] == "json_invalid":
        position = problem["loc"][-1] if problem["loc"] else 0
        reason = problem.get("ctx", {}).get("error", "invalid")
        return Malformed(f"The body is not valid JSON: {reason} (at character {position}).", field="body")
    location, *path = problem["loc"]
    where = ".".join(str(part) for part in path) or str(location)
    hint = "Send a JSON object, with Content-Type: application/json." if where == "body" else None
    return Invalid(f"{where}: {plain_message(problem)}", hint=hint, field=where)


async def _http_error(request: Request, error: Exception) -> JSONResponse:
    """Handle errors raised by the framework: unknown path, unknown method, unreadable body."""
    error = cast(HTTPException, error)
    if error.status_code == HTTPStatus.NOT_FOUND:
        return error_response(NotFound(f"There is no resource at {request.url.path}."))
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        response = error_response(NotAllowed(f"{request.method} is not allowed at {request.url.path}."))
        response.headers.update(error.headers or {})
        return response
    if error.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
        return error_response(Malformed(f"The request cannot be read: {error.detail}"))
    log.error("request failed: %s", error.detail, exc_info=error)
    return error_response(Internal("Internal error."))


async def _system_error(_: Request, error: Exception) -> JSONResponse:
    if not is_disk_full(error):
        raise error
    log.error("the disk is full: %s", error)
    return error_response(DiskFull())


async def _database_error(request: Request, error: Exception) -> JSONResponse:
    if is_disk_full(error):
        return await _system_error(request, error)
    if not is_outage(cast(SQLAlchemyError, error)):
        raise error
    log.error("the database does not respond: %s", error)
    return error_response(Unavailable("The database is not responding.", hint="Try again shortly."))


class CatchExceptions:
    """Converts unexpected exceptions into responses. It is the innermost middleware, so that these responses have a
    request id and the security headers."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        has_started = False

        async def note_start(message: Message) -> None:
            nonlocal has_started
            has_started = True
            await send(message)

        try:
            await self._app(scope, receive, note_start)
        except Exception:
            log.exception("unhandled exception in a request")
            if scope["type"] != "http" or has_started:
                raise
            defect = Internal(
                "Internal error.", hint="The log of the server has the details under this request id."
            )
            await error_response(defect)(scope, receive, send)
