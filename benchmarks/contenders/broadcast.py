"""The lower bound of a fan-out: bare uvicorn that sends the same text to every socket, without a log behind it."""

import asyncio
import socket
from typing import Any

import uvicorn

from benchmarks.contenders.pace import send_when_asked
from benchmarks.contenders.turns import say
from benchmarks.events import Measured
from benchmarks.loop import run
from forge.events.models import Event
from forge.kernel.clock import now

STREAM = "account:floor"


class Broadcast:
    def __init__(self) -> None:
        self._sends: list[Any] = []
        self._sending: set[asyncio.Task[None]] = set()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await receive()  # the subscription
        await send({"type": "websocket.send", "text": "{}"})
        self._sends.append(send)
        while (await receive())["type"] != "websocket.disconnect":
            pass
        self._sends.remove(send)

    async def send(self, number: int) -> None:
        data = Measured(number=number).model_dump()
        text = Event(STREAM, number, now(), Measured.type, data).json
        task = asyncio.create_task(self._tell_all('{"type":"events","events":[' + text + "]}"))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _tell_all(self, text: str) -> None:
        for send in self._sends:
            await send({"type": "websocket.send", "text": text})


async def main() -> None:
    broadcast = Broadcast()
    with socket.create_server(("127.0.0.1", 0), backlog=1000) as listener:
        config = uvicorn.Config(broadcast, log_config=None, lifespan="off", ws="websockets-sansio")
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server._serve(sockets=[listener]))
        say({"url": f"http://127.0.0.1:{listener.getsockname()[1]}", "key": "none", "stream": STREAM})
        await send_when_asked(broadcast.send)
        server.should_exit = True
        await serving


if __name__ == "__main__":
    run(main())
