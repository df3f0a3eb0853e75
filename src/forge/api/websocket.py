"""`GET /ws`: follow any number of streams over one socket.

A client subscribes with the last number it has and gets what it missed, then what comes, in order, nothing twice;
among it what is whispered, while it keeps up.
One that reads too slowly is closed with a code that tells it to come back and replay: nothing is lost, and one
sleeping laptop holds nobody up.
"""

import asyncio
import logging
from collections.abc import Iterable
from contextlib import aclosing
from typing import Annotated, Literal

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from sqlalchemy.exc import SQLAlchemyError

from forge.api.events import check_may_watch
from forge.app import Forge
from forge.errors import ForgeError, Invalid, Malformed, TooLarge, TooMany, TooSlow, Unavailable
from forge.events.models import STREAM_PATTERN, Event, Whisper
from forge.http.caller import Caller
from forge.http.connection import Connection, close_reason
from forge.http.scope import Scope
from forge.kernel.background import end
from forge.kernel.misfit import first_misfit

log = logging.getLogger(__name__)

MAX_MESSAGE = 4096
MAX_STREAMS = 100

router = APIRouter()


class Subscribe(BaseModel):
    type: Literal["subscribe"]
    stream: str = Field(pattern=STREAM_PATTERN)
    after: int | None = Field(default=0, ge=0, le=2**53)
    """The last number the client has; null follows from now on, without history."""


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
        await Followers(socket, forge, caller).serve()


class Followers(Connection):
    heartbeat = '{"type": "ping"}'

    def __init__(self, socket: WebSocket, forge: Forge, caller: Caller) -> None:
        super().__init__(socket, lambda: forge.accounts.check_still_welcome(caller))
        self._forge = forge
        self._caller = caller
        self._following: dict[str, asyncio.Task[None]] = {}

    def begun(self) -> Iterable[asyncio.Task[None]]:
        return self._following.values()

    async def hear(self, text: str) -> None:
        if len(text) > MAX_MESSAGE:
            raise TooLarge(f"A message may have {MAX_MESSAGE} characters at most.")
        message = _parse(text)
        if isinstance(message, Subscribe):
            await self._subscribe(message)
        else:
            await self._unsubscribe(message.stream)

    async def _subscribe(self, message: Subscribe) -> None:
        await self._unsubscribe(message.stream)
        if len(self._following) >= MAX_STREAMS:
            raise TooMany(f"One socket may follow {MAX_STREAMS} streams.", retry_after_s=0)
        self._following[message.stream] = asyncio.create_task(self._follow(message.stream, message.after))

    async def _unsubscribe(self, stream: str) -> None:
        if task := self._following.pop(stream, None):
            await end([task])

    async def _follow(self, stream: str, after: int | None) -> None:
        hub = self._forge.events.hub
        try:
            await check_may_watch(self._forge, self._caller.account_id, stream)
            if after is None:
                after = await self._forge.events.last_seq(stream)
            async with aclosing(hub.follow(stream, after)) as follower:
                async for events in follower:
                    await self._tell(stream, events)
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
            self.break_off(TooSlow("Too slow; reconnect and replay."))
        except SQLAlchemyError:
            log.exception("cannot follow stream %s", stream)
            self.break_off(Unavailable("The database does not answer; reconnect and replay."))
        except (WebSocketDisconnect, RuntimeError):
            pass  # the listener notices it too and ends the connection

    async def _tell(self, stream: str, events: list[Event | Whisper]) -> None:
        if events:
            await self.send_text(_events_message(events))
        else:
            last = await self._forge.events.last_seq(stream)
            await self.send({"type": "subscribed", "stream": stream, "last_seq": last})


def _events_message(events: list[Event | Whisper]) -> str:
    """Joined from each event's own text, which is made once for all who follow it."""
    return '{"type":"events","events":[' + ",".join(event.json for event in events) + "]}"


def _parse(text: str) -> Subscribe | Unsubscribe:
    try:
        return ClientMessage.validate_json(text)
    except ValidationError as error:
        misfit = first_misfit(error)
        if misfit.kind == "json_invalid":
            raise Malformed("This message is not JSON.") from error
        raise Invalid(str(misfit)) from error
