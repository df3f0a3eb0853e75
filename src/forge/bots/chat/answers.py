"""Wait for answers to questions of workflows and other bots.

No person is there to resume an interrupted answer, so the question is asked again. All state is in the database: a
caller that is interrupted can wait again.
"""

from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from forge.bots.chat import store
from forge.bots.chat.maintenance import StaleAnswers
from forge.bots.chat.models import Speaker, Turn
from forge.bots.chat.questions import AnswerInProgress, NewQuestion, Questions, ReadyBot, find_in_session
from forge.bots.chat.sessions import find_own_session
from forge.bots.chat.store import MessageRow
from forge.bots.models import MessageStatus
from forge.errors import NotFound
from forge.events.log import EventLog
from forge.runs.journal import run_stream
from forge.runs.models import Problem, Run, RunStatus
from forge.runs.service import Runs
from forge.store.database import Store, survives_outage

MAX_TRIES = 3
"""Attempts if the process dies each time."""
_ENDS = {
    MessageStatus.STOPPED: Problem(code="stopped", message="The answer was stopped."),
    MessageStatus.INTERRUPTED: Problem(
        code="interrupted", message="The process died on every attempt to write the answer.", retryable=True
    ),
}
_NO_ANSWER = Problem(code="no_answer", message="There is no answer.")
BUDGET = "The budget is used up: increase it to continue."

OnWaiting = Callable[[str], AbstractAsyncContextManager[None]]
"""Context manager that is open while the answer waits for a person; the argument is the reason."""


OnRun = Callable[[str], Awaitable[None]]
"""Called with the id of the run that writes the answer, whenever it changes."""


class QuestionRef(BaseModel):
    """Reference to a question and its answers."""

    model_config = ConfigDict(frozen=True)

    session_id: str
    question_id: str

    @classmethod
    def of(cls, turn: Turn) -> "QuestionRef":
        return cls(session_id=turn.session.id, question_id=turn.question.id)


@dataclass(frozen=True)
class FinishedAnswer:
    """An answer that ended. The cost includes all attempts."""

    last: MessageRow
    cost_micros: int

    @property
    def problem(self) -> Problem | None:
        """Why the answer is not complete; None if it is."""
        if self.last.status is MessageStatus.DONE:
            return None
        return self.last.error or _ENDS.get(self.last.status, _NO_ANSWER)


def ignore_waiting(_: str) -> AbstractAsyncContextManager[None]:
    return nullcontext()


async def ignore_run(_: str) -> None:
    pass


class Answers:
    def __init__(
        self, database: Store, events: EventLog, runs: Runs, questions: Questions, stale_answers: StaleAnswers
    ) -> None:
        self._database = database
        self._events = events
        self._runs = runs
        self._questions = questions
        self._stale_answers = stale_answers

    async def wait(
        self,
        bot: ReadyBot,
        question: QuestionRef,
        *,
        parent_run_id: str | None,
        on_waiting: OnWaiting = ignore_waiting,
        on_run: OnRun = ignore_run,
    ) -> FinishedAnswer:
        """Wait until the answer ends. After an interruption it is requested again, up to MAX_TRIES times."""
        while True:
            answers = await self._answers(question)
            last = answers[-1]
            await on_run(last.run_id or "")
            if last.status is MessageStatus.WRITING:
                await self.wait_until_ended(last.run_id or "", on_waiting)
                await self._stale_answers.end(question.session_id)
            elif last.status is MessageStatus.INTERRUPTED and len(answers) < MAX_TRIES:
                await self._ask_again(bot, question, parent_run_id, on_waiting)
            else:
                return FinishedAnswer(last, sum(one.cost_micros for one in answers))

    async def follow_up(
        self, ready: ReadyBot, behind: MessageRow, text: str, *, parent_run_id: str | None
    ) -> QuestionRef:
        """Ask a follow-up question after an answer, once: a question with the same text is reused."""
        while True:
            try:
                async with self._database.begin() as tx:
                    session = await find_own_session(tx, ready.account_id, behind.session_id, lock=True)
                    for asked in await store.list_replies(tx, session.id, behind.id, Speaker.USER):
                        if asked.text == text:
                            return QuestionRef(session_id=session.id, question_id=asked.id)
                    asked = NewQuestion(
                        text, session_id=session.id, after_id=behind.id, parent_run_id=parent_run_id
                    )
                    return QuestionRef.of(await self._questions.ask(tx, ready, asked))
            except AnswerInProgress as busy:
                await self.wait_until_free(behind.session_id, busy)

    async def wait_until_free(
        self, session_id: str, busy: AnswerInProgress, on_waiting: OnWaiting = ignore_waiting
    ) -> None:
        """Wait until the current answer of a conversation ends."""
        await self.wait_until_ended(busy.run_id or "", on_waiting)
        await self._stale_answers.end(session_id)

    async def wait_until_ended(self, run_id: str, on_waiting: OnWaiting = ignore_waiting) -> None:
        """Wait until a run ends; returns immediately if it does not exist."""
        async with AsyncExitStack() as waiting, self._events.follow_new(run_stream(run_id)) as batches:
            is_waiting = False
            async for _ in batches:
                run = await self._read_run(run_id)
                if run is None or run.status.is_final:
                    return
                if is_waiting and run.status is RunStatus.RUNNING:
                    await waiting.aclose()
                elif not is_waiting and run.status is RunStatus.WAITING:
                    await waiting.enter_async_context(on_waiting(BUDGET))
                is_waiting = run.status is RunStatus.WAITING

    async def _ask_again(
        self, ready: ReadyBot, asked: QuestionRef, parent_run_id: str | None, on_waiting: OnWaiting
    ) -> None:
        try:
            async with self._database.begin() as tx:
                session = await self._questions.lock_idle_session(
                    tx, ready.account_id, asked.session_id, ready.bot_id
                )
                question = await find_in_session(tx, session, asked.question_id)
                answers = await store.list_replies(tx, session.id, question.id, Speaker.ASSISTANT)
                if answers[-1].status is MessageStatus.INTERRUPTED:
                    await self._questions.start_answer(
                        tx, session, question, ready, parent_run_id=parent_run_id
                    )
        except AnswerInProgress as busy:  # another question was asked in the session
            await self.wait_until_free(asked.session_id, busy, on_waiting)

    @survives_outage
    async def _answers(self, question: QuestionRef) -> list[MessageRow]:
        async with self._database.read() as tx:
            found = await store.list_replies(tx, question.session_id, question.question_id, Speaker.ASSISTANT)
        if not found:
            raise NotFound("The conversation was deleted before the answer was written.")
        return found

    @survives_outage
    async def _read_run(self, run_id: str) -> Run | None:
        async with self._database.read() as tx:
            return (await self._runs.read(tx, [run_id])).get(run_id)
