"""Requesting turns through the real clients of both API dialects."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.gateway import GatewayUnderTest, open_gateway, spender
from tests.support.interview_scripts import ask, clarify, interview_script, make_exchange, make_state
from tests.support.models import REPAIR, StartModels

from forge.interview.domain.state import State
from forge.interview.interviewer.model_reply import ModelClarification, ModelQuestion, ModelReply
from forge.interview.interviewer.turn_request import TextStream, request_turn
from forge.llm.errors import AnswerUnusable, ModelFault
from forge.llm.gateway import StructuredAnswer
from forge.llm.models import CallStatus, ProviderKind, Role
from forge.store.database import Store

QUESTION = "What shall it be called, so that your children ask for it by name?"
FIRST = ask(QUESTION, "Quill", "Luna", field="name", phase="basics", patch={"tone": "warm"})
SECOND = ask("How shall it sound?", "Warm", "Sly", field="tone")
BROKEN: dict[str, Any] = {"action": "ask_question", "phase": "basics", "options": []}


def repaired_by(turn: dict[str, Any], script: dict[str, Any]) -> dict[str, Any]:
    """Add a scene to an interview that answers the request for a repair."""
    repair = {"match": REPAIR, "turns": [turn]}
    return script | {"scenes": {"repair": repair, **script["scenes"]}}


def question_of(reply: ModelReply) -> ModelQuestion:
    assert isinstance(reply.turn, ModelQuestion)
    return reply.turn


both = pytest.mark.parametrize("kind", list(ProviderKind))


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'forge.db'}"


async def ask_once(
    under: GatewayUnderTest, state: State | None = None
) -> tuple[StructuredAnswer[ModelReply], list[str]]:
    chunks: list[str] = []

    async def receive(chunk: str) -> None:
        chunks.append(chunk)

    return await request_turn(under.gateway, spender(), state or make_state(), receive), chunks


async def add(
    under: GatewayUnderTest, name: str, url: str, kind: ProviderKind = ProviderKind.ANTHROPIC
) -> None:
    await under.add(name, url, kind=kind)


@both
async def test_question_is_streamed_and_returned_with_its_cost(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    server = model_server(interview_script([FIRST], kind=kind))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        answer, chunks = await ask_once(under)
        calls = await under.calls()
    assert len(chunks) > 2
    asked = question_of(answer.value)
    assert "".join(chunks) == asked.question == QUESTION
    assert (asked.field, answer.value.patch.tone) == ("name", "warm")
    assert [option.label for option in asked.options] == ["Quill", "Luna"]
    assert answer.model == "one:scripted"
    assert [call.role for call in calls] == [Role.INTERVIEWER]
    assert answer.cost_micros == calls[0].cost_micros > 0
    assert calls[0].first_token_ms is not None


@both
async def test_each_answer_leads_to_the_next_model_turn(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    server = model_server(interview_script([FIRST, SECOND], kind=kind))
    asked = make_state(exchanges=[make_exchange(1, QUESTION, "Quill", "Luna")])
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        answer, _ = await ask_once(under, asked)
    assert question_of(answer.value).question == "How shall it sound?"
    roles = [message["role"] for message in server.requests()[-1].body["messages"]]
    assert [role for role in roles if role != "system"] == ["user", "assistant", "user"]


def repair_turn(kind: ProviderKind) -> dict[str, Any]:
    return {"tools": [{"answer": FIRST}]} if kind is ProviderKind.ANTHROPIC else {"json": FIRST}


@both
async def test_invalid_turn_is_repaired_once_and_both_calls_are_charged(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    server = model_server(repaired_by(repair_turn(kind), interview_script([BROKEN], kind=kind)))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        answer, chunks = await ask_once(under)
        calls = await under.calls()
    assert "".join(chunks) == question_of(answer.value).question == QUESTION
    assert len(calls) == 2
    assert answer.cost_micros == sum(call.cost_micros for call in calls)


@both
async def test_streams_of_repaired_turns_are_not_mixed(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    wrong = {"turn": {"action": "sing", "question": "What is its na"}}
    server = model_server(repaired_by(repair_turn(kind), interview_script([wrong], kind=kind)))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        answer, chunks = await ask_once(under)
    assert "".join(chunks) == "What is its na"
    assert question_of(answer.value).question == QUESTION


@both
async def test_repair_shows_the_problem_and_an_example_without_the_invalid_reply(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    """A weak model repeats what it sees, and with a low temperature what it said."""
    wrong = {"turn": {"action": "ask_question", "options": ["Bananarama"]}}
    server = model_server(repaired_by(repair_turn(kind), interview_script([wrong], kind=kind)))
    example = ModelReply(turn=ModelClarification(action="clarify", message="For whom?"))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        await request_turn(under.gateway, spender(), make_state(), example=example)
    first, repair = (entry.body for entry in server.requests())
    sent = str(repair["messages"])
    assert "turn.ask_question.question: Field required" in sent and "Bananarama" not in sent
    assert '{"turn":{"action":"clarify","message":"For whom?"}}' in sent
    assert (first.get("temperature"), repair["temperature"]) == (None, 1.0)


@both
async def test_two_invalid_replies_are_unusable(store: Store, model_server: StartModels, kind: ProviderKind):
    server = model_server(interview_script([{"text": "Sure! What would you like?"}], kind=kind))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        with pytest.raises(AnswerUnusable):
            await ask_once(under)
        assert len(await under.calls()) == 2


@both
@pytest.mark.parametrize("stop", ["refusal", "max_tokens"])
async def test_refused_or_truncated_reply_is_unusable(
    store: Store, model_server: StartModels, kind: ProviderKind, stop: str
):
    server = model_server(interview_script([{"text": '{"action": "ask_', "stop": stop}], kind=kind))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        with pytest.raises(AnswerUnusable):
            await ask_once(under)
        assert len(await under.calls()) == 1


@both
@pytest.mark.parametrize("fault", ["529", "cut"])
async def test_unavailable_provider_is_a_fault(
    store: Store, model_server: StartModels, kind: ProviderKind, fault: str
):
    server = model_server(interview_script([FIRST], kind=kind, faults={0: fault}))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        with pytest.raises(ModelFault):
            await ask_once(under)
        assert [call.status for call in await under.calls()] == [CallStatus.FAILED]


@both
async def test_fallback_model_takes_over_after_partial_stream(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    """The complete turn replaces text that was already streamed."""
    late = {"kind": "cut", "after": 12}
    failing = model_server(interview_script([FIRST], kind=kind, faults={0: late}))
    working = model_server(interview_script([FIRST], kind=kind))
    async with open_gateway(store) as under:
        await add(under, "one", failing.url, kind)
        await add(under, "two", working.url, kind)
        await under.choose("one:scripted", "two:scripted", role=Role.INTERVIEWER)
        answer, chunks = await ask_once(under)
    assert "".join(chunks) == QUESTION
    assert answer.model == "two:scripted"


async def test_streaming_callback_is_optional(store: Store, model_server: StartModels):
    server = model_server(interview_script([FIRST]))
    async with open_gateway(store) as under:
        await add(under, "one", server.url)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        answer = await request_turn(under.gateway, spender(), make_state(), None)
    assert isinstance(answer.value.turn, ModelQuestion)


async def test_earlier_messages_are_read_from_the_cache(store: Store, model_server: StartModels):
    server = model_server(interview_script([FIRST, SECOND]))
    asked = make_state("A bot that invents bedtime stories. " * 100)
    answered = asked.replace(exchanges=[make_exchange(1, QUESTION, "Quill", "Luna")])
    async with open_gateway(store) as under:
        await add(under, "one", server.url)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        await request_turn(under.gateway, spender("1"), asked, None)
        await request_turn(under.gateway, spender("2"), answered, None)
        first, second = await under.calls()
    assert second.usage.cache_read >= first.usage.sent - 100


TURN = json.dumps(ask("Was soll es können? “Alles” \\ oder 🌙?", "A", "B", patch={"name": "question"}))


async def stream(chunks: list[str]) -> list[str]:
    received: list[str] = []

    async def receive(chunk: str) -> None:
        received.append(chunk)

    text_stream = TextStream(receive)
    for chunk in chunks:
        await text_stream.feed(chunk)
    return received


@given(cuts=st.lists(st.integers(0, len(TURN)), max_size=30))
async def test_question_is_streamed_for_any_chunking(cuts: list[int]):
    positions = sorted({0, *cuts, len(TURN)})
    chunks = [TURN[start:end] for start, end in pairwise(positions)]
    assert "".join(await stream(chunks)) == "Was soll es können? “Alles” \\ oder 🌙?"


async def test_message_is_streamed():
    assert await stream([json.dumps(clarify("What do you mean?"))]) == ["What do you mean?"]


@pytest.mark.parametrize("junk", ["Sure!", "[1, 2", "null", '"question"', "{]"])
async def test_other_json_is_not_streamed(junk: str):
    assert await stream([junk]) == []


async def test_restarted_turn_streams_only_a_continuation():
    started = '{"turn": {"question": "How shall'
    assert await stream([started, "", '{"turn": {"question": "How shall it sound?"}}']) == [
        "How shall",
        " it sound?",
    ]
    assert await stream([started, "", '{"turn": {"question": "Which tone does it have?"}}']) == ["How shall"]


async def test_question_outside_of_its_turn_is_streamed():
    assert await stream(['{"action": "ask_question", "question": "How?"}']) == ["How?"]
