"""run_tests, run_command and check_syntax, in the real sandbox."""

import asyncio
import json
import shutil
import subprocess
from pathlib import Path

import anyio
import pytest
from tests.agents.tools.conftest import SECRET, Use
from tests.support.python_project import install_pytest, make_environment
from tests.support.timeouts import PATIENCE_S

from forge.agents.commands.reports import report_folder
from forge.agents.models import ToolDetail
from forge.sandbox.models import End, Level

needs_node = pytest.mark.skipif(shutil.which("node") is None, reason="Node.js is not installed")


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("environment") / ".venv"
    make_environment(home)
    return home


@pytest.fixture
def project(root: Path, environment: Path) -> Path:
    install_pytest(environment, root)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    return root


async def test_write_test_fix_cycle(use: Use, project: Path):
    await use("write_file", path="calc/add.py", content="def add(a, b):\n    return a - b\n")
    test = "from calc.add import add\n\n\ndef test_add():\n    assert add(2, 2) == 4\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n"
    await use("write_file", path="tests/test_add.py", content=test)

    failing = await use("run_tests", command="pytest -q")
    assert failing.is_error and failing.summary == "1 passed, 1 failed, 0 skipped"
    assert "exit code 1, after" in failing.text and "assert 0 == 4" in failing.text
    assert failing.detail == ToolDetail(
        argv=["pytest", "-q"],
        exit_code=1,
        end=End.EXITED,
        passed=1,
        failed=1,
        skipped=0,
        truncated=False,
        sandbox=Level.ISOLATED,
    )

    mended = await use("edit_file", path="calc/add.py", edits=[{"old_text": "a - b", "new_text": "a + b"}])
    assert mended.detail.changed
    passing = await use("run_tests", command='python -m pytest -k "not (missing)"')
    assert not passing.is_error and passing.summary == "2 passed, 0 failed, 0 skipped"
    assert (passing.detail.passed, passing.detail.failed, passing.detail.exit_code) == (2, 0, 0)
    listing = await use("list_directory")
    assert listing.text == "calc/\npyproject.toml\ntests/\n[omitted: .pytest_cache/, .venv/]"


async def test_report_cannot_turn_failure_into_pass(use: Use, project: Path, outside: Path):
    """The tests write a fake or invalid report and end the process."""
    fake = "<testsuites><testsuite><testcase/></testsuite></testsuites>"
    (project / "conftest.py").write_text(
        "import os, sys\n"
        "report = next(a for a in sys.argv if a.startswith('--junitxml=')).partition('=')[2]\n"
        f"FAKE = {fake!r}\n"
    )
    (project / "test_fake.py").write_text(
        "import os, pathlib\nfrom conftest import report, FAKE\n"
        "def test_fake():\n    pathlib.Path(report).write_text(FAKE)\n    os._exit(3)\n"
    )
    (project / "test_link.py").write_text(
        "import os\nfrom conftest import report\n"
        f"def test_link():\n    os.symlink({str(outside / 'secret.txt')!r}, report)\n    os._exit(3)\n"
    )
    faked = await use("run_tests", command="pytest test_fake.py")
    assert faked.is_error and (faked.detail.exit_code, faked.detail.passed) == (3, 1)
    linked = await use("run_tests", command="pytest test_link.py")
    assert linked.is_error and linked.detail.passed is None and SECRET not in linked.text


async def test_run_without_report_has_no_counts(use: Use, root: Path):
    (root / "test_it.py").write_text(
        "import unittest\n\nclass T(unittest.TestCase):\n    def test(self): print('9 passed')\n"
    )
    outcome = await use("run_tests", command="python -m unittest")
    assert not outcome.is_error and outcome.summary == "exit code 0"
    assert (outcome.detail.passed, outcome.detail.exit_code) == (None, 0)


@needs_node
async def test_node_test_counts_are_reported(use: Use, root: Path):
    (root / "a.test.js").write_text(
        "const test = require('node:test');\nconst assert = require('node:assert');\n"
        "test('good', () => {});\ntest('bad', () => assert.equal(1, 2));\ntest('later', { skip: true }, () => {});\n"
    )
    outcome = await use("run_tests", command="node --test")
    assert outcome.is_error and outcome.summary == "1 passed, 1 failed, 1 skipped"
    assert "good" in outcome.text


@needs_node
async def test_npm_test_script_with_known_runner_is_counted(use: Use, root: Path):
    """A project whose script calls a known runner, replaced by a stub for vitest."""
    report = {"numPassedTests": 4, "numFailedTests": 0, "numPendingTests": 1}
    runner = root / "node_modules" / ".bin" / "vitest"
    runner.parent.mkdir(parents=True)
    runner.write_text(
        "#!/usr/bin/env node\nconst at = process.argv.find((a) => a.startsWith('--outputFile.json='));\n"
        f"require('fs').writeFileSync(at.slice(18), JSON.stringify({json.dumps(report)}));\n"
        "console.log(process.argv.slice(2, 4).join(' '));\n"
    )
    runner.chmod(0o755)
    (root / "package.json").write_text('{"scripts": {"test": "vitest run", "build": "echo built"}}')
    outcome = await use("run_tests", command="npm test -- src")
    assert not outcome.is_error and outcome.summary == "4 passed, 0 failed, 1 skipped"
    assert "run src" in outcome.text and outcome.detail.argv == ["npm", "test", "--", "src"]
    assert "built" in (await use("run_command", command="npm run build")).text


async def test_slow_command_is_stopped(use: Use, project: Path):
    (project / "test_slow.py").write_text("import time\n\ndef test_slow():\n    time.sleep(600)\n")
    outcome = await use("run_tests", command="pytest", timeout=1)
    assert outcome.is_error and outcome.summary == "stopped: it took too long"
    assert (outcome.detail.end, outcome.detail.exit_code, outcome.detail.passed) == ("timeout", None, None)


async def test_long_output_keeps_beginning_and_end(use: Use, root: Path):
    (root / "test_loud.py").write_text(
        "import sys, unittest\n\nclass T(unittest.TestCase):\n    def test(self):\n"
        "        print('first' + 'x' * 200_000 + 'last')\n        sys.stderr.write('FIRST' + 'y' * 50_000)\n"
    )
    outcome = await use("run_tests", command="python -m unittest")
    assert outcome.detail.truncated and len(outcome.text) < 61_000
    assert all(part in outcome.text for part in ("first", "last", "FIRST", "OK", "bytes omitted"))


async def test_missing_program_error_has_hint(use: Use, root: Path):
    outcome = await use("run_tests", command="npx jest")
    assert outcome.is_error and outcome.detail.end == "not_started"
    assert "jest is not installed. Install it: run_command with npm install --save-dev jest." in outcome.text


async def test_unstartable_program_is_not_reported_as_missing(use: Use, root: Path):
    program = root / "node_modules" / ".bin" / "jest"
    program.parent.mkdir(parents=True)
    program.write_text("not executable")
    outcome = await use("run_tests", command="npx jest")
    assert outcome.is_error and outcome.detail.end == "not_started" and "not installed" not in outcome.text
    assert "It could not be started, for the reason below." in outcome.text
    assert "Permission denied" in outcome.text


async def test_commands_are_limited_to_the_workspace(use: Use, root: Path, outside: Path):
    (root / "a.txt").write_text("one\ntwo\n")
    (root / "link").symlink_to(outside / "secret.txt")
    assert (await use("run_command", command="cat a.txt")).text.endswith("--- stdout ---\none\ntwo")
    assert "2 a.txt" in (await use("run_command", command="wc -l a.txt")).text
    found = await use("run_command", command="find . -name '*.txt'")
    assert found.text.endswith("./a.txt") and found.detail.argv == ["find", ".", "-name", "*.txt"]
    assert SECRET not in (await use("run_command", command="cat link")).text
    missing = await use("run_command", command="cat missing.txt")
    assert missing.is_error and missing.summary == "exit code 1"


async def test_git_history_of_project_is_readable(use: Use, root: Path):
    (root / "a.txt").write_text("one\n")
    commit(root)
    (root / "a.txt").write_text("two\n")
    assert "modified:   a.txt" in (await use("run_command", command="git status")).text
    assert "+two" in (await use("run_command", command="git diff")).text
    assert "begin" in (await use("run_command", command="git log --oneline -5")).text


@pytest.mark.parametrize("verb", ["status", "diff", "log", "show"])
async def test_missing_repository_is_explained(use: Use, root: Path, verb: str):
    (root / ".git").mkdir()
    outcome = await use("run_command", command=f"git {verb}")
    assert outcome.is_error and outcome.text.split("\n")[1].startswith(
        "This workspace contains no git repository, so git has nothing to show. Commands cannot access the history that Forge"
    )


def commit(root: Path) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "commit.gpgsign=false"]
    for words in (["init", "--quiet"], ["add", "."], [*who, "commit", "--quiet", "-m", "begin"]):
        subprocess.run(["git", *words], cwd=root, check=True)


async def test_refused_commands_and_invalid_input_are_explained(use: Use, root: Path):
    refused = await use("run_command", command="rm -rf .")
    assert refused.is_error and refused.text.startswith(
        "Error: 'rm -rf .' is not allowed. run_command accepts: "
    )
    for arguments in (
        {},
        {"command": "ls", "timeout": 301},
        {"command": "ls", "timeout": 0},
        {"command": ["ls"]},
    ):
        assert (await use("run_command", **arguments)).is_error
        assert (await use("run_tests", **arguments)).is_error
    assert (await use("run_tests", command="ls")).is_error


async def test_cancelled_command_removes_report_folder(
    use: Use, project: Path, monkeypatch: pytest.MonkeyPatch
):
    folders: list[Path] = []

    def spy(workdir: Path):
        context = report_folder(workdir)
        return Spied(context, folders)

    monkeypatch.setattr("forge.agents.tools.command_tools.report_folder", spy)
    (project / "test_slow.py").write_text(
        "import time, pathlib\n\ndef test_slow():\n    pathlib.Path('started').touch()\n    time.sleep(600)\n"
    )
    running = asyncio.ensure_future(use("run_tests", command="pytest"))
    with anyio.fail_after(PATIENCE_S):
        while not running.done() and not await anyio.Path(project / "started").exists():
            await anyio.sleep(0.01)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert len(folders) == 1 and not await anyio.Path(folders[0]).exists()


class Spied:
    def __init__(self, context, folders: list[Path]) -> None:
        self.context, self.folders = context, folders

    async def __aenter__(self):
        report = await self.context.__aenter__()
        self.folders.append(report.folder)
        return report

    async def __aexit__(self, *problem):
        return await self.context.__aexit__(*problem)


@pytest.mark.parametrize(
    ("path", "content", "said"),
    [
        ("good.py", "x = 1\n", None),
        ("bad.py", "x = (\n", "bad.py: line 1, column 5: '(' was never closed"),
        ("nul.py", "x = 1\0", "nul.py: source code string cannot contain null bytes"),
        ("good.json", "[1]", None),
        ("bad.json", "[1,]", "bad.json: line 1, column 4: Expecting value"),
        ("good.toml", "a = 1", None),
        ("bad.toml", "a == 1", "bad.toml: Invalid value (at line 1, column 4)"),
        (
            "a.rs",
            "fn main() {}",
            "Error: 'a.rs' cannot be checked: there is no checker for this kind of file.",
        ),
        (
            "a.tsx",
            "let a = 1",
            "Error: 'a.tsx' cannot be checked: typescript is not installed in the project",
        ),
        ("deep.json", "[" * 100_000, "Error: 'deep.json' cannot be checked: it is nested too deeply"),
        ("deep.py", "-" * 500_000 + "1", "Error: 'deep.py' cannot be checked: it is nested too deeply"),
        ("large.py", "#" * 2_000_001, "Error: 'large.py' is too large to be checked (2,000,001 bytes)."),
    ],
)
async def test_syntax_is_checked_without_executing_file(
    use: Use, root: Path, path: str, content: str, said: str | None
):
    (root / path).write_text(content)
    outcome = await use("check_syntax", path=path)
    assert outcome.text.startswith(said or f"{path}: no errors") and outcome.is_error == (said is not None)
    assert outcome.detail == ToolDetail(path=path)


@needs_node
async def test_javascript_is_checked_by_node(use: Use, root: Path):
    (root / "good.mjs").write_text("export const a = 1;\n")
    (root / "-e.js").write_text("let a = ;\n")
    assert (await use("check_syntax", path="good.mjs")).text == "good.mjs: no errors"
    bad = await use("check_syntax", path="-e.js")
    assert (
        bad.is_error and "SyntaxError: Unexpected token ';'" in bad.text and bad.detail.sandbox == "isolated"
    )


@needs_node
@pytest.mark.parametrize(
    ("version", "newer"),
    [("5.5.4", []), ("5.9.2", ["--noCheck"]), ("7.0.2", ["--noCheck", "--ignoreConfig"])],
)
async def test_typescript_is_checked_by_project_compiler(
    use: Use, root: Path, version: str, newer: list[str]
):
    compiler = root / "node_modules" / "typescript"
    (compiler / "bin").mkdir(parents=True)
    (compiler / "package.json").write_text(json.dumps({"version": version}))
    (compiler / "bin" / "tsc").write_text("console.log(`a.tsx(1,1): error TS1109`); process.exit(1)\n")
    (root / "a.tsx").write_text("let a = ;\n")
    outcome = await use("check_syntax", path="a.tsx")
    assert outcome.text == "a.tsx has errors:\na.tsx(1,1): error TS1109" and outcome.is_error
    assert (
        outcome.detail.argv
        and [word for word in outcome.detail.argv if word in ("--noCheck", "--ignoreConfig")] == newer
    )


async def test_huge_typescript_version_is_ignored(use: Use, root: Path):
    package = root / "node_modules" / "typescript" / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text(json.dumps({"version": f"{'9' * 5_000}.1.1"}))
    (root / "a.ts").write_text("let a = 1;\n")
    outcome = await use("check_syntax", path="a.ts")
    assert outcome.text.startswith("Error: 'a.ts' cannot be checked: typescript is not installed")


async def test_missing_file_cannot_be_checked(use: Use, root: Path, outside: Path):
    for path in ("missing.py", "../outside/secret.txt", "/etc/passwd", ".", ""):
        assert (await use("check_syntax", path=path)).is_error
