"""`GET /ws`: follow any number of streams over one socket.

A client subscribes with the last number it has and gets what it missed, then what comes, in order, nothing twice;
among it what is whispered, while it keeps up.
One that reads too slowly is closed with a code that tells it to come back and replay: nothing is lost, and one
sleeping laptop holds nobody up.
"""

import asyncio
import json
import logging
from contextlib import aclosing, suppress
from typing import Annotated, Any, Literal

from fastapi import APIRouter, WebSocket, WebSocketDisconnect
from pydantic import BaseModel, Field, TypeAdapter, ValidationError
from sqlalchemy.exc import SQLAlchemyError

from forge.api.events import check_may_watch
from forge.app import Forge
from forge.errors import ForgeError, Invalid, Malformed, TooLarge, TooMany, TooSlow, Unavailable
from forge.events.models import STREAM_PATTERN, Event, Whisper
from forge.http.caller import Caller
from forge.http.scope import Scope
from forge.kernel.background import end

log = logging.getLogger(__name__)

PING_S = 30.0
SEND_TIMEOUT_S = 10.0
MAX_MESSAGE = 4096
MAX_STREAMS = 100
GOING_AWAY = 1012

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
        await socket.close(error.ws_close_code(), reason=error.message)
        return
    forge: Forge = socket.app.state.forge
    with forge.telemetry.metrics.websocket_client():
        await Connection(socket, forge, caller).serve()


class Connection:
    def __init__(self, socket: WebSocket, forge: Forge, caller: Caller) -> None:
        self._socket = socket
        self._forge = forge
        self._caller = caller
        self._sending = asyncio.Lock()
        self._following: dict[str, asyncio.Task[None]] = {}
        self._broken: asyncio.Future[ForgeError] = asyncio.get_running_loop().create_future()

    async def serve(self) -> None:
        """Until the client goes, is too slow, breaks the protocol or is no longer welcome."""
        tasks = [asyncio.create_task(work) for work in (self._listen(), self._ping(), self._notice_break())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except (WebSocketDisconnect, RuntimeError):
            pass  # gone; starlette says so with either, depending on who noticed first
        except ForgeError as error:
            await self._close(error.ws_close_code(), error.message)
        except SQLAlchemyError:
            log.exception("cannot serve a socket")
            await self._close(
                Unavailable.ws_close_code(), "the database does not answer; reconnect and replay"
            )
        except asyncio.CancelledError:
            await self._close(GOING_AWAY, "the server is stopping; reconnect")
            raise
        finally:
            await end([*tasks, *self._following.values()])

    async def _listen(self) -> None:
        while True:
            text = await self._receive()
            if len(text) > MAX_MESSAGE:
                raise TooLarge(f"A message may have {MAX_MESSAGE} characters at most.")
            message = _parse(text)
            if isinstance(message, Subscribe):
                await self._subscribe(message)
            else:
                await self._unsubscribe(message.stream)

    async def _receive(self) -> str:
        message = await self._socket.receive()
        if message["type"] == "websocket.disconnect":
            raise WebSocketDisconnect(message.get("code", 1005))
        if (text := message.get("text")) is None:
            raise Malformed("Messages are text, not binary.")
        return text

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
            await self._send(
                {
                    "type": "error",
                    "stream": stream,
                    "code": error.code,
                    "message": error.message,
                    "hint": error.hint,
                }
            )
        except TimeoutError:
            self._break(TooSlow("Too slow; reconnect and replay."))
        except SQLAlchemyError:
            log.exception("cannot follow stream %s", stream)
            self._break(Unavailable("The database does not answer; reconnect and replay."))
        except (WebSocketDisconnect, RuntimeError):
            pass  # the listener notices it too and ends the connection

    async def _tell(self, stream: str, events: list[Event | Whisper]) -> None:
        if events:
            await self._send_text(_events_message(events))
        else:
            last = await self._forge.events.last_seq(stream)
            await self._send({"type": "subscribed", "stream": stream, "last_seq": last})

    async def _ping(self) -> None:
        while True:
            await asyncio.sleep(PING_S)
            await self._forge.accounts.check_still_welcome(self._caller)
            try:
                await self._send({"type": "ping"})
            except TimeoutError:
                raise TooSlow("Too slow; reconnect and replay.") from None

    def _break(self, error: ForgeError) -> None:
        if not self._broken.done():
            self._broken.set_result(error)

    async def _notice_break(self) -> None:
        raise await self._broken

    async def _send(self, message: dict[str, Any]) -> None:
        await self._send_text(json.dumps(message))

    async def _send_text(self, text: str) -> None:
        async with asyncio.timeout(SEND_TIMEOUT_S), self._sending:
            await self._socket.send_text(text)

    async def _close(self, code: int, reason: str) -> None:
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(1):
                await self._socket.close(code, reason[:120])


def _events_message(events: list[Event | Whisper]) -> str:
    """Joined from each event's own text, which is made once for all who follow it."""
    return '{"type":"events","events":[' + ",".join(event.json for event in events) + "]}"


def _parse(text: str) -> Subscribe | Unsubscribe:
    try:
        return ClientMessage.validate_json(text)
    except ValidationError as error:
        problem = error.errors()[0]
        if problem["type"] == "json_invalid":
            raise Malformed("This message is not JSON.") from error
        where = ".".join(str(part) for part in problem["loc"])
        raise Invalid(f"{where}: {problem['msg']}") from error
