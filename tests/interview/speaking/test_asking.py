"""The model's next turn, through the real clients of both dialects."""

from pathlib import Path
from typing import Any

import pytest
from tests.support.gateway import GatewayUnderTest, open_gateway, spender
from tests.support.interviews import a_state, an_exchange, ask, interview_script
from tests.support.models import StartModels

from forge.interview.speaking.asking import Spoken
from forge.interview.speaking.asking import ask as ask_model
from forge.interview.speaking.reply import Action
from forge.interview.state import State
from forge.llm.errors import AnswerUnusable, ModelFault
from forge.llm.models import CallStatus, ProviderKind, Role
from forge.store.engine import Store

QUESTION = "What shall it be called, so that your children ask for it by name?"
FIRST = ask(QUESTION, "Quill", "Luna", field="name", phase="basics", patch={"tone": "warm"})
SECOND = ask("How shall it sound?", "Warm", "Sly", field="tone")
BROKEN: dict[str, Any] = {"action": "ask_question", "phase": "basics", "options": []}

both = pytest.mark.parametrize("kind", list(ProviderKind))


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'forge.db'}"


async def ask_once(under: GatewayUnderTest, state: State | None = None) -> tuple[Spoken, list[str]]:
    heard: list[str] = []

    async def hear(piece: str) -> None:
        heard.append(piece)

    return await ask_model(under.gateway, spender(), state or a_state(), hear), heard


async def add(
    under: GatewayUnderTest, name: str, url: str, kind: ProviderKind = ProviderKind.ANTHROPIC
) -> None:
    await under.add(name, url, kind=kind)


@both
async def test_the_question_is_heard_in_pieces_and_comes_whole_with_its_bill(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    server = model_server(interview_script([FIRST], kind=kind))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        spoken, heard = await ask_once(under)
        calls = await under.calls()
    assert len(heard) > 2
    assert "".join(heard) == spoken.turn.question == QUESTION
    assert (spoken.turn.field, spoken.turn.patch.tone) == ("name", "warm")
    assert [option.label for option in spoken.turn.options] == ["Quill", "Luna"]
    assert spoken.model == "one:scripted"
    assert [call.role for call in calls] == [Role.INTERVIEWER]
    assert spoken.cost_micros == calls[0].cost_micros > 0
    assert calls[0].first_token_ms is not None
    assert Spoken.model_validate_json(spoken.model_dump_json()) == spoken


@both
async def test_each_answer_leads_to_the_next_turn(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    server = model_server(interview_script([FIRST, SECOND], kind=kind))
    asked = a_state(exchanges=[an_exchange(1, QUESTION, "Quill", "Luna")])
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        spoken, _ = await ask_once(under, asked)
    assert spoken.turn.question == "How shall it sound?"
    roles = [message["role"] for message in server.requests()[-1].body["messages"]]
    assert [role for role in roles if role != "system"] == ["user", "assistant", "user"]


@both
async def test_a_turn_that_cannot_be_shown_is_repaired_once_and_both_calls_are_paid(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    script = interview_script([BROKEN, FIRST], kind=kind)
    del script["scenes"]["interview"]["position"]  # the repair is the second reply of the same turn
    server = model_server(script)
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        spoken, heard = await ask_once(under)
        calls = await under.calls()
    assert "".join(heard) == spoken.turn.question == QUESTION
    assert len(calls) == 2
    assert spoken.cost_micros == sum(call.cost_micros for call in calls)
    told = str(server.requests()[-1].body["messages"])
    assert "ask_question needs a `question`" in told


@both
async def test_words_of_a_turn_that_is_repaired_are_not_mixed_with_those_of_the_next(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    wrong = {"action": "sing", "question": "What is its na"}
    script = interview_script([wrong, FIRST], kind=kind)
    del script["scenes"]["interview"]["position"]
    server = model_server(script)
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        spoken, heard = await ask_once(under)
    assert "".join(heard) == "What is its na"
    assert spoken.turn.question == QUESTION


@both
async def test_garbage_twice_is_unusable(store: Store, model_server: StartModels, kind: ProviderKind):
    server = model_server(interview_script([{"text": "Sure! What would you like?"}], kind=kind))
    async with open_gateway(store) as under:
        await add(under, "one", server.url, kind)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        with pytest.raises(AnswerUnusable):
            await ask_once(under)
        assert len(await under.calls()) == 2


@both
@pytest.mark.parametrize("stop", ["refusal", "max_tokens"])
async def test_a_refusal_or_an_answer_that_was_cut_off_is_unusable_at_once(
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
async def test_a_provider_that_is_down_is_a_fault(
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
async def test_another_model_takes_over_even_after_words_were_heard(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    """Words of a turn are a foretaste that the whole replaces, so nothing is left standing half."""
    late = {"kind": "cut", "after": 12}
    failing = model_server(interview_script([FIRST], kind=kind, faults={0: late}))
    working = model_server(interview_script([FIRST], kind=kind))
    async with open_gateway(store) as under:
        await add(under, "one", failing.url, kind)
        await add(under, "two", working.url, kind)
        await under.choose("one:scripted", "two:scripted", role=Role.INTERVIEWER)
        spoken, heard = await ask_once(under)
    assert "".join(heard) == QUESTION
    assert spoken.model == "two:scripted"


async def test_nobody_has_to_listen(store: Store, model_server: StartModels):
    server = model_server(interview_script([FIRST]))
    async with open_gateway(store) as under:
        await add(under, "one", server.url)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        spoken = await ask_model(under.gateway, spender(), a_state(), None)
    assert spoken.turn.action is Action.ASK


async def test_what_was_said_before_is_read_from_the_cache(store: Store, model_server: StartModels):
    server = model_server(interview_script([FIRST, SECOND]))
    asked = a_state("A bot that invents bedtime stories. " * 100)
    answered = asked.but(exchanges=[an_exchange(1, QUESTION, "Quill", "Luna")])
    async with open_gateway(store) as under:
        await add(under, "one", server.url)
        await under.choose("one:scripted", role=Role.INTERVIEWER)
        await ask_model(under.gateway, spender("1"), asked, None)
        await ask_model(under.gateway, spender("2"), answered, None)
        first, second = await under.calls()
    assert second.usage.cache_read >= first.usage.sent - 100
