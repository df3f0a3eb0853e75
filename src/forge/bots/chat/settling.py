"""Ends answers whose run has ended without them: cancelled from elsewhere, or broken by a defect.

Without it they would look as if they were being written for ever, and nothing more could be said.
"""

from forge.bots.chat import store
from forge.bots.chat.branches import read_message, session_stream
from forge.bots.chat.models import ChatAnswered, MessageStatus
from forge.bots.chat.skill_use import with_uses_over
from forge.bots.chat.store import MessageRow
from forge.bots.telling import tell_changed
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs.models import Run, RunStatus
from forge.runs.service import Runs
from forge.store.engine import Store


class Settling:
    def __init__(self, database: Store, events: EventLog, runs: Runs) -> None:
        self._database = database
        self._events = events
        self._runs = runs

    async def settle(self, session_id: str) -> None:
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
        facts = with_uses_over(writing.answer) if writing.answer else None
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
                told = ChatAnswered(answer=await read_message(tx, row))
                await self._events.append(tx, session_stream(row.session_id), told)
                session = await store.find_session(tx, row.session_id)
                if session is not None:
                    await tell_changed(tx, self._events, session.bot_id, "session")
