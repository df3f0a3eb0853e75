"""A WebSocket connection: receives messages in order, sends heartbeats, and closes with a code for the reason."""

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
from forge.kernel.background import cancel_and_wait

log = logging.getLogger(__name__)

HEARTBEAT_S = 30.0
SEND_TIMEOUT_S = 10.0
GOING_AWAY = 1012
MAX_REASON_BYTES = 120
"""The protocol allows 123."""


def close_reason(text: str) -> str:
    """Truncate to what fits into a close frame: with a longer reason neither reason nor code would be sent."""
    return text.encode()[:MAX_REASON_BYTES].decode(errors="ignore")


class WebSocketConnection(ABC):
    heartbeat: str | None
    """The message sent at each heartbeat."""

    def __init__(self, socket: WebSocket, check_welcome: Callable[[], Awaitable[None]]) -> None:
        self._socket = socket
        self._check_credential = check_welcome
        self._sending = asyncio.Lock()
        self._broken: asyncio.Future[ForgeError] = asyncio.get_running_loop().create_future()

    @abstractmethod
    async def handle_message(self, text: str) -> None:
        """Handle one message of the client. An exception closes the connection."""

    @abstractmethod
    def running_tasks(self) -> Iterable[asyncio.Task[None]]:
        """Return the tasks to cancel when the connection ends."""

    async def serve(self) -> None:
        """Serve until the client disconnects, is too slow, violates the protocol or loses its authentication."""
        tasks = [asyncio.create_task(work) for work in (self._listen(), self._beat(), self._notice_break())]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except (WebSocketDisconnect, RuntimeError):
            pass  # disconnected: starlette raises one or the other, depending on where it is detected
        except ForgeError as error:
            await self._close(error.ws_close_code(), error.message)
        except SQLAlchemyError:
            log.exception("failed to serve a socket")
            await self._close(
                Unavailable.ws_close_code(), "the database does not respond; reconnect and replay"
            )
        except asyncio.CancelledError:
            await self._close(GOING_AWAY, "the server is stopping; reconnect")
            raise
        finally:
            await cancel_and_wait([*tasks, *self.running_tasks()])

    async def _listen(self) -> None:
        while True:
            message = await self._socket.receive()
            if message["type"] == "websocket.disconnect":
                raise WebSocketDisconnect(message.get("code", 1005))
            if (text := message.get("text")) is None:
                raise Malformed("Messages must be text, not binary.")
            await self.handle_message(text)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT_S)
            await self._check_credential()
            if self.heartbeat is None:
                continue
            try:
                await self.send_text(self.heartbeat)
            except TimeoutError:
                raise TooSlow("Too slow; reconnect and replay.") from None

    def close_with(self, error: ForgeError) -> None:
        """Close the connection with an error from one of its tasks."""
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
