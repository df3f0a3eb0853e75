"""The same runs on DBOS alone, configured as in Forge: the difference is the cost of what Forge adds."""

import sys
import time
from typing import Any

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig
from dbos._serialization import DBOSPortableJSONSerializer
from sqlalchemy import event

from benchmarks.contenders.plan import Plan
from benchmarks.loop import run
from benchmarks.stopwatch import Stopwatch
from forge.runs.dbos_patches import MAX_QUEUE_WAIT_S
from forge.runs.engine import MESSAGE_POLL_S, THREADS
from forge.store.database import configure_sqlite

QUEUE = "bench"


def dbos_config(url: str) -> DBOSConfig:
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": url,
        "application_version": "1",
        "executor_id": "bench",
        "serializer": DBOSPortableJSONSerializer(),
        "log_level": "ERROR",
        "max_executor_threads": THREADS,
        "notification_listener_polling_interval_sec": MESSAGE_POLL_S,
        "enable_otlp": False,
    }
    if url.startswith("sqlite"):
        config["system_database_engine"] = _sqlite_engine(url)
    return config


def _sqlite_engine(url: str) -> sa.Engine:
    engine = sa.create_engine(url, pool_size=THREADS, max_overflow=THREADS)

    def configure(connection: Any, record: Any) -> None:
        configure_sqlite(connection, record)
        connection.isolation_level = "IMMEDIATE"
        connection.create_function("unixepoch", 1, lambda _: time.time())  # SQLite before 3.42 on Python 3.12

    event.listen(engine, "connect", configure)
    return engine


async def main(url: str) -> None:
    took: list[tuple[float, float]] = []
    DBOS(config=dbos_config(url))

    async def noop(number: int) -> int:
        return number

    @DBOS.workflow(name="chain")
    async def chain(steps: int) -> None:
        watch = Stopwatch()
        for i in range(steps):
            await DBOS.run_step_async({"name": "noop"}, noop, i)
        took.append(watch.read())

    DBOS.launch()
    await DBOS.register_queue_async(QUEUE, polling_interval_sec=MAX_QUEUE_WAIT_S)
    await Plan(url, lambda steps: DBOS.enqueue_workflow_async(QUEUE, chain, steps), took).follow()
    DBOS.destroy()


if __name__ == "__main__":
    run(main(sys.argv[1]))
