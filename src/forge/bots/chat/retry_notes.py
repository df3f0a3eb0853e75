"""Tell the readers of a conversation that the model did not answer, and when it is asked again."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta

from forge.bots.chat import store
from forge.bots.chat.branches import session_stream
from forge.bots.chat.models import ChatRetrying, RetryNote
from forge.bots.models import MessageStatus
from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs.attempt import Retry, StepInfo
from forge.runs.models import Problem
from forge.store.database import Store, survives_outage


@dataclass(frozen=True)
class RetryNotes:
    database: Store
    events: EventLog

    @asynccontextmanager
    async def around(self, step: StepInfo, retry: Retry, answer_id: str) -> AsyncGenerator[None]:
        """Publish a failure of the block after which the step is retried."""
        try:
            yield
        except ForgeError as error:
            problem = Problem.of(error)
            delay_s = retry.delay_after(step.attempt, problem.retry_after_s or 0)
            if problem.retryable and delay_s is not None:
                note = RetryNote(
                    problem=problem,
                    attempt=step.attempt + 1,
                    attempts=retry.attempts,
                    at=now() + timedelta(seconds=delay_s),
                )
                await self._save(step, answer_id, note)
            raise

    @survives_outage
    async def _save(self, step: StepInfo, answer_id: str, note: RetryNote) -> None:
        async with self.database.begin() as tx:
            row = await store.find_message(tx, answer_id)
            if row is None or row.answer is None:
                return
            facts = row.answer.model_copy(update={"retry": note}).model_dump(mode="json")
            changed = await store.change_message(
                tx, answer_id, {MessageStatus.WRITING}, of_run=step.run_id, answer=facts
            )
            if changed is not None:
                event = ChatRetrying(message_id=answer_id, retry=note)
                await self.events.append(tx, session_stream(row.session_id), event)
