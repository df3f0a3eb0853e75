"""Maintain sessions: end answers whose run has ended, and extract facts from idle sessions."""

import asyncio
import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from sqlalchemy.exc import SQLAlchemyError

from forge.bots.chat import store
from forge.bots.chat.branches import read_message, session_stream
from forge.bots.chat.models import ChatAnswered
from forge.bots.chat.run_inputs import REMEMBER, RememberInput
from forge.bots.chat.skill_use import as_ended
from forge.bots.chat.store import MessageRow, SessionRow
from forge.bots.models import MessageStatus
from forge.bots.notifications import notify_changed
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs.models import Run, RunStatus
from forge.runs.service import Runs
from forge.store.database import Store, Tx


class StaleAnswers:
    def __init__(self, database: Store, events: EventLog, runs: Runs) -> None:
        self._database = database
        self._events = events
        self._runs = runs

    async def end(self, session_id: str) -> None:
        async with self._database.read() as tx:
            writing = await store.find_writing(tx, session_id)
            found = await self._runs.read(tx, [row.run_id for row in writing if row.run_id])
        for row in writing:
            run = found.get(row.run_id or "")
            if run is None or run.status.is_final:
                await self._end(row, run)

    async def _end(self, writing: MessageRow, run: Run | None) -> None:
        status = MessageStatus.INTERRUPTED
        if run is not None and run.status is RunStatus.CANCELLED:
            status = MessageStatus.STOPPED
        facts = as_ended(writing.answer) if writing.answer else None
        async with self._database.begin() as tx:
            row = await store.change_message(
                tx,
                writing.id,
                {MessageStatus.WRITING},
                of_run=writing.run_id,
                status=status.value,
                error=run.error.model_dump(mode="json") if run and run.error else None,
                finished_at=now(),
                answer=facts.model_dump(mode="json") if facts else None,
            )
            if row is not None:
                event = ChatAnswered(answer=await read_message(tx, row))
                await self._events.append(tx, session_stream(row.session_id), event)
                session = await store.find_session(tx, row.session_id)
                if session is not None:
                    await notify_changed(tx, self._events, session.bot_id, "session")


log = logging.getLogger(__name__)

SWEEP_INTERVAL_S = 30.0
IDLE_AFTER = timedelta(minutes=2)
MAX_IDLE = timedelta(days=7)
BATCH = 20


class IdleSessions:
    def __init__(
        self, database: Store, runs: Runs, stale_answers: StaleAnswers, clock: Callable[[], datetime] = now
    ) -> None:
        self._database = database
        self._runs = runs
        self._stale_answers = stale_answers
        self._clock = clock

    async def run(self) -> None:
        """Sweep until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_INTERVAL_S)
            try:
                await self.sweep()
            except (SQLAlchemyError, OSError):
                log.exception("cannot sweep idle sessions; retrying later")

    async def sweep(self) -> int:
        at = self._clock()
        async with self._database.read() as tx:
            answering = await store.list_answering(tx)
            found = await store.list_unremembered(
                tx, quiet_since=at - IDLE_AFTER, not_before=at - MAX_IDLE, limit=BATCH
            )
        for session_id in answering:
            await self._stale_answers.end(session_id)
        for session in found:
            async with self._database.begin() as tx:
                await self.extract_facts(tx, session.id)
        return len(found)

    async def extract_facts(self, tx: Tx, session_id: str) -> bool:
        """Start the extraction of facts from new messages, which are claimed in the same transaction.

        Only sessions started by a person are scanned: workflows and bots may quote anyone, and memories last.
        """
        session = await store.find_session(tx, session_id, lock=True)
        if session is None or session.head_id is None or session.head_id == session.remembered_id:
            return False
        if session.origin is not None:
            return False
        if await store.find_writing(tx, session_id):
            return False
        await store.change_session(tx, session.id, remembered_id=session.head_id)
        inputs = _remember_input(session, session.head_id)
        await self._runs.start(tx, session.account_id, REMEMBER, inputs.model_dump())
        return True


def _remember_input(session: SessionRow, head_id: str) -> RememberInput:
    return RememberInput(
        bot_id=session.bot_id,
        session_id=session.id,
        title=session.title,
        after_id=session.remembered_id,
        upto_id=head_id,
    )
