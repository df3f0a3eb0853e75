"""Trigger tests: a scripted model picks a skill by its description."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.gateway import GatewayUnderTest, open_gateway, spender
from tests.support.models import ModelServer, StartModels

from forge.errors import Invalid
from forge.llm.errors import ModelUnknown
from forge.llm.models import Role
from forge.skills.invocations.trigger_tests import MAX_SKILLS, TriggerResult, TriggerTests
from forge.skills.models import Case, SkillKind
from forge.skills.prompts.skill_catalog import CatalogLine
from forge.store.database import Store

FROST = CatalogLine("frost-dates", "Finds the last frost of a place, for planting.", SkillKind.SCRIPT)
OTHERS = [CatalogLine(f"s{number:02}", "Does something else.", SkillKind.PROMPT) for number in range(40)]
RIVAL = CatalogLine("zz-planting", "Says what planting a place needs.", SkillKind.PROMPT)
GENERATED = {
    "fitting": ["When can I plant peas in Oslo?", "Is it safe to plant?"],
    "other": ["Hi!", "What is 2+2?"],
}


@pytest.fixture
def store_url(tmp_path: Path, new_database: Callable[[str, Path], str]) -> str:
    return new_database("sqlite", tmp_path)


def picks(name: str) -> dict[str, Any]:
    return {"tools": [{"use_skill": {"name": name}}]}


def script(**replies: dict[str, Any]) -> dict[str, Any]:
    """Return a script that answers messages with these words; underscores are spaces."""
    return {
        "scenes": {
            words: {"match": {"opening": re.escape(words.replace("_", " "))}, "turns": [turn]}
            for words, turn in replies.items()
        }
    }


async def run_triggers(
    models: GatewayUnderTest, server: ModelServer, files: dict[str, bytes], others: list[CatalogLine]
) -> TriggerResult:
    await models.add("one", server.url)
    await models.choose("one:scripted", role=Role.BOT)
    return await TriggerTests(models.gateway).run(spender(), FROST, others, files)


async def test_cases_of_the_file_are_tested_against_similar_skills(store: Store, model_server: StartModels):
    cases = [{"say": "When is the last frost?"}, {"say": "Hello!", "should": False}, {"say": "May I plant?"}]
    server = model_server(
        script(last_frost=picks("frost-dates"), Hello={"text": "Hello."}, May_I=picks("zz-planting"))
    )
    async with open_gateway(store) as models:
        found = await run_triggers(
            models, server, {"tests/triggers.json": json.dumps(cases).encode()}, [*OTHERS, RIVAL, FROST]
        )
        calls = await models.calls()
    assert found.cases == [
        Case(name="When is the last frost?", passed=True),
        Case(name="Hello!", passed=True),
        Case(name="May I plant?", passed=False, detail="The model picked zz-planting instead."),
    ]
    assert found.cost_micros == sum(call.cost_micros for call in calls) > 0
    body = server.requests()[0].body
    offered = body["tools"][0]["input_schema"]["properties"]["name"]["enum"]
    assert len(offered) == MAX_SKILLS
    assert {"frost-dates", "zz-planting", "s00"} <= set(offered)
    assert offered == sorted(offered)
    assert "- frost-dates (runnable): Finds the last frost" in str(body["system"])


async def test_cases_are_generated_without_a_file(store: Store, model_server: StartModels):
    server = model_server(
        script(
            for_planting={"tools": [{"answer": GENERATED}]},
            peas=picks("frost-dates"),
            Is_it_safe={"text": "Yes."},
            Hi=picks("frost-dates"),
            What_is={"text": "4"},
        )
    )
    async with open_gateway(store) as models:
        found = await run_triggers(models, server, {}, [])
    assert [(case.name, case.passed, case.detail) for case in found.cases] == [
        ("When can I plant peas in Oslo?", True, ""),
        ("Is it safe to plant?", False, "The model answered without a skill."),
        ("Hi!", False, "The model picked frost-dates."),
        ("What is 2+2?", True, ""),
    ]


async def test_unparsable_call_picks_no_skill(store: Store, model_server: StartModels):
    server = model_server(script(Frost={"tools": [{"use_skill": {"names": ["frost-dates"]}}]}))
    async with open_gateway(store) as models:
        found = await run_triggers(models, server, {"tests/triggers.json": b'[{"say": "Frost?"}]'}, [])
    assert [case.passed for case in found.cases] == [False]


async def test_invalid_file_and_unknown_model_are_errors(store: Store, model_server: StartModels):
    async with open_gateway(store) as models:
        with pytest.raises(Invalid, match=r"tests/triggers\.json cannot be read"):
            await TriggerTests(models.gateway).run(spender(), FROST, [], {"tests/triggers.json": b"{}"})
        await models.choose("nowhere:none", role=Role.BOT)
        with pytest.raises(ModelUnknown):
            await TriggerTests(models.gateway).run(spender(), FROST, [], {})
