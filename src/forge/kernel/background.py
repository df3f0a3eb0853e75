"""Background tasks: start, log failures, cancel reliably."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Coroutine, Iterable
from contextlib import asynccontextmanager
from typing import Any

log = logging.getLogger(__name__)

CANCEL_RETRY_S = 1.0


@asynccontextmanager
async def in_background(work: Coroutine[Any, Any, None], name: str) -> AsyncGenerator[None]:
    """Run `work` in a task that is cancelled at the end. A failure is logged when it happens."""
    task = asyncio.create_task(work, name=name)
    task.add_done_callback(_log_failure)
    try:
        yield
    finally:
        await cancel_and_wait([task])


async def cancel_and_wait(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Cancel tasks and wait until they have ended.

    The cancellation is repeated, because it can be lost: if the clean-up it causes fails (a lost connection cannot be
    rolled back), the task gets that error instead, and may handle it and continue.
    """
    all_tasks = list(tasks)
    pending = {task for task in all_tasks if not task.done()}
    while pending:
        for task in pending:
            task.cancel()
        _, pending = await asyncio.wait(pending, timeout=CANCEL_RETRY_S)
    for task in all_tasks:
        if not task.cancelled():
            task.exception()  # retrieved, else asyncio logs it as never retrieved


def _log_failure(task: asyncio.Task[None]) -> None:
    if not task.cancelled() and (error := task.exception()):
        log.error("the background task %r failed", task.get_name(), exc_info=error)
