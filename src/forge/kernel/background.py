"""Work that goes on beside everything else and ends with it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

log = logging.getLogger(__name__)

AGAIN_AFTER_S = 1.0


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None], name: str) -> AsyncGenerator[None]:
    """Cancelled at the end. If it ends by itself with an error, that is a defect, and is logged when it happens."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_report_end)
    try:
        yield
    finally:
        await end([task])


async def end(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended.

    Cancelled again and again, because a cancellation can be lost: when the clean-up it causes fails (a connection
    that is gone cannot be rolled back), the task sees that failure instead, and may well handle it and go on.
    """
    all_of_them = list(tasks)
    left = {task for task in all_of_them if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN_AFTER_S)
    for task in all_of_them:
        if not task.cancelled():
            task.exception()  # looked at: whoever ends a task does not wait for what it comes to


def _report_end(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("the background task %r ended", task.get_name(), exc_info=error)
