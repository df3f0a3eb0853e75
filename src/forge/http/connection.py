"""One client of a WebSocket: what it says is heard in order, a heartbeat shows that both are there, and whatever breaks
ends it with a code that tells why."""

import asyncio
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

from fastapi import WebSocket, WebSocketDisconnect
from sqlalchemy.exc import SQLAlchemyError

from forge.errors import ForgeError, Malformed, TooSlow, Unavailable
from forge.kernel.background import end

log = logging.getLogger(__name__)

HEARTBEAT_S = 30.0
SEND_TIMEOUT_S = 10.0
GOING_AWAY = 1012
MAX_REASON_BYTES = 120
"""The protocol has room for 123."""


def close_reason(text: str) -> str:
    """As much of it as fits: with a longer one there would be neither reason nor code."""
    return text.encode()[:MAX_REASON_BYTES].decode(errors="ignore")


class Connection(ABC):
    heartbeat: str
    """The message that shows that we are there."""

    def __init__(self, socket: WebSocket, check_welcome: Callable[[], Awaitable[None]]) -> None:
        self._socket = socket
        self._check_welcome = check_welcome
        self._sending = asyncio.Lock()
        self._broken: asyncio.Future[ForgeError] = asyncio.get_running_loop().create_future()

    @abstractmethod
    async def hear(self, text: str) -> None:
        """One message of the client. What is raised ends the connection."""

    @abstractmethod
    def begun(self) -> Iterable[asyncio.Task[None]]:
        """What goes on for this client, and ends with it."""

    async def serve(self) -> None:
        """Until the client goes, is too slow, breaks the protocol or is no longer welcome."""
        tasks = [asyncio.create_task(work) for work in (self._listen(), self._beat(), self._notice_break())]
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
            await end([*tasks, *self.begun()])

    async def _listen(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            if (text := message.get("text")) is None:
                raise Malformed("Messages are text, not binary.")
            await self.hear(text)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._check_welcome()
            try:
                await self.send_text(self.heartbeat)
            except TimeoutError:
                raise TooSlow("Too slow; reconnect and replay.") from None

    def break_off(self, error: ForgeError) -> None:
        """From something that goes on for this client."""
        if not self._broken.done():
            self._broken.set_result(error)

    async def _notice_break(self) -> None:
        raise await self._broken

    async def send(self, message: dict[str, Any]) -> None:
        await self.send_text(json.dumps(message))

    async def send_text(self, text: str) -> None:
        async with asyncio.timeout(SEND_TIMEOUT_S), self._sending:
            await self._socket.send_text(text)

    async def _close(self, code: int, reason: str) -> None:
        with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
            async with asyncio.timeout(1):
                await self._socket.close(code, close_reason(reason))
