"""Waiting for an answer that nobody sits in front of: asked for again when its process died, but not for ever."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.bots.chat.rows import add_bot, made_with
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
MONEY = Question(kind="budget", title="More?", options=[GateOption(id="more", label="Yes")])


@dataclass
class Desk:
    """Answers end as they are told to, one after the other."""

    engine: EngineUnderTest
    asking: Questions
    answers: Answers
    readied: ReadyBot
    noted: list[str] = field(default_factory=list[str])

    async def put(self, asked: NewQuestion) -> QuestionRef:
        async with self.engine.store.begin() as tx:
            return QuestionRef.of(await self.asking.ask(tx, self.readied, asked))

    @asynccontextmanager
    async def waits(self, note: str) -> AsyncGenerator[None]:
        self.noted.append(note)
        gate = await self.engine.open_gate()
        await self.engine.runs.answer(
            ACCOUNT, gate.id, NewAnswer(option="more", shown_hash=gate.shown_hash), by="person"
        )
        yield
        self.noted.append("over")


@pytest.fixture
def endings() -> list[AnswerEnding]:
    return []


@pytest.fixture
async def desk(store: Store, endings: list[AnswerEnding]) -> AsyncIterator[Desk]:
    async def answer(context: RunContext, given: ChatInput) -> None:
        ending = endings.pop(0)
        if ending.text == "after the gate":
            await context.ask(MONEY)
        await context.transact(
            "answered", lambda tx: AnswerWriter(engine.events).finish(tx, context.run_id, given, ending)
        )

    kind = RunKind(CHAT, ChatInput, answer, title=lambda given: given.title)
    bot = await add_bot(store)
    readied = ReadyBot(account_id=ACCOUNT, bot_id=bot.id, facts=made_with(), standing=[])
    unused: Any = None
    async with open_engine(store, kind) as engine:
        asking = Questions(engine.events, engine.runs, unused, unused, unused, unused)
        settling = StaleAnswers(store, engine.events, engine.runs)
        yield Desk(engine, asking, Answers(store, engine.events, engine.runs, asking, settling), readied)


def ended(status: MessageStatus, text: str | None = None) -> AnswerEnding:
    return AnswerEnding(status=status, text=text)


ASKED = NewQuestion("What is the tide?", session_id="s-1", opens=True, origin=ADA, title="Tides")


async def test_interrupted_answer_is_requested_again(desk: Desk, endings: list[AnswerEnding]):
    endings += [ended(MessageStatus.INTERRUPTED), ended(MessageStatus.DONE, "It rises.")]
    put = await desk.put(ASKED)
    answered = await desk.answers.wait(desk.readied, put, parent_run_id=None)
    assert (answered.last.status, answered.last.text) == (MessageStatus.DONE, "It rises.")
    assert answered.cost_micros == 2 * made_with().cost_micros, "both tries were paid for"
    again = await desk.answers.wait(desk.readied, put, parent_run_id=None)
    assert again.last.id == answered.last.id


async def test_answer_fails_after_max_attempts(desk: Desk, endings: list[AnswerEnding]):
    endings += [ended(MessageStatus.INTERRUPTED)] * MAX_TRIES
    answered = await desk.answers.wait(desk.readied, await desk.put(ASKED), parent_run_id=None)
    assert answered.last.status is MessageStatus.INTERRUPTED and endings == []


async def test_waiting_for_a_person_is_reported(desk: Desk, endings: list[AnswerEnding]):
    endings += [ended(MessageStatus.DONE, "after the gate")]
    put = await desk.put(ASKED)
    answered = await desk.answers.wait(desk.readied, put, parent_run_id=None, on_waiting=desk.waits)
    assert answered.last.status is MessageStatus.DONE
    assert len(desk.noted) == 2 and "budget" in desk.noted[0] and desk.noted[1] == "over"


async def test_a_question_behind_an_answer_is_asked_once(desk: Desk, endings: list[AnswerEnding]):
    endings += [ended(MessageStatus.DONE, "Five"), ended(MessageStatus.DONE, "5")]
    first = await desk.answers.wait(desk.readied, await desk.put(ASKED), parent_run_id=None)
    puts = [
        await desk.answers.follow_up(desk.readied, first.last, "As a number?", parent_run_id=None)
        for _ in range(2)
    ]
    assert puts[0].question_id == puts[1].question_id
    second = await desk.answers.wait(desk.readied, puts[1], parent_run_id=None)
    assert (second.last.text, endings) == ("5", [])


async def test_one_conversation_is_opened_once_and_keeps_who_began_it(
    desk: Desk, endings: list[AnswerEnding]
):
    endings += [ended(MessageStatus.DONE, "after the gate")]
    await desk.put(ASKED)
    with pytest.raises(AnswerInProgress) as busy:
        await desk.put(ASKED)
    assert busy.value.run_id == (await desk.engine.open_gate()).run_id
    await desk.answers.wait_until_free("s-1", busy.value, desk.waits)
    async with desk.engine.store.begin() as tx:
        assert await desk.asking.add_note(tx, desk.readied, ASKED) == "s-1"
        session = await chats.find_session(tx, "s-1")
    assert session and (session.origin, session.title, session.is_titled) == (ADA, "Tides", True)
