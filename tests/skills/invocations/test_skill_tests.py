"""Tests of skills, run in the real runtimes."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.skills.invocations.program_runs import UnsavedSkillRunner

from forge.sandbox import sandboxes
from forge.sandbox.backends.launched_process import Plain
from forge.sandbox.models import Level
from forge.sandbox.registry_gateway.access import Registries
from forge.sandbox.sandboxes import Candidate, Sandboxes
from forge.skills.execution import Language
from forge.skills.format.skill_writer import SkillText, new_skill, render_skill, template_skill
from forge.skills.invocations.skill_tests import WEBASSEMBLY, SkillTests, SkillTrial
from forge.skills.models import Case, SkillCase, SkillFiles, SkillKind, TrialReport
from forge.skills.wasm.worker_pool import WorkerPool


@pytest.fixture(scope="module")
async def runner(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[UnsavedSkillRunner]:
    folder = tmp_path_factory.mktemp("trials")
    async with WorkerPool(folder / "cache", size=2) as pool:
        yield UnsavedSkillRunner(pool, folder / "files", Sandboxes())


@pytest.fixture(scope="module")
def trial(runner: UnsavedSkillRunner) -> SkillTrial:
    return SkillTrial(SkillTests(runner))


def skill_of(source: str, kind: SkillKind = SkillKind.SCRIPT, entry: str = "") -> SkillFiles:
    case = SkillCase(name="counts", input={"text": "two wörds"}, expect={"words": 2})
    return render_skill(SkillText("count", "Counts words.", kind, source=source, cases=(case,), entry=entry))


async def detail(trial: SkillTrial, skill: SkillFiles) -> str:
    report = await trial.run(skill)
    assert not report.passed
    return report.cases[0].detail


async def test_instructions_are_checked_and_not_run(trial: SkillTrial):
    report = await trial.run(template_skill(SkillText("notes", "Takes notes.")))
    assert report == TrialReport(ran=False, passed=True, cases=[Case(name="SKILL.md", passed=True)])


async def test_broken_manifest_is_reported_with_its_line(trial: SkillTrial):
    report = await trial.run(
        SkillFiles(name="notes", files={"SKILL.md": "---\nname: other\ndescription: x\n---\n"})
    )
    assert (report.ran, report.passed) == (False, False)
    assert report.output == "line 2: `name` is other, but the folder is notes."


@pytest.mark.parametrize("language", [Language.JS, Language.PY])
@pytest.mark.parametrize("kind", [SkillKind.SCRIPT, SkillKind.LOCAL])
async def test_template_program_passes_its_tests(trial: SkillTrial, kind: SkillKind, language: Language):
    report = await trial.run(new_skill("count", kind, language, "Counts words."))
    assert (report.ran, report.passed, len(report.cases)) == (True, True, 3), report
    assert report.sandbox in (list(Level) if kind is SkillKind.LOCAL else [WEBASSEMBLY])
    assert report.output == ""


async def test_program_can_import_its_other_files(trial: SkillTrial):
    skill = skill_of(
        "import json, sys\nfrom helper import count\njson.dump({'words': count(json.load(sys.stdin)['text'])}, sys.stdout)",
        SkillKind.LOCAL,
    )
    helper = {"scripts/helper.py": "def count(text):\n    return len(text.split())\n"}
    report = await trial.run(SkillFiles(name="count", files={**skill.files, **helper}))
    assert report.passed, report


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def run(input): return {'words': 3}", "`words` is 3; expected 2."),
        ("def run(input): return [2]", 'The result is [2]; expected {"words": 2}.'),
        ("def run(input): return {'words': float('nan')}", ""),
        ("words = 2", "There is no function `run` in skill.py."),
        ("def run(input)", "skill.py, line 1: expected ':'."),
        ("def run(input): return {'words': 1 / 0}", "ZeroDivisionError: division by zero"),
        ("def run(input):\n    return open('/etc/hostname').read()", ""),
        ("def run(input):\n    kv.set('a', 1)\n    return {'words': 2}", "kv.set is not granted."),
    ],
)
async def test_script_failure_is_described(trial: SkillTrial, source: str, message: str):
    found = await detail(trial, skill_of(source))
    assert found
    assert found.startswith(message)


async def test_javascript_skill_is_tested(trial: SkillTrial):
    right = "const run = ({ text }) => ({ words: text.split(' ').length });"
    assert (await trial.run(skill_of(right, entry="skill.js"))).passed
    wrong = "function run(input) {\n  throw new Error('no ' + input.text);\n}"
    assert "no two wörds" in await detail(trial, skill_of(wrong, entry="skill.js"))


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("print('hello')", ""),
        ("print('[1]')", 'The result is [1]; expected {"words": 2}.'),
        ("import sys\nsys.exit('no town')", "no town"),
        ("", "scripts/run.py is empty."),
        ("import socket\nsocket.create_connection(('192.0.2.1', 80), 3)", ""),
        ("open('/etc/forge-was-here', 'w')", ""),
    ],
)
async def test_program_failure_is_described(trial: SkillTrial, source: str, message: str):
    found = await detail(trial, skill_of(source, SkillKind.LOCAL))
    assert found
    assert found.startswith(message)


async def test_report_contains_output_and_traceback(trial: SkillTrial):
    report = await trial.run(skill_of("print('on the way')\ndef run(input):\n    raise KeyError('town')"))
    assert report.output.startswith("on the way\n")
    assert "line 3" in report.output


async def test_skill_without_tests_does_not_pass(trial: SkillTrial):
    skill = skill_of("def run(input): return {'words': 2}")
    bare = SkillFiles(
        name="count", files={path: text for path, text in skill.files.items() if "tests" not in path}
    )
    report = await trial.run(bare)
    assert (report.ran, report.passed, report.cases[0].name) == (False, False, "tests")
    odd = SkillFiles(name="count", files={**skill.files, "tests/odd.json": '{"name": "odd"}'})
    cases = (await trial.run(odd)).cases
    assert [case.name for case in cases] == ["counts", "tests/odd.json"]
    assert cases[1].detail == "Not a valid test: input: Field required."


async def test_number_of_tests_is_limited(trial: SkillTrial):
    skill = skill_of("def run(input): return {'words': 2}")
    more = {f"tests/z{number}.json": "{}" for number in range(10, 40)}
    cases = (await trial.run(SkillFiles(name="count", files={**skill.files, **more}))).cases
    assert [case.name for case in cases] == ["counts", *sorted(more)[:19]]


async def test_trigger_tests_are_not_run(trial: SkillTrial):
    skill = skill_of("def run(input): return {'words': 2}")
    files = {**skill.files, "tests/triggers.json": '[{"say": "How long is this?"}]'}
    report = await trial.run(SkillFiles(name="count", files=files))
    assert [case.name for case in report.cases] == ["counts"]
    assert report.passed


async def test_program_is_not_run_without_isolation(
    monkeypatch: pytest.MonkeyPatch, runner: UnsavedSkillRunner, tmp_path: Path
):
    plain = Candidate("plain", lambda level: Plain(level, Registries()))
    monkeypatch.setattr(sandboxes, "candidates", lambda _: iter([plain]))
    weak = UnsavedSkillRunner(runner.pool, tmp_path, Sandboxes(Level.ISOLATED))
    report = await SkillTrial(SkillTests(weak)).run(skill_of("print('{}')", SkillKind.LOCAL))
    assert (report.ran, report.passed, report.cases) == (False, False, [])
    assert report.output.startswith("Not run: Commands can only be run without isolation here")
    assert (await SkillTrial(SkillTests(weak)).run(skill_of("def run(input): return {'words': 2}"))).passed
