"""Looks after conversations that have fallen quiet: takes facts from them, and ends answers that nobody writes."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy.exc import SQLAlchemyError

from forge.bots.chat import store
from forge.bots.chat.settling import Settling
from forge.bots.chat.store import SessionRow
from forge.bots.chat.upkeep import REMEMBER, RememberInput
from forge.kernel.clock import now
from forge.runs.service import Runs
from forge.store.engine import Store, Tx

log = logging.getLogger(__name__)

EVERY_S = 30.0
QUIET = timedelta(minutes=2)
LONG_AGO = timedelta(days=7)
BATCH = 20


class Quiet:
    def __init__(
        self, database: Store, runs: Runs, settling: Settling, clock: Callable[[], datetime] = now
    ) -> None:
        self._database = database
        self._runs = runs
        self._settling = settling
        self._clock = clock

    async def listen(self) -> None:
        """Runs until cancelled."""
        while True:
            await asyncio.sleep(EVERY_S)
            try:
                await self.sweep()
            except (SQLAlchemyError, OSError):
                log.exception("cannot look for quiet conversations; trying again later")

    async def sweep(self) -> int:
        at = self._clock()
        async with self._database.read() as tx:
            answering = await store.list_answering(tx)
            found = await store.list_unremembered(
                tx, quiet_since=at - QUIET, not_before=at - LONG_AGO, limit=BATCH
            )
        for session_id in answering:
            await self._settling.settle(session_id)
        for session in found:
            async with self._database.begin() as tx:
                await self.remember(tx, session.id)
        return len(found)

    async def remember(self, tx: Tx, session_id: str) -> bool:
        """Start it for what nobody has looked at yet; claimed in the same transaction, so it happens once.

        Only of what a person said: a workflow or another bot may quote anybody, and a memory lasts.
        """
        session = await store.find_session(tx, session_id, lock=True)
        if session is None or session.head_id is None or session.head_id == session.remembered_id:
            return False
        if session.origin is not None:
            return False
        if await store.find_writing(tx, session_id):
            return False
        await store.change_session(tx, session.id, remembered_id=session.head_id)
        wanted = _wanted(session, session.head_id)
        await self._runs.start(tx, session.account_id, REMEMBER, wanted.model_dump())
        return True


def _wanted(session: SessionRow, head_id: str) -> RememberInput:
    return RememberInput(
        bot_id=session.bot_id,
        session_id=session.id,
        title=session.title,
        after_id=session.remembered_id,
        upto_id=head_id,
    )
