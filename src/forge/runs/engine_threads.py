"""Keeps DBOS's threads to DBOS.

DBOS makes its thread pool that of the whole event loop. On SQLite all of its threads may wait for the one write lock; if
whoever holds that lock waits for a thread (to move a folder, to resolve a name), nothing ever goes on. So what is not DBOS's
has threads of its own.
"""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context
from functools import partial
from typing import Any, ParamSpec, TypeVar

from dbos import DBOS

P = ParamSpec("P")
T = TypeVar("T")


class EngineThreads(ThreadPoolExecutor):
    """DBOS's pool as DBOS sees it; everybody else's work goes to the pool beside it."""

    def __init__(self, threads: int) -> None:
        super().__init__(max_workers=threads, thread_name_prefix="engine")
        self._others = ThreadPoolExecutor()

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        pool = super() if _is_of_engine(fn) else self._others
        return pool.submit(fn, *args, **kwargs)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        super().shutdown(wait, cancel_futures=cancel_futures)
        self._others.shutdown(wait, cancel_futures=cancel_futures)


def install(engine: DBOS, threads: int) -> None:
    """Instead of the pool it was launched with; what is under way there ends there."""
    launched: ThreadPoolExecutor | None = engine._executor_field  # pyright: ignore[reportPrivateUsage]
    engine._executor_field = EngineThreads(threads)  # pyright: ignore[reportPrivateUsage]
    if launched is not None:
        launched.shutdown(wait=False)


def _is_of_engine(function: Any) -> bool:
    """`asyncio.to_thread` wraps what it is given in the context it is called in."""
    while isinstance(function, partial):
        is_in_context = isinstance(getattr(function.func, "__self__", None), Context)
        function = function.args[0] if is_in_context else function.func
    return str(getattr(function, "__module__", "")).partition(".")[0] == "dbos"
