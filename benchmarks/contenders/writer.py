"""Append events to a stream of a PostgreSQL database, as a worker does."""

import sys

from benchmarks.contenders.pace import send_when_asked
from benchmarks.contenders.turns import say
from benchmarks.events import Measured
from benchmarks.loop import run
from forge.events.log import EventLog
from forge.store.database import Store
from forge.telemetry import Metrics


async def append_when_asked(log: EventLog, store: Store, stream: str) -> None:
    async def append(number: int) -> None:
        async with store.begin() as tx:
            await log.append(tx, stream, Measured(number=number))

    await send_when_asked(append)


async def main(url: str, stream: str) -> None:
    store = Store(url)
    say("ready")
    await append_when_asked(EventLog(store, Metrics(version="bench")), store, stream)
    await store.close()


if __name__ == "__main__":
    run(main(sys.argv[1], sys.argv[2]))
