"""The commands that verify a project, and the failures in reports."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.audits.evidence.failing_tests import FailingTest, from_jest, from_junit
from forge.audits.evidence.records import shorten
from forge.audits.evidence.task_runner import last_lines
from forge.audits.evidence.verification_plan import Plan, plan
from forge.audits.memory import snapshot_of


def planned(files: dict[str, str], root: Path = Path("/nowhere")) -> Plan:
    return plan(snapshot_of(files), root)


def commands(tasks: object) -> list[tuple[str, str, str]]:
    return [(task.name, " ".join(task.argv), task.problem) for task in tasks]  # type: ignore[attr-defined]


PYTEST = "python3 -m pytest -q -p no:cacheprovider"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tests/test_a.py": ""}, [("pytest", PYTEST, "")]),
        ({"a.py": "", "README.md": ""}, []),
        ({"go.mod": ""}, [("go test", "go test ./...", "")]),
        ({"package.json": '{"scripts": {"test": "vitest run"}}'}, [("npm test", "vitest run", "")]),
        ({"package.json": '{"scripts": {"test": "node --test"}}'}, [("npm test", "node --test", "")]),
        ({"package.json": '{"scripts": {"test": "make all && true"}}'}, [("npm test", "npm test", "")]),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, []),
        ({"package.json": "{"}, []),
        (
            {"forge.json": '{"backend": {"language": "python", "test_dir": "tests"}}', "tests/test_a.py": ""},
            [("pytest", f"{PYTEST} ./tests", "")],
        ),
        (
            {"forge.json": '{"backend": {"language": "python", "test_dir": "gone"}}'},
            [("pytest", PYTEST, "test_dir 'gone' is not in the project")],
        ),
        (
            {
                "forge.json": '{"backend": {"language": "python", "test_dir": ".", "test_framework": "unittest"}}'
            },
            [("unittest", "python3 -m unittest discover", "")],
        ),
        (
            {"forge.json": '{"frontend": {"enabled": true, "dir": "web", "test_cmd": "npx vitest run"}}'},
            [("frontend tests", "vitest run", "")],
        ),
        (
            {
                "forge.json": '{"frontend": {"enabled": true, "dir": "web"}}',
                "web/package.json": '{"scripts": {"test": "jest"}}',
            },
            [("npm test (web)", "jest", "")],
        ),
        (
            {"forge.json": '{"frontend": {"enabled": true, "test_cmd": "curl x | sh"}}'},
            [("frontend tests", "", "'curl x | sh': ")],
        ),
    ],
)
def test_the_tests_of_a_project_are_found(files: dict[str, str], expected: list[tuple[str, str, str]]):
    found = commands(planned(files).behavior)
    assert [
        (name, argv, problem[: len(wanted[2])])
        for (name, argv, problem), wanted in zip(found, expected, strict=True)
    ] == expected


@pytest.mark.parametrize(
    ("backend", "expected"),
    [
        ('{"entry_module": "app.main:app"}', [("import", "")]),
        (
            '{"entry_module": "x; import os"}',
            [("import", "entry_module 'x; import os' is not a module name")],
        ),
        ("{}", []),
        ('{"language": "go", "entry_module": "main"}', [("go build", "")]),
    ],
)
def test_the_entry_module_is_a_name_and_nothing_else(backend: str, expected: list[tuple[str, str]]):
    tasks = planned({"forge.json": f'{{"backend": {backend}}}'}).runtime
    assert [(task.name, task.problem) for task in tasks] == expected


def test_types_are_checked_where_the_compiler_is_installed(tmp_path: Path):
    (tmp_path / "node_modules" / ".bin").mkdir(parents=True)
    (tmp_path / "node_modules" / ".bin" / "tsc").write_text("")
    assert commands(planned({"tsconfig.json": "{}"}, tmp_path).static) == [("tsc", "tsc --noEmit", "")]
    assert commands(planned({"a.ts": ""}, tmp_path).static) == []


@pytest.mark.parametrize(
    ("given_path", "used"), [("env", "env"), ("../env", ".venv"), ("/env", ".venv"), (None, ".venv")]
)
def test_the_environment_lies_inside_the_project(given_path: str | None, used: str):
    value = "null" if given_path is None else f'"{given_path}"'
    assert planned({"forge.json": f'{{"backend": {{"venv_path": {value}}}}}'}).environment == used


JUNIT = b"""<testsuites><testsuite><testcase classname="a" name="one"/>
<testcase classname="a.b" name="two"><failure message="x">y</failure><error/></testcase>
<testcase name="three"><error/></testcase><testcase name="four"><skipped/></testcase></testsuite></testsuites>"""
JEST = b"""{"testResults": [{"assertionResults": [
{"status": "failed", "fullName": "adds one", "failureMessages": ["Error: 1\\nat a.js"]}, {"status": "passed", "fullName": "adds two"}]}]}"""


def test_failing_tests_are_named_by_the_report():
    assert from_junit(JUNIT) == [FailingTest("a.b::two", "x"), FailingTest("three")]
    assert from_jest(JEST) == [FailingTest("adds one", "Error: 1\nat a.js")]
    assert from_junit(b"<!DOCTYPE x><testcase name='a'><error/></testcase>") == []
    assert from_junit(JUNIT[:150]) == [FailingTest("a.b::two", "x")]
    imports = b"""<testcase name="test_a"><error message="collection failure">test_a.py:1: in &lt;module&gt;
    import nowhere
E   ModuleNotFoundError: No module named 'nowhere'</error></testcase>"""
    assert from_junit(imports) == [FailingTest("test_a", "ModuleNotFoundError: No module named 'nowhere'")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("first line\nsecond\nthird", "…\nsecond\nthird"),
        ("first\n" + "x" * 15, "…\n" + "x" * 15),
        ("x" * 30, "…" + "x" * 15),
    ],
)
def test_the_end_of_what_was_said_begins_with_a_line(text: str, expected: str):
    assert last_lines(text, 15) == expected


@given(st.text(max_size=60), st.integers(2, 40))
def test_long_messages_keep_their_beginning_and_end(text: str, most: int):
    short = shorten(text, most)
    assert short == text if len(text) <= most else len(short) <= most + 10


def test_missing_environment_gives_notice(tmp_path: Path):
    python = {"tests/test_a.py": "", "forge.json": '{"backend": {"venv_path": "env"}}'}
    assert planned(python, tmp_path).notice.startswith("venv_path 'env' does not exist: the system's python3")
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "bin" / "python3").symlink_to("/nowhere/python3")
    assert planned(python, tmp_path).notice == ""
    assert planned({"go.mod": ""}, tmp_path).notice == ""


@given(st.binary(max_size=200))
def test_any_report_can_be_read(data: bytes):
    assert isinstance(from_junit(data), list)
    assert isinstance(from_jest(data), list)
