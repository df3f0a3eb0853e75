"""The contender's side: reply to each line on stdin with a line of JSON, until stdin is closed."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any


def say(answer: Any) -> None:
    print(json.dumps(answer), flush=True)


async def take_turns(answer: Callable[[str], Awaitable[Any]]) -> None:
    loop = asyncio.get_running_loop()
    with ThreadPoolExecutor(1) as reader:
        while request := (await loop.run_in_executor(reader, sys.stdin.readline)).strip():
            say(await answer(request))
