"""Responses as pieces with pauses, and their player, which stops at a cut or when the client disconnects."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from starlette.types import Receive, Send


class Outcome(StrEnum):
    RUNNING = "running"
    COMPLETED = "completed"
    CUT = "cut"
    """The script closed the connection."""
    DISCONNECTED = "disconnected"
    """The client closed the connection."""
    STOPPED = "stopped"
    """The server was stopped."""


@dataclass(frozen=True)
class Piece:
    data: bytes
    is_content: bool = False
    """Whether it contains output of the model; faults and delays count these pieces."""
    wait_s: float = 0
    is_stop: bool = False
    """Whether it contains the stop reason."""


@dataclass(frozen=True)
class Playback:
    status: int
    headers: dict[str, str]
    pieces: tuple[Piece, ...]
    is_cut: bool = False
    wait_s: float = 0
    """Delay before the status line."""


OnEnd = Callable[[Outcome, int], None]
"""Receives the outcome and the number of pieces sent."""


class Player:
    """Plays a response into an ASGI connection."""

    def __init__(self, playback: Playback, stopping: asyncio.Event, on_end: OnEnd) -> None:
        self._playback = playback
        self._stopping = stopping
        self._on_end = on_end
        self._has_ended = False
        self._pieces_sent = 0

    async def play(self, receive: Receive, send: Send) -> None:
        playing = asyncio.create_task(self._send_all(send))
        others = {
            asyncio.create_task(_client_gone(receive)): Outcome.DISCONNECTED,
            asyncio.create_task(self._stopping.wait()): Outcome.STOPPED,
        }
        try:
            done, _ = await asyncio.wait({playing, *others}, return_when=asyncio.FIRST_COMPLETED)
            if playing in done:
                playing.result()
            else:
                self._end(next(others[task] for task in others if task in done))
        finally:
            for task in (playing, *others):
                task.cancel()
            await asyncio.gather(playing, *others, return_exceptions=True)
            self._end(Outcome.STOPPED)

    async def _send_all(self, send: Send) -> None:
        """Send all pieces. For a cut the final message is omitted, so that the server closes the connection."""
        playback = self._playback
        *most, last = playback.pieces or (Piece(b""),)
        await asyncio.sleep(playback.wait_s)
        headers = [(name.encode(), value.encode()) for name, value in playback.headers.items()]
        await send({"type": "http.response.start", "status": playback.status, "headers": headers})
        for piece in most:
            await asyncio.sleep(piece.wait_s)
            await send({"type": "http.response.body", "body": piece.data, "more_body": True})
            self._pieces_sent += 1
        await asyncio.sleep(last.wait_s)
        self._pieces_sent += 1
        self._end(Outcome.CUT if playback.is_cut else Outcome.COMPLETED)  # before the client sees the end
        await send({"type": "http.response.body", "body": last.data, "more_body": playback.is_cut})

    def _end(self, outcome: Outcome) -> None:
        if not self._has_ended:
            self._has_ended = True
            self._on_end(outcome, self._pieces_sent)


async def _client_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
