"""Waiting for unattended answers: an interrupted answer is requested again, up to a limit."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.bots.chat.rows import add_bot, answer_facts
from tests.support.engine import ACCOUNT, EngineUnderTest, open_engine

from forge.bots.chat import store as chats
from forge.bots.chat.answers import MAX_TRIES, Answers, QuestionRef
from forge.bots.chat.completion import AnswerEnding, AnswerWriter
from forge.bots.chat.maintenance import StaleAnswers
from forge.bots.chat.models import BotOrigin
from forge.bots.chat.questions import AnswerInProgress, NewQuestion, Questions, ReadyBot
from forge.bots.chat.run_inputs import CHAT, ChatInput
from forge.bots.models import MessageStatus
from forge.runs.context import RunContext
from forge.runs.kinds import RunKind
from forge.runs.models import GateOption, NewAnswer, Question
from forge.store.database import Store

ADA = BotOrigin(bot_id="1", slug="ada", name="Ada", conversation_id="c")
BUDGET_QUESTION = Question(kind="budget", title="More?", options=[GateOption(id="more", label="Yes")])


@dataclass
class AnswerEnvironment:
    """A bot whose answers end as listed in `endings`."""

    engine: EngineUnderTest
    questions: Questions
    answers: Answers
    ready_bot: ReadyBot
    notes: list[str] = field(default_factory=list[str])

    async def ask(self, question: NewQuestion) -> QuestionRef:
        async with self.engine.store.begin() as tx:
            return QuestionRef.of(await self.questions.ask(tx, self.ready_bot, question))

    @asynccontextmanager
    async def on_waiting(self, note: str) -> AsyncGenerator[None]:
        self.notes.append(note)
        gate = await self.engine.open_gate()
        await self.engine.runs.answer(
            ACCOUNT, gate.id, NewAnswer(option="more", shown_hash=gate.shown_hash), by="person"
        )
        yield
        self.notes.append("continued")


@pytest.fixture
def endings() -> list[AnswerEnding]:
    return []


@pytest.fixture
async def env(store: Store, endings: list[AnswerEnding]) -> AsyncIterator[AnswerEnvironment]:
    async def answer(context: RunContext, given: ChatInput) -> None:
        ending = endings.pop(0)
        if ending.text == "after the gate":
            await context.ask(BUDGET_QUESTION)
        await context.transact(
            "answered",
            lambda tx: AnswerWriter(engine.events).finish(tx, context.run_id, given, ending),
        )

    kind = RunKind(CHAT, ChatInput, answer, title=lambda given: given.title)
    bot = await add_bot(store)
    ready_bot = ReadyBot(account_id=ACCOUNT, bot_id=bot.id, facts=answer_facts(), standing=[])
    unused: Any = None
    async with open_engine(store, kind) as engine:
        questions = Questions(engine.events, engine.runs, unused, unused, unused, unused)
        stale_answers = StaleAnswers(store, engine.events, engine.runs)
        yield AnswerEnvironment(
            engine, questions, Answers(store, engine.events, engine.runs, questions, stale_answers), ready_bot
        )


def ending(status: MessageStatus, text: str | None = None) -> AnswerEnding:
    return AnswerEnding(status=status, text=text)


QUESTION = NewQuestion("What is the tide?", session_id="s-1", opens=True, origin=ADA, title="Tides")


async def test_interrupted_answer_is_requested_again(env: AnswerEnvironment, endings: list[AnswerEnding]):
    endings += [ending(MessageStatus.INTERRUPTED), ending(MessageStatus.DONE, "It rises.")]
    question = await env.ask(QUESTION)
    result = await env.answers.wait(env.ready_bot, question, parent_run_id=None)
    assert (result.last.status, result.last.text) == (MessageStatus.DONE, "It rises.")
    assert result.cost_micros == 2 * answer_facts().cost_micros, "both attempts are charged"
    repeated = await env.answers.wait(env.ready_bot, question, parent_run_id=None)
    assert repeated.last.id == result.last.id


async def test_answer_fails_after_max_attempts(env: AnswerEnvironment, endings: list[AnswerEnding]):
    endings += [ending(MessageStatus.INTERRUPTED)] * MAX_TRIES
    result = await env.answers.wait(env.ready_bot, await env.ask(QUESTION), parent_run_id=None)
    assert result.last.status is MessageStatus.INTERRUPTED and endings == []


async def test_waiting_for_a_person_is_reported(env: AnswerEnvironment, endings: list[AnswerEnding]):
    endings += [ending(MessageStatus.DONE, "after the gate")]
    question = await env.ask(QUESTION)
    result = await env.answers.wait(env.ready_bot, question, parent_run_id=None, on_waiting=env.on_waiting)
    assert result.last.status is MessageStatus.DONE
    assert len(env.notes) == 2 and "budget" in env.notes[0] and env.notes[1] == "continued"


async def test_follow_up_question_is_asked_once(env: AnswerEnvironment, endings: list[AnswerEnding]):
    endings += [ending(MessageStatus.DONE, "Five"), ending(MessageStatus.DONE, "5")]
    first = await env.answers.wait(env.ready_bot, await env.ask(QUESTION), parent_run_id=None)
    questions = [
        await env.answers.follow_up(env.ready_bot, first.last, "As a number?", parent_run_id=None)
        for _ in range(2)
    ]
    assert questions[0].question_id == questions[1].question_id
    second = await env.answers.wait(env.ready_bot, questions[1], parent_run_id=None)
    assert (second.last.text, endings) == ("5", [])


async def test_conversation_is_opened_once_and_keeps_its_origin(
    env: AnswerEnvironment, endings: list[AnswerEnding]
):
    endings += [ending(MessageStatus.DONE, "after the gate")]
    await env.ask(QUESTION)
    with pytest.raises(AnswerInProgress) as busy:
        await env.ask(QUESTION)
    assert busy.value.run_id == (await env.engine.open_gate()).run_id
    await env.answers.wait_until_free("s-1", busy.value, env.on_waiting)
    async with env.engine.store.begin() as tx:
        assert await env.questions.add_note(tx, env.ready_bot, QUESTION) == "s-1"
        session = await chats.find_session(tx, "s-1")
    assert session and (session.origin, session.title, session.is_titled) == (ADA, "Tides", True)
