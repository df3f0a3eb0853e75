"""A response as pieces with pauses between them, and who plays it: to the end, to the cut, or until nobody listens."""

import asyncio
from dataclasses import dataclass
from enum import StrEnum

from starlette.types import Receive, Send


class Outcome(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    CUT = "cut"
    """By the script: the connection was closed in the middle."""
    DISCONNECTED = "disconnected"
    """By the client."""
    STOPPED = "stopped"
    """With the server."""


@dataclass(frozen=True)
class Piece:
    data: bytes
    is_content: bool = False
    """Whether it carries words of the model: what faults and delays count."""
    wait_s: float = 0


@dataclass(frozen=True)
class Playback:
    status: int
    headers: dict[str, str]
    pieces: tuple[Piece, ...]
    is_cut: bool = False
    wait_s: float = 0
    """Before the first byte, the status line included."""


@dataclass
class Player:
    """Plays a response into an ASGI connection."""

    playback: Playback
    stopping: asyncio.Event
    outcome: Outcome = Outcome.RUNNING
    pieces_sent: int = 0

    async def play(self, receive: Receive, send: Send) -> None:
        playing = asyncio.create_task(self._send_all(send))
        others = {
            asyncio.create_task(_client_gone(receive)): Outcome.DISCONNECTED,
            asyncio.create_task(self._stopped()): Outcome.STOPPED,
        }
        try:
            done, _ = await asyncio.wait({playing, *others}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (playing, *others):
                task.cancel()
            await asyncio.gather(playing, *others, return_exceptions=True)
        if playing in done:
            playing.result()
            self.outcome = Outcome.CUT if self.playback.is_cut else Outcome.COMPLETED
        else:
            self.outcome = next(others[task] for task in others if task in done)

    async def _send_all(self, send: Send) -> None:
        """Without the last message the server closes the connection in the middle of the body: that is the cut."""
        await asyncio.sleep(self.playback.wait_s)
        headers = [(name.encode(), value.encode()) for name, value in self.playback.headers.items()]
        await send({"type": "http.response.start", "status": self.playback.status, "headers": headers})
        for piece in self.playback.pieces:
            await asyncio.sleep(piece.wait_s)
            await send({"type": "http.response.body", "body": piece.data, "more_body": True})
            self.pieces_sent += 1
        if not self.playback.is_cut:
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _stopped(self) -> None:
        await self.stopping.wait()


async def _client_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
