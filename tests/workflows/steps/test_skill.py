"""Skill steps, with real skills."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import JsonValue
from tests.skills.skill_files import script, skill_md
from tests.support.models import StartModels
from tests.workflows.steps.skill_services import open_skills
from tests.workflows.steps.step_calls import call_of

from forge.llm.errors import ModelKeyRefused
from forge.llm.models import Role
from forge.skills import store as skill_store
from forge.skills.component import SkillComponent
from forge.skills.execution import RunEnd
from forge.store.database import Store
from forge.workflows.engine.step_executor import StepError, StepResult
from forge.workflows.models import LogLine
from forge.workflows.steps.skill import SkillStepExecutor, as_object


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, {}),
        ("text", {"input": "text"}),
        ({"a": 1}, {"a": 1}),
        ([1], {"input": [1]}),
        (0, {"input": 0}),
        ("", {"input": ""}),
    ],
)
def test_skill_input_is_wrapped_in_object(value: JsonValue, expected: dict[str, JsonValue]):
    assert as_object(value) == expected


async def add(component: SkillComponent, name: str, files: dict[str, str]) -> None:
    await component.library.put(name, {path: text.encode() for path, text in files.items()}, replace=False)


def output_of(result: StepResult) -> Any:
    assert isinstance(result.output, dict)
    return result.output["output"]


async def use(component: SkillComponent, skill: str, **config: Any) -> StepResult:
    call = call_of("skill", skill=skill, **config)
    return await SkillStepExecutor(component.runner).execute(call, call.config(inputs={"n": 3}))


ADDS = "def run(input):\n    print('adding')\n    return {'sum': input['n'] + 1}\n"
RAISES = "function run(input) { console.error('now'); throw new Error('no ' + input.input) }"


async def test_script_invocation_is_recorded(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (component, _):
        await add(component, "adds", script("adds", ADDS, "skill.py"))
        await add(component, "raises", script("raises", RAISES))
        done = await use(component, "adds", input={"n": "{{ inputs.n }}"})
        assert done == StepResult(
            {"type": "skill", "skill": "adds", "output": {"sum": 4}}, logs=(LogLine(text="adding"),)
        )
        with pytest.raises(StepError) as raised:
            await use(component, "raises", input="more")
        problem = raised.value.problem
        assert (problem.code, problem.retryable) == ("skill_raised", False)
        assert problem.message.startswith("The skill raises failed: Error: no more")
        assert raised.value.logs == (LogLine(level="error", text="now"),)
        with pytest.raises(StepError, match="nothing") as raised:
            await use(component, "nothing")
        assert raised.value.problem.code == "unknown_skill"
        async with store.read() as tx:
            runs = await skill_store.list_runs(tx, "account-1", "adds", None, 10)
    assert [(run.purpose, run.by, run.end) for run in runs] == [("workflow", "daily-report", RunEnd.DONE)]


async def test_skill_without_grant_is_refused(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (component, _):
        await add(component, "nosy", script("nosy", "function run() { return secrets.get('A') }"))
        with pytest.raises(StepError, match="is not granted") as raised:
            await use(component, "nosy")
    assert raised.value.problem.code == "skill_refused"


async def test_rendered_instructions_contain_the_input_and_need_no_model(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (component, _):
        for name, body in (("asks", "Answer {{ input.who }}."), ("brief", "Be brief.")):
            await add(component, name, {"SKILL.md": skill_md(name, kind="prompt", body=body)})
        await add(component, "adds", script("adds", ADDS, "skill.py"))
        filled = await use(component, "asks", input={"who": "Ada"}, render=True)
        text: JsonValue = {"text": "# asks\n\nAnswer Ada."}
        assert filled == StepResult({"type": "skill", "skill": "asks", "output": text})
        unfilled = await use(component, "brief", render=True)
        assert output_of(unfilled) == {"text": "# brief\n\nBe brief."}
        appended = await use(component, "brief", input="a text", render=True)
        assert output_of(appended)["text"].startswith("# brief\n\nBe brief.\n\n<skill_input>")
        with pytest.raises(StepError, match="Only skills of kind prompt can be rendered") as raised:
            await use(component, "adds", render=True)
        assert raised.value.problem.code == "skill_refused"
        with pytest.raises(StepError, match="cannot be inserted into the instructions of asks") as raised:
            await use(component, "asks", input={"other": 1}, render=True)
        assert raised.value.problem.code == "expression"


async def test_instruction_skill_costs_are_charged_to_run(
    store: Store, tmp_path: Path, model_server: StartModels
):
    server = model_server({"scenes": {"only": {"turns": [{"text": "Short."}]}}})
    async with open_skills(store, tmp_path) as (component, under):
        await under.add("one", server.url)
        await under.choose("one:scripted", role=Role.BOT)
        await add(component, "brief", {"SKILL.md": skill_md("brief", kind="prompt", body="Be brief.")})
        done = await use(component, "brief", input="a text")
        (call,) = await under.calls()
        assert done.output == {"type": "skill", "skill": "brief", "output": {"text": "Short."}}
        assert (call.run_id, call.cost_micros) == ("run-1", done.cost_micros)
        assert done.cost_micros > 0


@pytest.mark.parametrize(
    ("body", "value", "text"),
    [
        ("Be brief about {{ input.topic }}.", {"topic": "tides"}, "Be brief about tides."),
        ("Be brief about {{ input }}.", {"n": 1}, 'Be brief about {"n":1}.'),
        ("Be brief about {{input.input}}.", "a text", "Be brief about a text."),
        ("Be brief.", None, "Be brief."),
    ],
)
async def test_rendered_skill_is_its_instructions_with_the_input(
    store: Store, tmp_path: Path, body: str, value: JsonValue, text: str
):
    """Without a model: none is set up."""
    async with open_skills(store, tmp_path) as (component, _):
        await add(component, "brief", {"SKILL.md": skill_md("brief", kind="prompt", body=body)})
        done = await use(component, "brief", input=value, render=True)
    output = {"type": "skill", "skill": "brief", "output": {"text": f"# brief\n\n{text}"}}
    assert done == StepResult(output)


async def test_rendered_skill_without_placeholder_is_followed_by_the_input(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (component, _):
        await add(component, "brief", {"SKILL.md": skill_md("brief", kind="prompt", body="Be brief.")})
        done = await use(component, "brief", input={"topic": "tides"}, render=True)
    assert isinstance(done.output, dict)
    assert isinstance(done.output["output"], dict)
    text = str(done.output["output"]["text"])
    assert text.startswith("# brief\n\nBe brief.\n\n") and '{"topic":"tides"}' in text


async def test_skill_that_cannot_be_rendered_is_reported(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (component, _):
        await add(component, "adds", script("adds", ADDS, "skill.py"))
        broken = skill_md("broken", kind="prompt", body="Say {{ input.missing }}.")
        await add(component, "broken", {"SKILL.md": broken})
        with pytest.raises(StepError, match="Only skills of kind prompt can be rendered"):
            await use(component, "adds", input={"n": 1}, render=True)
        with pytest.raises(
            StepError, match="The input cannot be inserted into the instructions of broken"
        ) as raised:
            await use(component, "broken", input={"n": 1}, render=True)
    assert raised.value.problem.code == "expression"


async def test_unavailable_model_is_reported(store: Store, tmp_path: Path):
    async with open_skills(store, tmp_path) as (component, _):
        await add(component, "brief", {"SKILL.md": skill_md("brief", kind="prompt", body="Be brief.")})
        with pytest.raises(ModelKeyRefused):
            await use(component, "brief")
