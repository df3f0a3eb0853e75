"""`GET /ws`: follow any number of streams over one socket.

A client subscribes with the last sequence number it has. It gets the events it missed, then new ones, in order and
without duplicates, and ephemeral events while it keeps up. A client that reads too slowly is disconnected with a code
that asks it to reconnect and replay, so that it loses nothing and delays no other client.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import aclosing
from typing import Annotated, Literal

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from sqlalchemy.exc import SQLAlchemyError

from forge.api.events import check_stream_access
from forge.app import Forge
from forge.errors import ForgeError, Invalid, Malformed, TooLarge, TooMany, TooSlow, Unavailable
from forge.events.models import STREAM_PATTERN, EphemeralEvent, Event
from forge.http.caller import Caller
from forge.http.scope import Scope
from forge.http.websocket_connection import WebSocketConnection, close_reason
from forge.kernel.background import cancel_and_wait
from forge.kernel.validation import first_problem

log = logging.getLogger(__name__)

MAX_MESSAGE = 4096
MAX_STREAMS = 100

router = APIRouter()


class Subscribe(BaseModel):
    type: Literal["subscribe"]
    stream: str = Field(pattern=STREAM_PATTERN)
    after: int | None = Field(default=0, ge=0, le=2**53)
    """The last sequence number the client has; null follows new events only."""


class Unsubscribe(BaseModel):
    type: Literal["unsubscribe"]
    stream: str


ClientMessage: TypeAdapter[Subscribe | Unsubscribe] = TypeAdapter(
    Annotated[Subscribe | Unsubscribe, Field(discriminator="type")]
)


@router.websocket("/ws")
async def follow_streams(socket: WebSocket) -> None:
    await socket.accept()
    try:
        caller: Caller = await socket.app.state.authenticate(socket)
        caller.must_have(Scope.READ)
    except ForgeError as error:
        await socket.close(error.ws_close_code(), reason=close_reason(error.message))
        return
    forge: Forge = socket.app.state.forge
    with forge.telemetry.metrics.websocket_client():
        await StreamConnection(socket, forge, caller).serve()


class StreamConnection(WebSocketConnection):
    heartbeat = '{"type": "ping"}'

    def __init__(self, socket: WebSocket, forge: Forge, caller: Caller) -> None:
        super().__init__(socket, lambda: forge.accounts.check_credential(caller))
        self._forge = forge
        self._caller = caller
        self._following: dict[str, asyncio.Task[None]] = {}

    def running_tasks(self) -> Iterable[asyncio.Task[None]]:
        return self._following.values()

    async def handle_message(self, text: str) -> None:
        if len(text) > MAX_MESSAGE:
            raise TooLarge(f"A message may have at most {MAX_MESSAGE} characters.")
        message = _parse(text)
        if isinstance(message, Subscribe):
            await self._subscribe(message)
        else:
            await self._unsubscribe(message.stream)

    async def _subscribe(self, message: Subscribe) -> None:
        await self._unsubscribe(message.stream)
        if len(self._following) >= MAX_STREAMS:
            raise TooMany(f"One socket may follow at most {MAX_STREAMS} streams.", retry_after_s=0)
        self._following[message.stream] = asyncio.create_task(self._follow(message.stream, message.after))

    async def _unsubscribe(self, stream: str) -> None:
        if task := self._following.pop(stream, None):
            await cancel_and_wait([task])

    async def _follow(self, stream: str, after: int | None) -> None:
        hub = self._forge.events.hub
        try:
            await check_stream_access(self._forge, self._caller.account_id, stream)
            if after is None:
                after = await self._forge.events.last_seq(stream)
            async with aclosing(hub.follow(stream, after)) as follower:
                async for events in follower:
                    await self._send_events(stream, events)
        except ForgeError as error:
            self._following.pop(stream, None)
            await self.send(
                {
                    "type": "error",
                    "stream": stream,
                    "code": error.code,
                    "message": error.message,
                    "hint": error.hint,
                }
            )
        except TimeoutError:
            self.close_with(TooSlow("Too slow; reconnect and replay."))
        except SQLAlchemyError:
            log.exception("failed to follow stream %s", stream)
            self.close_with(Unavailable("The database does not respond; reconnect and replay."))
        except (WebSocketDisconnect, RuntimeError):
            pass  # the receiving task notices it too and ends the connection

    async def _send_events(self, stream: str, events: list[Event | EphemeralEvent]) -> None:
        if events:
            await self.send_text(_events_message(events))
        else:
            last = await self._forge.events.last_seq(stream)
            await self.send({"type": "subscribed", "stream": stream, "last_seq": last})


def _events_message(events: list[Event | EphemeralEvent]) -> str:
    """Join the cached JSON of each event, which is serialized once for all followers."""
    return '{"type":"events","events":[' + ",".join(event.json for event in events) + "]}"


def _parse(text: str) -> Subscribe | Unsubscribe:
    try:
        return ClientMessage.validate_json(text)
    except ValidationError as error:
        problem = first_problem(error)
        if problem.kind == "json_invalid":
            raise Malformed("The message is not valid JSON.") from error
        raise Invalid(str(problem)) from error
