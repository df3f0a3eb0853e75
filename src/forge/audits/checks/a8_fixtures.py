"""Examples for A8."""

from forge.audits.check import Fixture
from forge.audits.evidence.examples import (
    CODE,
    id_of,
    level,
    proven,
    run_of,
    runs_files,
    with_evidence,
)
from forge.audits.evidence.records import Level, LevelName, Status, TestCounts, TestRun
from forge.audits.memory import snapshot_of
from forge.audits.snapshot import Snapshot


def _run(tree: str = "", *, status: Status = Status.PASS, counts: TestCounts | None = None) -> TestRun:
    behavior = level(LevelName.BEHAVIOR, status, counts=counts, failing=("test_app.py::test_double",))
    return run_of(tree or id_of(CODE), *_with(behavior))


def _with(behavior: Level) -> tuple[Level, ...]:
    return tuple(behavior if name is LevelName.BEHAVIOR else level(name) for name in LevelName)


def _later_failure() -> Snapshot:
    good = _run(counts=TestCounts(3, 0, 0))
    return proven(CODE, good, _run(status=Status.FAIL, counts=TestCounts(2, 1, 0)))


def _before_and_now(now: TestCounts) -> Snapshot:
    return proven(CODE, _run("another", counts=TestCounts(3, 0, 0)), _run(counts=now))


def _text(first_line: bytes) -> Snapshot:
    return with_evidence(CODE, {"test_runs_latest.md": first_line})


FIXTURES = (
    Fixture("three passed", proven, "PASS"),
    Fixture("as many as before", lambda: _before_and_now(TestCounts(3, 0, 0)), "PASS"),
    Fixture("nothing at all", lambda: snapshot_of({"app.py": ""}), "SKIP"),
    Fixture("no test ran", lambda: proven(CODE, _run(counts=TestCounts(0, 0, 0))), "FAIL", ("no-tests",)),
    Fixture("all skipped", lambda: proven(CODE, _run(counts=TestCounts(0, 0, 9))), "FAIL", ("no-tests",)),
    Fixture(
        "one failed",
        lambda: proven(CODE, _run(status=Status.FAIL, counts=TestCounts(2, 1, 0))),
        "FAIL",
        ("failed-tests",),
    ),
    Fixture("passed once, failed since", _later_failure, "FAIL", ("failed-tests",)),
    Fixture("nobody counted", lambda: proven(CODE, _run()), "WARN", ("uncounted-tests",)),
    Fixture("fewer than before", lambda: _before_and_now(TestCounts(2, 0, 0)), "WARN", ("fewer-tests",)),
    Fixture(
        "more skipped than before", lambda: _before_and_now(TestCounts(3, 0, 1)), "WARN", ("fewer-tests",)
    ),
    Fixture(
        "a file that git ignores",
        lambda: proven(CODE, run_of(id_of(CODE), ignored=("tests/conftest.py",))),
        "WARN",
        ("ignored-code",),
    ),
    Fixture("a text that says PASS", lambda: _text(b"Status: PASS\n"), "FAIL", ("unsigned-evidence",)),
    Fixture(
        "a text that is PASSING-ISH", lambda: _text(b"Status: PASSING-ISH\n"), "FAIL", ("unsigned-evidence",)
    ),
    Fixture(
        "another tree",
        lambda: with_evidence(CODE, runs_files(_run("another", counts=TestCounts(3, 0, 0)))),
        "FAIL",
        ("stale-evidence",),
    ),
    Fixture(
        "a failed level besides",
        lambda: proven(
            CODE,
            run_of(
                id_of(CODE),
                *(level(n, Status.FAIL if n is LevelName.STATIC else Status.PASS) for n in LevelName),
            ),
        ),
        "FAIL",
        ("failed-run",),
    ),
)
