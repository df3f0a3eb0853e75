"""The minimum that answers `/health`: FastAPI on uvicorn. With a database URL and a number: also DBOS with that many
workflows waiting for a message."""

import argparse
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import uvicorn
from fastapi import FastAPI

WAIT_S = 86_400


@asynccontextmanager
async def dbos(url: str, waiting: int) -> AsyncGenerator[None]:
    from dbos import DBOS

    from benchmarks.contenders.dbos_runs import dbos_config

    config = dbos_config(url)
    del config[
        "notification_listener_polling_interval_sec"
    ]  # once a second, the default: one query per waiter
    DBOS(config=config)

    @DBOS.workflow(name="wait")
    async def wait() -> None:
        await DBOS.recv_async("answer", timeout_seconds=WAIT_S)

    DBOS.launch()
    for _ in range(waiting):
        await DBOS.start_workflow_async(wait)
    yield
    DBOS.destroy()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--dbos", default="")
    parser.add_argument("--waiting", type=int, default=0)
    given = parser.parse_args()
    api = FastAPI(lifespan=(lambda _: dbos(given.dbos, given.waiting)) if given.dbos else None)

    @api.get("/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    uvicorn.run(api, port=given.port, log_level="error", access_log=False)


if __name__ == "__main__":
    main()
