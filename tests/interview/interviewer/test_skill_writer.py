"""Skills written by a model."""

import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.gateway import GatewayUnderTest, open_gateway, spender
from tests.support.interview_scripts import interview_script, make_state
from tests.support.models import REPAIR, ModelServer, StartModels

from forge.interview.domain.build_config import Fields, SkillBuildRequest
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Basis, State
from forge.interview.interviewer.skill_writer import write_skill
from forge.llm.errors import AnswerUnusable
from forge.llm.models import ProviderKind, Role
from forge.skills.format.manifest import read_skill_md
from forge.skills.models import Capability, SkillFiles, SkillKind
from forge.store.database import Store

SOURCE = "def run(input: dict) -> dict:\n    return {'words': len(str(input['text']).split())}\n"
SCRIPT: dict[str, Any] = {
    "body": "# When to use\n\nTo count words.",
    "source": SOURCE,
    "cases": [{"name": "two words", "input": {"text": "a b"}, "expect": {"words": 2}}],
    "capabilities": [{"capability": "log", "reason": "It notes how long it took."}],
}
REQUEST = SkillBuildRequest(
    name="count-words", description="Counts words. Use it for lengths.", skill_type=SkillKind.SCRIPT
)


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'forge.db'}"


def skill_state(**given: Any) -> State:
    return make_state("count the words of a text", mode=Mode.SKILL, **given)


async def write(
    under: GatewayUnderTest,
    server: ModelServer,
    request: SkillBuildRequest = REQUEST,
    state: State | None = None,
    kind: ProviderKind = ProviderKind.ANTHROPIC,
) -> SkillFiles:
    await under.add("one", server.url, kind=kind)
    await under.choose("one:scripted", role=Role.INTERVIEWER)
    return (await write_skill(under.gateway, spender(), state or skill_state(), request))[0]


@pytest.mark.parametrize("kind", list(ProviderKind))
async def test_script_has_source_tests_and_capabilities(
    store: Store, model_server: StartModels, kind: ProviderKind
):
    server = model_server(interview_script([], skill=SCRIPT, kind=kind))
    async with open_gateway(store) as under:
        skill = await write(under, server, kind=kind)
    assert sorted(skill.files) == ["SKILL.md", "skill.py", "tests/two-words.json"]
    assert skill.files["skill.py"] == SOURCE
    found = read_skill_md(skill.files["SKILL.md"], "count-words")
    assert found.manifest is not None
    assert (found.manifest.kind, found.manifest.capabilities) == (SkillKind.SCRIPT, [Capability.LOG])


async def test_capabilities_not_agreed_on_are_dropped(store: Store, model_server: StartModels):
    server = model_server(interview_script([], skill=SCRIPT))
    agreed = REQUEST.model_copy(update={"capabilities": [Capability.KV]})
    async with open_gateway(store) as under:
        skill = await write(under, server, agreed)
    manifest = read_skill_md(skill.files["SKILL.md"], "count-words").manifest
    assert manifest is not None and manifest.capabilities == [Capability.KV]
    assert "nothing else: kv" in str(server.requests()[-1].body["messages"])


FETCHING = SCRIPT | {
    "capabilities": [{"capability": "http_get", "reason": "It fetches."}],
    "hosts": ["api.example.com", "*.example.org"],
    "secrets": ["weather-key"],
}


async def test_manifest_has_scopes_of_requested_capabilities_only(store: Store, model_server: StartModels):
    server = model_server(interview_script([], skill=FETCHING))
    async with open_gateway(store) as under:
        skill = await write(under, server)
    manifest = read_skill_md(skill.files["SKILL.md"], "count-words").manifest
    assert manifest is not None
    assert manifest.capabilities == [Capability.HTTP_GET]
    assert (manifest.hosts, manifest.secrets) == (["api.example.com", "*.example.org"], [])


async def test_prompt_names_every_host_function(store: Store, model_server: StartModels):
    runtime = (Path(__file__).parents[3] / "runtimes/runtime.py").read_text()
    named = runtime[runtime.index("CALLABLE = {") : runtime.index("class Failure")]
    server = model_server(interview_script([], skill=SCRIPT))
    async with open_gateway(store) as under:
        await write(under, server)
    system_prompt = str(server.requests()[-1].body["system"])
    for name in re.findall(r'^    "(\w+)"', named, re.MULTILINE):
        assert re.search(rf"`{name}\b", system_prompt), name


async def test_instructions_skill_has_only_a_body(store: Store, model_server: StartModels):
    server = model_server(interview_script([], skill={"body": "Read it twice."}))
    request = REQUEST.model_copy(update={"skill_type": SkillKind.PROMPT})
    async with open_gateway(store) as under:
        skill = await write(under, server, request)
    assert sorted(skill.files) == ["SKILL.md"]
    assert "Read it twice." in skill.files["SKILL.md"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"source": "def run(input: dict) -> dict:\n  return {"}, "it is not valid Python"),
        ({"source": "def go(input):\n    return {}\n"}, "there is no function `run"),
        ({"source": f"import requests\n\n\n{SOURCE}"}, "requests is not in the standard library"),
        ({"source": f"from . import other\n\n\n{SOURCE}"}, "is not in the standard library"),
        ({"source": f"import sqlite3\n\n\n{SOURCE}"}, "sqlite3 is not in the standard library it has"),
        ({"cases": []}, "cases"),
        ({"hosts": ["https://api.example.com/"]}, "hosts.0"),
        ({"folders": ["/two words"]}, "folders.0"),
        ({"capabilities": [{"capability": "fly", "reason": "x"}]}, "capabilities.0.capability"),
    ],
)
async def test_problem_of_an_invalid_program_is_reported_once(
    store: Store, model_server: StartModels, changes: dict[str, Any], message: str
):
    script = interview_script([], skill=SCRIPT | changes)
    repair = {"match": REPAIR, "turns": [{"tools": [{"answer": SCRIPT}]}]}
    server = model_server({"scenes": {"repair": repair, **script["scenes"]}})
    async with open_gateway(store) as under:
        skill = await write(under, server)
    assert skill.files["skill.py"] == SOURCE
    assert message in str(server.requests()[-1].body["messages"])


async def test_program_that_stays_invalid_is_unusable(store: Store, model_server: StartModels):
    server = model_server(interview_script([], skill=SCRIPT | {"source": "def"}))
    async with open_gateway(store) as under:
        with pytest.raises(AnswerUnusable):
            await write(under, server)


async def test_changed_skill_is_in_the_prompt_and_keeps_other_files(store: Store, model_server: StartModels):
    server = model_server(interview_script([], skill=SCRIPT))
    before = SkillFiles(
        name="count-words",
        files={
            "SKILL.md": "---\nname: count-words\ndescription: Counts.\nmetadata:\n  version: 1.2.3\n---\n\nOld.\n",
            "skill.py": "def run(input: dict) -> dict:\n    return {'old': '</file>'}\n",
            "data/list.txt": "kept",
        },
    )
    basis = Basis(skill_name="count-words", skill_files=before, fields=Fields(steps="Count."))
    async with open_gateway(store) as under:
        skill = await write(under, server, state=skill_state(basis=basis))
    manifest = read_skill_md(skill.files["SKILL.md"], "count-words").manifest
    assert manifest is not None and manifest.version == "1.2.4"
    assert skill.files["data/list.txt"] == "kept"
    assert skill.files["skill.py"] == SOURCE
    assert "&lt;/file>" in str(server.requests()[-1].body["messages"])
