"""Skills in steps: real ones, written down like any other invocation."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from tests.skills.making import script, skill_md
from tests.support.models import StartModels
from tests.workflows.steps.calls import call_of
from tests.workflows.steps.runners import open_skills

from forge.llm.errors import ModelKeyRefused
from forge.llm.models import Role
from forge.skills import store as skill_store
from forge.skills.execution import RunEnd
from forge.skills.opening import SkillParts
from forge.store.engine import Store
from forge.workflows.engine.hands import Done, StepError
from forge.workflows.models import LogLine
from forge.workflows.steps.skill import SkillHand, as_object


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (None, {}),
        ("text", {"input": "text"}),
        ({"a": 1}, {"a": 1}),
        ([1], {"input": [1]}),
        (0, {"input": 0}),
        ("", {"input": ""}),
    ],
)
def test_what_goes_into_a_skill_is_always_an_object(given: JsonValue, expected: dict[str, JsonValue]):
    assert as_object(given) == expected


async def add(parts: SkillParts, name: str, files: dict[str, str]) -> None:
    await parts.library.put(name, {path: text.encode() for path, text in files.items()}, replace=False)


async def use(parts: SkillParts, skill: str, **config: Any) -> Done:
    call = call_of("skill", skill=skill, **config)
    return await SkillHand(parts.runner).do(call, call.config(inputs={"n": 3}))


ADDS = "def run(input):\n    print('adding')\n    return {'sum': input['n'] + 1}\n"
RAISES = "function run(input) { console.error('now'); throw new Error('no ' + input.input) }"


async def test_a_script_is_run_and_written_down(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (parts, _):
        await add(parts, "adds", script("adds", ADDS, "skill.py"))
        await add(parts, "raises", script("raises", RAISES))
        done = await use(parts, "adds", input={"n": "{{ inputs.n }}"})
        assert done == Done(
            {"type": "skill", "skill": "adds", "output": {"sum": 4}}, logs=(LogLine(text="adding"),)
        )
        with pytest.raises(StepError) as raised:
            await use(parts, "raises", input="more")
        problem = raised.value.problem
        assert (problem.code, problem.retryable) == ("skill_raised", False)
        assert problem.message.startswith("The skill raises failed: Error: no more")
        assert raised.value.logs == (LogLine(level="error", text="now"),)
        with pytest.raises(StepError, match="nothing") as raised:
            await use(parts, "nothing")
        assert raised.value.problem.code == "unknown_skill"
        async with store.read() as tx:
            runs = await skill_store.list_runs(tx, "account-1", "adds", None, 10)
    assert [(run.purpose, run.by, run.end) for run in runs] == [("workflow", "daily-report", RunEnd.DONE)]


async def test_a_skill_that_reaches_too_far_is_refused(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (parts, _):
        await add(parts, "nosy", script("nosy", "function run() { return secrets.get('A') }"))
        with pytest.raises(StepError, match="nobody granted") as raised:
            await use(parts, "nosy")
    assert raised.value.problem.code == "skill_refused"


async def test_instructions_are_paid_for_by_the_run(store: Store, tmp_path: Path, model_server: StartModels):
    server = model_server({"scenes": {"only": {"turns": [{"text": "Short."}]}}})
    async with open_skills(store, tmp_path) as (parts, under):
        await under.add("one", server.url)
        await under.choose("one:scripted", role=Role.BOT)
        await add(parts, "brief", {"SKILL.md": skill_md("brief", kind="prompt", body="Be brief.")})
        done = await use(parts, "brief", input="a text")
        (bill,) = await under.calls()
        assert done.output == {"type": "skill", "skill": "brief", "output": {"text": "Short."}}
        assert (bill.run_id, bill.cost_micros) == ("run-1", done.cost_micros)
        assert done.cost_micros > 0


async def test_a_model_that_cannot_be_called_is_told_as_such(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (parts, _):
        await add(parts, "brief", {"SKILL.md": skill_md("brief", kind="prompt", body="Be brief.")})
        with pytest.raises(ModelKeyRefused):
            await use(parts, "brief")
