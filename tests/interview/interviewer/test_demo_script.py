"""The demo script of `forge models serve` leads through complete interviews."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.gateway import GatewayUnderTest, open_gateway, spender
from tests.support.interview_scripts import AT, make_state
from tests.support.models import StartModels

from forge.interview.domain.config_builder import to_config, to_skill_request
from forge.interview.domain.dialogue import AskQuestion, Chosen, Mode
from forge.interview.domain.state import Basis, Due, InterviewSpeaker, State
from forge.interview.engine import apply_answer, apply_model_turn, begin
from forge.interview.interviewer.skill_writer import write_skill
from forge.interview.interviewer.soul_writer import write_soul
from forge.interview.interviewer.turn_request import request_turn
from forge.llm.models import Role
from forge.skills.models import SkillKind
from forge.store.database import Store

DEMO = Path(__file__).parents[3] / "src/forge/demo/scripts/demo.yaml"
DESCRIPTION = "A bot that plans <b>birthday</b> parties\nfor children"


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'forge.db'}"


def script() -> dict[str, Any]:
    return yaml.safe_load(DEMO.read_text()) | {"delay_s": 0}


async def walk(under: GatewayUnderTest, state: State, option: int = 0) -> State:
    """Choose options to the end, or until the guide takes over."""
    state = begin(state)
    while state.due is Due.ASK:
        answer = await request_turn(under.gateway, spender(f"turn-{len(state.exchanges)}"), state)
        state = apply_model_turn(state, answer.value, model=answer.model, cost_micros=answer.cost_micros)
        if state.due is None and state.asked is not None and state.asked.speaker is InterviewSpeaker.MODEL:
            assert isinstance(state.asked.turn, AskQuestion)
            state = apply_answer(state, Chosen(index=option), AT)
    return state


@pytest.mark.parametrize("option", [0, 1])
async def test_demo_model_creates_a_bot(store: Store, model_server: StartModels, option: int):
    server = model_server(script())
    async with open_gateway(store) as under:
        await under.add("demo", server.url)
        await under.choose("demo:scripted", role=Role.INTERVIEWER)
        state = await walk(under, make_state(DESCRIPTION), option)
        config = to_config(state)
        soul, _ = await write_soul(under.gateway, spender("soul"), state, config)
    assert state.due is Due.WRITE
    assert (config.name, config.personality.tone) == [("Juniper", "warm"), ("Scout", "direct")][option]
    assert [skill.name for skill in config.skills] == [["text-generation"], []][option]
    assert config.model_settings.model == ["default", "demo:scripted"][option]
    assert f"You are {config.name}." in soul and "birthday" in soul


@pytest.mark.parametrize("kind", [SkillKind.SCRIPT, SkillKind.PROMPT, SkillKind.LOCAL])
async def test_demo_model_creates_a_skill(store: Store, model_server: StartModels, kind: SkillKind):
    server = model_server(script())
    async with open_gateway(store) as under:
        await under.add("demo", server.url)
        await under.choose("demo:scripted", role=Role.INTERVIEWER)
        state = await walk(under, make_state("count the words of a text", mode=Mode.SKILL))
        request = to_skill_request(state)
        assert (request.name, request.skill_type) == ("count-words", SkillKind.SCRIPT)
        asked = request.model_copy(update={"skill_type": kind})
        skill, _ = await write_skill(under.gateway, spender("skill"), state, asked)
    assert state.due is Due.WRITE
    sources = {SkillKind.SCRIPT: "skill.py", SkillKind.LOCAL: "scripts/run.py"}
    assert (sources.get(kind) in skill.files) is (kind in sources)


async def test_demo_model_reconfigures_a_bot(store: Store, model_server: StartModels):
    server = model_server(script())
    before = to_config(make_state(DESCRIPTION))
    known = make_state().config.model_copy(
        update={"name": "Pip", "description": "Parties", "model": "default"}
    )
    basis = Basis(bot_slug="pip", fields=known.model_copy(update={"tone": "dry"}))
    async with open_gateway(store) as under:
        await under.add("demo", server.url)
        await under.choose("demo:scripted", role=Role.INTERVIEWER)
        state = await walk(under, make_state("", mode=Mode.RECONFIGURE, basis=basis))
    assert to_config(state).personality.tone == "warm" != before.personality.tone
