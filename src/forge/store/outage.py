"""What to do while the database is away: wait for it."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from sqlalchemy.exc import SQLAlchemyError

from forge.store.engine import is_outage

log = logging.getLogger(__name__)

FIRST_RETRY_S = 0.1
LONGEST_RETRY_S = 5.0

P = ParamSpec("P")
T = TypeVar("T")


def survives_outage(function: Callable[P, Awaitable[T]]) -> Callable[P, Awaitable[T]]:
    """A database that is away for a while makes a run wait, never fail: tried again until it is back, and said once."""

    @wraps(function)
    async def persistent(*args: P.args, **kwargs: P.kwargs) -> T:
        delay_s = FIRST_RETRY_S
        while True:
            try:
                return await function(*args, **kwargs)
            except SQLAlchemyError as error:
                if not is_outage(error):
                    raise
                if delay_s == FIRST_RETRY_S:
                    log.warning("the database is away, trying again until it is back: %s", error)
            await asyncio.sleep(delay_s)
            delay_s = min(delay_s * 2, LONGEST_RETRY_S)

    return persistent
