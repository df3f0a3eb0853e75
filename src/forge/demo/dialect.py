"""The interface of an API dialect. There are two: Anthropic's Messages and OpenAI's Chat Completions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import ValidationError

from forge.demo.exchange import Conversation, JsonObject, Reply
from forge.demo.playback import Piece
from forge.demo.prompt_cache import Usage
from forge.errors import Malformed
from forge.kernel.validation import first_problem


class ApiErrorKind(StrEnum):
    """Kinds of API errors; each dialect has its own status and text for them."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"
    UNAVAILABLE = "unavailable"


@dataclass(eq=False)
class ApiError(Exception):
    """An error response; the dialect defines its format."""

    kind: ApiErrorKind
    message: str
    retry_after_s: float | None = None
    body: JsonObject | None = None
    """Overrides the body of the dialect."""


@dataclass(frozen=True)
class RenderedReply:
    """A reply with everything needed to render a response."""

    message_id: str
    model: str
    reply: Reply
    usage: Usage
    created: int
    piece_chars: int
    wants_usage: bool


class Dialect(Protocol):
    name: str

    def read(self, body: JsonObject) -> Conversation:
        """Parse a request; raise Malformed for what the real API rejects."""
        ...

    def key(self, headers: Mapping[str, str]) -> str | None: ...

    def wrong_key(self, headers: Mapping[str, str]) -> str:
        """Return the error message for an invalid key."""
        ...

    def headers(self, request_id: str) -> dict[str, str]: ...

    def account(self, body: JsonObject, now: float) -> Usage: ...

    def forget(self) -> None: ...

    def answer(self, rendered: RenderedReply) -> JsonObject: ...

    def stream(self, rendered: RenderedReply) -> list[Piece]: ...

    def status(self, kind: ApiErrorKind) -> int: ...

    def error(self, kind: ApiErrorKind, message: str, request_id: str) -> JsonObject: ...

    def error_event(self, kind: ApiErrorKind, message: str) -> bytes: ...

    def models(self, names: list[str]) -> JsonObject: ...


def in_pieces(text: str, size: int) -> list[str]:
    """Split a text into pieces, at most about 200."""
    size = max(size, len(text) // 200)
    return [text[start : start + size] for start in range(0, len(text), size)]


def malformed_request(error: ValidationError) -> Malformed:
    """Return an error with the first problem in the format of both APIs: `messages.0.role: Field required`."""
    return Malformed(str(first_problem(error)))
