"""What an API's own shape consists of. There are two: Anthropic's Messages and OpenAI's Chat Completions."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import ValidationError

from forge.demo.cache import Usage
from forge.demo.conversation import Conversation, JsonObject
from forge.demo.playback import Piece
from forge.demo.reply import Reply
from forge.errors import Malformed
from forge.kernel.misfit import first_misfit


class Trouble(StrEnum):
    """What a request is refused with; each API has its own words and status for it."""

    BAD_REQUEST = "bad_request"
    UNAUTHORIZED = "unauthorized"
    NOT_FOUND = "not_found"
    RATE_LIMIT = "rate_limit"
    SERVER_ERROR = "server_error"
    OVERLOADED = "overloaded"


@dataclass(eq=False)
class Refusal(Exception):
    """An answer that is an error; the dialect knows its shape."""

    trouble: Trouble
    message: str
    retry_after_s: float | None = None


@dataclass(frozen=True)
class Take:
    """Everything an answer is made of."""

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
        """Raises Malformed for what the real API would refuse."""
        ...

    def key(self, headers: Mapping[str, str]) -> str | None: ...

    def wrong_key(self, headers: Mapping[str, str]) -> str:
        """What to say about a key that is not right."""
        ...

    def headers(self, request_id: str) -> dict[str, str]: ...

    def account(self, body: JsonObject, now: float) -> Usage: ...

    def forget(self) -> None: ...

    def answer(self, take: Take) -> JsonObject: ...

    def stream(self, take: Take) -> list[Piece]: ...

    def status(self, trouble: Trouble) -> int: ...

    def error(self, trouble: Trouble, message: str, request_id: str) -> JsonObject: ...

    def error_event(self, trouble: Trouble, message: str) -> bytes: ...

    def models(self, names: list[str]) -> JsonObject: ...


def in_pieces(text: str, size: int) -> list[str]:
    """At most some 200 of them, however long the text."""
    size = max(size, len(text) // 200)
    return [text[start : start + size] for start in range(0, len(text), size)]


def refuse(error: ValidationError) -> Malformed:
    """The first problem, in the words both APIs use: `messages.0.role: Field required`."""
    return Malformed(str(first_misfit(error)))
