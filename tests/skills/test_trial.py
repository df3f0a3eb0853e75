"""Skills tried in the real sandbox."""

import pytest

from forge.sandbox import choice
from forge.sandbox.backends import Candidate
from forge.sandbox.choice import Sandboxes
from forge.sandbox.models import Level
from forge.sandbox.plain import Plain
from forge.sandbox.registry import Registries
from forge.skills.models import Case, SkillCase, SkillFiles, SkillKind, TrialReport
from forge.skills.trial import Trial
from forge.skills.writing import SkillText, render_skill, template_skill


@pytest.fixture(scope="module")
def trial() -> Trial:
    return Trial(Sandboxes())


def script(source: str, kind: SkillKind = SkillKind.SCRIPT) -> SkillFiles:
    case = SkillCase(name="counts", input={"text": "two wörds"}, expect={"words": 2})
    return render_skill(SkillText("count", "Counts words.", kind, source=source, cases=(case,)))


async def detail(trial: Trial, skill: SkillFiles) -> str:
    report = await trial.run(skill)
    assert report.ran
    assert not report.passed
    return report.cases[0].detail


async def test_instructions_are_checked_and_not_run(trial: Trial):
    report = await trial.run(template_skill(SkillText("notes", "Takes notes.")))
    assert report == TrialReport(ran=False, passed=True, cases=[Case(name="SKILL.md", passed=True)])


async def test_a_broken_manifest_is_told_with_its_line(trial: Trial):
    report = await trial.run(
        SkillFiles(name="notes", files={"SKILL.md": "---\nname: other\ndescription: x\n---\n"})
    )
    assert (report.ran, report.passed) == (False, False)
    assert report.output == "line 2: `name` is other, and the folder is notes."


@pytest.mark.parametrize("kind", [SkillKind.SCRIPT, SkillKind.LOCAL])
async def test_the_frame_of_a_program_passes_its_own_tests(trial: Trial, kind: SkillKind):
    report = await trial.run(template_skill(SkillText("count", "Counts words.", kind)))
    assert (report.ran, report.passed, len(report.cases)) == (True, True, 3)
    assert report.sandbox in list(Level)
    assert report.output == ""


async def test_a_program_reads_json_and_may_use_its_other_files(trial: Trial):
    skill = script(
        "import json, sys\nfrom helper import count\njson.dump({'words': count(json.load(sys.stdin)['text'])}, sys.stdout)",
        SkillKind.LOCAL,
    )
    helper = {"scripts/helper.py": "def count(text):\n    return len(text.split())\n"}
    report = await trial.run(SkillFiles(name="count", files={**skill.files, **helper}))
    assert report.passed, report


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("def run(input): return {'words': 3}", "`words` is 3; expected 2."),
        ("def run(input): return [2]", "`run` gave a list, and must give a dict."),
        (
            "def run(input): return {'words': float('nan')}",
            "ValueError: Out of range float values are not JSON",
        ),
        ("words = 2", "There is no function `run` in skill.py."),
        ("def run(input): return {'words': 1 / 0}", "ZeroDivisionError: division by zero"),
        ("def run(input)", "SyntaxError: expected ':'"),
        ("import sys\nsys.exit(3)", "It ended with code 3 and said nothing."),
        (
            "import os\ndef run(input):\n    os.write(1, b'x' * 300_000)\n    return {}",
            "It gave more than 200 kB.",
        ),
        ("def run(input): return {'words': len('x' * 10**9)}", "MemoryError"),
        ("import os\nwhile True: os.fork()", ""),
        ("import socket\nsocket.create_connection(('192.0.2.1', 80), 3)", ""),
        ("def run(input):\n    open('/etc/forge-was-here', 'w')", ""),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)", ""),
    ],
)
async def test_what_goes_wrong_is_told(trial: Trial, source: str, told: str):
    found = await detail(trial, script(source))
    assert found
    assert found.startswith(told)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("print('hello')", "It did not give JSON: 'hello'"),
        ("print('[' * 100_000)", "It did not give JSON: "),
        ("print('[1]')", 'The result is [1]; expected {"words": 2}.'),
        ("", "There is no scripts/run.py."),
    ],
)
async def test_what_a_program_gives_is_looked_at(trial: Trial, source: str, told: str):
    report = await trial.run(script(source, SkillKind.LOCAL))
    assert not report.passed
    assert report.cases[0].detail.startswith(told)


async def test_what_does_not_end_is_ended(trial: Trial):
    assert await detail(trial, script("import time\ntime.sleep(60)")) == "It did not end within 10 seconds."


async def test_the_end_of_what_it_wrote_helps_to_find_the_mistake(trial: Trial):
    report = await trial.run(script("print('on the way')\ndef run(input):\n    raise KeyError('town')"))
    assert report.output.startswith("on the way\n")
    assert 'File "skill.py", line 3, in run' in report.output
    assert "runner.py" not in report.output


async def test_a_program_without_tests_has_not_passed(trial: Trial):
    skill = script("def run(input): return {}")
    bare = SkillFiles(
        name="count", files={path: text for path, text in skill.files.items() if "tests" not in path}
    )
    report = await trial.run(bare)
    assert (report.ran, report.passed, report.cases[0].name) == (False, False, "tests")
    odd = SkillFiles(name="count", files={**skill.files, "tests/odd.json": '{"name": "odd"}'})
    cases = (await trial.run(odd)).cases
    assert [case.name for case in cases] == ["counts", "tests/odd.json"]
    assert cases[1].detail == "This is no test: input: Field required."


async def test_nothing_is_run_where_it_cannot_be_locked_in(monkeypatch: pytest.MonkeyPatch):
    plain = Candidate("plain", lambda level: Plain(level, Registries()))
    monkeypatch.setattr(choice, "candidates", lambda _: iter([plain]))
    report = await Trial(Sandboxes(Level.ISOLATED)).run(script("def run(input): return {'words': 2}"))
    assert (report.ran, report.passed, report.cases) == (False, False, [])
    assert report.output.startswith("It was not run: commands can only be run without isolation here")
