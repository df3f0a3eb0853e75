"""Waiting for the answer to a question that a workflow or another bot has put.

Nobody sits in front of it who could resume an answer whose process died, so it is asked for again. What there is stands
in the database: whoever waits may be interrupted, and finds it again.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from forge.bots.chat import store
from forge.bots.chat.asking import Answering, Asked, Asking, Readied, find_in
from forge.bots.chat.models import MessageStatus, Speaker, Turn
from forge.bots.chat.sessions import own_session
from forge.bots.chat.settling import Settling
from forge.bots.chat.store import MessageRow
from forge.errors import NotFound
from forge.events.log import EventLog
from forge.runs.journal import run_stream
from forge.runs.models import Problem, Run, RunStatus
from forge.runs.service import Runs
from forge.store.engine import Store
from forge.store.outage import survives_outage

MAX_TRIES = 3
"""Of an answer whose process dies each time."""
_ENDS = {
    MessageStatus.STOPPED: Problem(code="stopped", message="Somebody stopped the answer."),
    MessageStatus.INTERRUPTED: Problem(
        code="interrupted", message="The process died each time the answer was written.", retryable=True
    ),
}
_NO_ANSWER = Problem(code="no_answer", message="There is no answer.")
BUDGET = "The budget is used up: somebody has to allow more."

Waits = Callable[[str], AbstractAsyncContextManager[None]]
"""Opened, with a reason, while the answer waits for a person."""


Link = Callable[[str], Awaitable[None]]
"""Told which run writes the answer, whenever it is another."""


class Put(BaseModel):
    """Where a question and its answer are found."""

    model_config = ConfigDict(frozen=True)

    session_id: str
    question_id: str

    @classmethod
    def of(cls, turn: Turn) -> "Put":
        return cls(session_id=turn.session.id, question_id=turn.question.id)


@dataclass(frozen=True)
class Answered:
    """How it ended. The cost is that of all tries."""

    last: MessageRow
    cost_micros: int

    @property
    def problem(self) -> Problem | None:
        """Why there is no whole answer; None when there is one."""
        if self.last.status is MessageStatus.DONE:
            return None
        return self.last.error or _ENDS.get(self.last.status, _NO_ANSWER)


def at_ease(_: str) -> AbstractAsyncContextManager[None]:
    return nullcontext()


async def unlinked(_: str) -> None:
    pass


class Answers:
    def __init__(
        self, database: Store, events: EventLog, runs: Runs, asking: Asking, settling: Settling
    ) -> None:
        self._database = database
        self._events = events
        self._runs = runs
        self._asking = asking
        self._settling = settling

    async def wait(
        self,
        readied: Readied,
        put: Put,
        *,
        parent_run_id: str | None,
        waits: Waits = at_ease,
        link: Link = unlinked,
    ) -> Answered:
        """The answer, once it has ended in whatever way but an interruption, or was interrupted too often."""
        while True:
            answers = await self._answers(put)
            last = answers[-1]
            await link(last.run_id or "")
            if last.status is MessageStatus.WRITING:
                await self.until_ended(last.run_id or "", waits)
                await self._settling.settle(put.session_id)
            elif last.status is MessageStatus.INTERRUPTED and len(answers) < MAX_TRIES:
                await self._ask_again(readied, put, parent_run_id, waits)
            else:
                return Answered(last, sum(one.cost_micros for one in answers))

    async def follow_up(
        self, readied: Readied, behind: MessageRow, text: str, *, parent_run_id: str | None
    ) -> Put:
        """Ask on behind an answer, once: the same words there are the same question."""
        while True:
            try:
                async with self._database.begin() as tx:
                    session = await own_session(tx, readied.account_id, behind.session_id, lock=True)
                    for asked in await store.list_below(tx, session.id, behind.id, Speaker.USER):
                        if asked.text == text:
                            return Put(session_id=session.id, question_id=asked.id)
                    asked = Asked(
                        text, session_id=session.id, after_id=behind.id, parent_run_id=parent_run_id
                    )
                    return Put.of(await self._asking.put(tx, readied, asked))
            except Answering as busy:
                await self.until_free(behind.session_id, busy)

    async def until_free(self, session_id: str, busy: Answering, waits: Waits = at_ease) -> None:
        """Until the answer that is being written in a conversation has ended."""
        await self.until_ended(busy.run_id or "", waits)
        await self._settling.settle(session_id)

    async def until_ended(self, run_id: str, waits: Waits = at_ease) -> None:
        """Of a run that writes an answer; at once when there is none."""
        async with AsyncExitStack() as waiting, self._events.news(run_stream(run_id)) as batches:
            is_waiting = False
            async for _ in batches:
                run = await self._read_run(run_id)
                if run is None or run.status.is_final:
                    return
                if is_waiting and run.status is RunStatus.RUNNING:
                    await waiting.aclose()
                elif not is_waiting and run.status is RunStatus.WAITING:
                    await waiting.enter_async_context(waits(BUDGET))
                is_waiting = run.status is RunStatus.WAITING

    async def _ask_again(self, readied: Readied, put: Put, parent_run_id: str | None, waits: Waits) -> None:
        try:
            async with self._database.begin() as tx:
                session = await self._asking.own(tx, readied.account_id, put.session_id, readied.bot_id)
                question = await find_in(tx, session, put.question_id)
                answers = await store.list_below(tx, session.id, question.id, Speaker.ASSISTANT)
                if answers[-1].status is MessageStatus.INTERRUPTED:
                    await self._asking.answer(tx, session, question, readied, parent_run_id=parent_run_id)
        except Answering as busy:  # somebody else has asked something there
            await self.until_free(put.session_id, busy, waits)

    @survives_outage
    async def _answers(self, put: Put) -> list[MessageRow]:
        async with self._database.read() as tx:
            found = await store.list_below(tx, put.session_id, put.question_id, Speaker.ASSISTANT)
        if not found:
            raise NotFound("The conversation was deleted before its answer was there.")
        return found

    @survives_outage
    async def _read_run(self, run_id: str) -> Run | None:
        async with self._database.read() as tx:
            return (await self._runs.read(tx, [run_id])).get(run_id)
