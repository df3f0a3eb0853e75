"""The event loop that `forge serve` uses, for contenders."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import uvicorn

T = TypeVar("T")


def run(main: Coroutine[Any, Any, T]) -> T:
    with asyncio.Runner(loop_factory=uvicorn.Config("", log_config=None).get_loop_factory()) as runner:
        return runner.run(main)
