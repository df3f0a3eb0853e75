"""Evidence from a real repository, sandbox and pytest, and what the checks conclude from it."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.audits.evidence_project import GOOD, MakeProject, Project
from tests.support.python_project import install_pytest, make_environment

from forge.audits.checks.a3_evidence import CHECK as A3
from forge.audits.checks.a5_diff_log import CHECK as A5
from forge.audits.checks.a7_order import CHECK as A7
from forge.audits.checks.a8_tests import CHECK as A8
from forge.audits.evidence.records import LevelName, Status, TestCounts
from forge.audits.evidence.signing_keys import SigningKeys
from forge.errors import Conflict, ForgeError
from forge.sandbox.sandboxes import Sandboxes

ALL = (A3, A5, A7, A8)


@pytest.fixture(scope="module")
def sandboxes() -> Sandboxes:
    return Sandboxes()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    home = tmp_path_factory.mktemp("environment") / ".venv"
    make_environment(home)
    yield home
    shutil.rmtree(home)


@pytest.fixture
def make_project(tmp_path: Path, sandboxes: Sandboxes, environment: Path) -> MakeProject:
    def make(files: dict[str, str]) -> Project:
        root = tmp_path / "project"
        root.mkdir()
        project = Project(root, SigningKeys(tmp_path / "data" / "audit"), sandboxes)
        project.git("init", "-q", "-b", "main")
        project.write(files)
        install_pytest(environment, root)
        return project

    return make


async def test_good_evidence_passes_and_an_edit_makes_it_stale(make_project: MakeProject):
    project = make_project(GOOD)
    collected = await project.prove()
    run = collected.run
    assert project.levels == ["Static PASS", "Runtime PASS", "Behavior PASS", "Contract SKIP"]
    assert (run.status, run.counts, run.problem) == (Status.PASS, TestCounts(1, 0, 0), "")
    assert run.tree == run.tree_after
    assert [project.judge(check) for check in ALL] == [
        ("PASS", []),
        ("PASS", []),
        ("PASS", ["skipped-level"]),
        ("PASS", []),
    ]
    evidence = project.root / "Forge" / "evidence"
    assert (evidence / "test_runs_latest.md").read_text().startswith("Status: PASS\n")
    assert "- Status: COMPLETE\n" in (evidence / "diff_log.md").read_text()
    project.commit()
    assert [project.judge(check)[0] for check in ALL] == ["PASS", "PASS", "PASS", "PASS"]
    project.write({"app.py": "def double(x):\n    return x + x\n"})
    assert [project.judge(check) for check in ALL] == [
        ("FAIL", ["stale-diff-log", "stale-evidence"]),
        ("FAIL", ["stale-diff-log"]),
        ("FAIL", ["stale-evidence"]),
        ("FAIL", ["stale-evidence"]),
    ]
    again = await project.prove()
    assert again.entry.number == 2
    assert [project.judge(check)[0] for check in ALL] == ["PASS", "PASS", "PASS", "PASS"]
    assert [(one.path, one.kind, one.lines) for one in again.log.files] == [("app.py", "modified", ((2, 2),))]


async def test_failing_test_is_reported_by_name(make_project: MakeProject):
    project = make_project({**GOOD, "app.py": "def double(x):\n    return x\n"})
    run = (await project.prove()).run
    behavior = run.level(LevelName.BEHAVIOR)
    assert behavior is not None
    assert (run.status, behavior.status, run.counts) == (Status.FAIL, Status.FAIL, TestCounts(0, 1, 0))
    assert behavior.steps[0].failing == ("test_app::test_double",)
    assert project.judge(A8) == ("FAIL", ["failed-tests"])
    assert project.judge(A3) == ("FAIL", ["failed-run"])
    assert project.judge(A7) == ("FAIL", ["failed-level", "skipped-level"])
    assert "1 of 1 tests failed: test_app::test_double" in project.examine(A8).found[0].message


async def test_project_without_tests_fails(make_project: MakeProject):
    project = make_project({"app.py": "x = 1\n", ".gitignore": ".venv\n"})
    run = (await project.prove()).run
    assert (run.status, project.judge(A8)) == (Status.FAIL, ("FAIL", ["no-tests"]))


async def test_empty_suite_fails(make_project: MakeProject):
    project = make_project({**GOOD, "test_app.py": "def helper():\n    pass\n"})
    behavior = (await project.prove()).run.level(LevelName.BEHAVIOR)
    assert behavior is not None
    assert (behavior.status, behavior.reason, behavior.steps[0].exit_code) == (Status.FAIL, "no test ran", 5)
    assert project.judge(A8) == ("FAIL", ["no-tests"])


UNITTEST = {
    **GOOD,
    "forge.json": '{"backend": {"language": "python", "test_framework": "unittest"}}',
}
CASES = """
import unittest
from app import double

class TestDouble(unittest.TestCase):
    def test_good(self):
        self.assertEqual(double(2), 4)
    def test_bad(self):
        self.assertEqual(double(2), 5)
    def test_parts(self):
        for n in (1, 2, 3):
            with self.subTest(n=n):
                self.assertEqual(double(n), 2)
    @unittest.skip("later")
    def test_later(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail()
    @unittest.expectedFailure
    def test_unexpected(self): pass

class TestBroken(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise OSError("no disk \\ud800")
    def test_never(self): pass
"""


async def test_unittest_counts_and_failure_messages_are_recorded(make_project: MakeProject):
    project = make_project({**UNITTEST, "test_app.py": CASES, "test_b.py": "import nowhere\n"})
    behavior = (await project.prove()).run.level(LevelName.BEHAVIOR)
    assert behavior is not None
    (step,) = behavior.steps
    assert (behavior.status, step.exit_code, step.counts) == (Status.FAIL, 1, TestCounts(1, 5, 2))
    said = dict(zip(step.failing, step.messages, strict=True))
    assert said["test_app.TestDouble.test_bad"] == "AssertionError: 4 != 5"
    assert said["test_app.TestDouble.test_parts"] == "AssertionError: 4 != 2\nAssertionError: 6 != 2"
    assert said["test_app.TestDouble.test_unexpected"] == "it was expected to fail, but passed"
    assert said["setUpClass (test_app.TestBroken)"].startswith("OSError: no disk ")
    assert "No module named 'nowhere'" in said["unittest.loader._FailedTest.test_b"]


@pytest.mark.parametrize(
    ("test", "summary"),
    [
        ("", "no test ran"),
        ("import unittest\nraise unittest.SkipTest('later')\n", "no test ran, 1 skipped"),
        (
            "import unittest\nclass T(unittest.TestCase):\n    @unittest.skip('x')\n    def test_a(self): pass\n",
            "no test ran, 1 skipped",
        ),
        ("import os\nos._exit(0)\n", "it ended before writing its report, so no test counts"),
    ],
)
async def test_unittest_suite_without_executed_tests_fails(
    make_project: MakeProject, test: str, summary: str
):
    project = make_project({**UNITTEST, "test_app.py": test})
    behavior = (await project.prove()).run.level(LevelName.BEHAVIOR)
    assert behavior is not None
    assert (behavior.status, behavior.steps[0].summary) == (Status.FAIL, summary)
    assert project.judge(A8)[0] == "FAIL"


async def test_tests_that_change_files_fail(make_project: MakeProject):
    test = "def test_it():\n    open('app.py', 'a').write('#')\n    open('left.txt', 'w').write('x')\n"
    project = make_project({**GOOD, "test_app.py": test})
    run = (await project.prove()).run
    assert (run.status, run.problem) == (
        Status.FAIL,
        "files changed during the tests: app.py, left.txt",
    )
    assert project.judge(A3) == ("FAIL", ["stale-diff-log", "tests-change-files"])
    assert project.judge(A8) == ("FAIL", ["tests-change-files"])
    assert project.examine(A3).found[0].message.endswith("app.py, left.txt")


async def test_ignored_code_is_recorded_with_run(make_project: MakeProject):
    project = make_project({**GOOD, ".gitignore": "conftest.py\n.venv/\n", "conftest.py": "x = 1\n"})
    run = (await project.prove()).run
    assert (run.status, run.ignored) == (Status.PASS, ("conftest.py",))
    (project.root / "conftest.py").unlink()
    assert project.judge(A8) == ("WARN", ["ignored-code"])


async def test_tests_cannot_write_evidence_or_read_signing_key(make_project: MakeProject):
    test = """
import os, pathlib, pytest
def test_it():
    with pytest.raises(OSError):
        pathlib.Path("Forge/evidence/test_runs_latest.md").write_text("Status: PASS")
    with pytest.raises(OSError):
        pathlib.Path("Forge/evidence/new.md").write_text("x")
    assert not os.path.exists(%r)
"""
    project = make_project(GOOD)
    await project.prove()
    project.write({"test_app.py": test % str(project.keys._folder)})
    run = (await project.prove()).run
    assert (run.status, run.counts) == (Status.PASS, TestCounts(1, 0, 0))


async def test_code_too_large_to_parse_fails(make_project: MakeProject):
    files = {**GOOD, "big.py": "def f(:\n" + "# x\n" * 600_000, "big.txt": "x" * 3_000_000}
    run = (await make_project(files).prove()).run
    static = run.levels[0]
    assert (static.status, static.steps[0].summary) == (
        Status.FAIL,
        "more than 2,097,152 bytes, and not parsed: big.py",
    )


async def test_broken_code_fails_without_being_run(make_project: MakeProject):
    project = make_project({**GOOD, "broken.py": "def f(:\n", "app.py": "import nowhere\n"})
    run = (await project.prove()).run
    static, runtime = run.levels[:2]
    assert (static.status, static.steps[0].summary) == (Status.FAIL, "not well-formed: broken.py:1")
    assert (runtime.status, runtime.steps[0].exit_code) == (Status.FAIL, 1)
    assert "No module named 'nowhere'" in runtime.steps[0].summary


async def test_endless_tests_time_out(make_project: MakeProject):
    project = make_project({**GOOD, "test_app.py": "import time\ndef test_it():\n    time.sleep(60)\n"})
    behavior = (await project.prove(timeout_s=1.5)).run.level(LevelName.BEHAVIOR)
    assert behavior is not None
    assert (behavior.status, behavior.steps[0].end) == (Status.FAIL, "timeout")


async def test_fewer_tests_than_before_are_reported(make_project: MakeProject):
    more = GOOD["test_app.py"] + "\n\ndef test_zero():\n    assert double(0) == 0\n"
    project = make_project({**GOOD, "test_app.py": more})
    await project.prove()
    project.write({"test_app.py": GOOD["test_app.py"]})
    await project.prove()
    assert project.judge(A8) == ("WARN", ["fewer-tests"])


async def test_text_that_differs_from_record_is_tampered(make_project: MakeProject):
    project = make_project(GOOD)
    await project.prove()
    latest = project.root / "Forge" / "evidence" / "test_runs_latest.md"
    good = latest.read_bytes()
    latest.write_bytes(b"\xef\xbb\xbf" + good.replace(b"\n", b"\r\n"))
    assert project.judge(A3) == ("PASS", [])
    latest.write_bytes(good.replace(b"PASS", b"PASSING-ISH", 1))
    assert (project.judge(A3), project.judge(A8)) == (("FAIL", ["tampered-evidence"]), ("PASS", []))
    latest.unlink()
    assert project.judge(A3) == ("FAIL", ["tampered-evidence"])
    (latest.parent / "test_runs.jsonl").write_bytes(b"{}\n")
    assert project.judge(A8) == ("FAIL", ["tampered-evidence"])


async def test_rolled_back_evidence_is_detected(make_project: MakeProject):
    """A passing run, then a failing run of the same files: removing the failing one does not restore the passing one."""
    project = make_project(
        {
            **GOOD,
            "test_app.py": "import pathlib\ndef test_it():\n    assert pathlib.Path('.venv/ok').exists()\n",
        }
    )
    (project.root / ".venv" / "ok").write_text("")
    await project.prove()
    evidence = project.root / "Forge" / "evidence"
    saved = {path: path.read_bytes() for path in evidence.iterdir()}
    (project.root / ".venv" / "ok").unlink()
    await project.prove()
    assert project.judge(A8) == ("FAIL", ["failed-tests"])
    for path, data in saved.items():
        path.write_bytes(data)
    assert project.judge(A8) == ("FAIL", ["tampered-evidence"])
    with pytest.raises(Conflict, match="cannot be added"):
        await project.prove()


async def test_tests_are_not_run_if_evidence_cannot_be_written(make_project: MakeProject, tmp_path: Path):
    project = make_project(GOOD)
    (project.root / "Forge").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (project.root / "Forge" / "evidence").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(ForgeError):
        await project.prove()
    assert (project.levels, list((tmp_path / "elsewhere").iterdir())) == ([], [])


async def test_evidence_of_other_machine_requires_trust(make_project: MakeProject, tmp_path: Path):
    project = make_project(GOOD)
    await project.prove()
    other = Project(project.root, SigningKeys(tmp_path / "other"), project.sandboxes)
    assert other.judge(A8) == ("FAIL", ["unknown-signer"])
    other.keys.add_trusted(str(project.keys.own()))
    assert other.judge(A8) == ("PASS", [])


async def test_unusual_file_names_are_recorded(make_project: MakeProject):
    project = make_project(GOOD)
    for name in (b"na\xc3\xafve.py", b"new\nline.py", b"not-utf8-\xff.py"):
        project.write({os.fsdecode(name): "x = 1\n"})
    collected = await project.prove(summary="Names\ud800 of all kinds")
    assert collected.run.status is Status.PASS
    assert [project.judge(check)[0] for check in ALL] == ["PASS", "PASS", "PASS", "PASS"]


async def test_unfinished_merge_is_refused(make_project: MakeProject):
    project = make_project(GOOD)
    project.commit()
    project.git("switch", "-qc", "other")
    project.write({"app.py": "a\n"})
    project.commit()
    project.git("switch", "-q", "main")
    project.write({"app.py": "b\n"})
    project.commit()
    with pytest.raises(Exception):  # noqa: B017
        project.git("merge", "other")
    with pytest.raises(Conflict, match="merge"):
        await project.prove()
