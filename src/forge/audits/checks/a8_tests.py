"""A8: require passing tests for exactly these files, and not fewer tests than before."""

from collections.abc import Iterator

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.display_text import join_names
from forge.audits.evidence.examples import (
    CODE,
    id_of,
    level,
    proven,
    run_of,
    runs_files,
    with_evidence,
)
from forge.audits.evidence.proof import COLLECT_FIX, NO_EVIDENCE_REASON, keeps_evidence, prove_run
from forge.audits.evidence.records import Level, LevelName, Status, TestCounts, TestRun
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

DOCS = """
The record of the last run of **exactly these files** (see A3) has the test results: Forge ran the tests in the sandbox and
took the counts from the runner's own report (JUnit XML of pytest and node, JSON of vitest and jest; unittest has no report,
so Forge runs it through a small wrapper that writes one). Neither the output nor any hand-written text is parsed.

| rule | what it means |
|---|---|
| `no-tests` | FAIL: no test ran; an empty or completely skipped suite does not pass |
| `failed-tests` | FAIL: with the names of the first failures |
| `failed-run` | FAIL: the tests passed, but another level failed or the tests changed project files |
| `uncounted-tests` | WARN: exit code 0 from a runner that reports no counts (`go test`, `make test`) |
| `ignored-code` | WARN: source files or settings that git ignores were present; evidence only covers files in git |
| `fewer-tests` | WARN: fewer ran, or more were skipped, than in the last passing run of other files |
| `no-evidence`, `stale-evidence`, `unsigned-evidence`, `unknown-signer`, `tampered-evidence`, `tests-change-files` | FAIL: as in A3 |
"""


MAX_NAMED = 5


def examine(snapshot: Snapshot) -> Examination:
    if not keeps_evidence(snapshot):
        return skip(NO_EVIDENCE_REASON, "tests")
    proof = prove_run(snapshot)
    if proof.run is None:
        return examined(proof.found, 0, "tests")
    counts = proof.run.counts
    found = [*_results(proof.run, counts), *_compared(counts, proof.previous), *_ignored(proof.run)]
    summary = f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped" if counts else ""
    return examined(found, max(1, counts.ran if counts else 1), "tests", detail="" if found else summary)


def _results(run: TestRun, counts: TestCounts | None) -> Iterator[Found]:
    behavior = run.level(LevelName.BEHAVIOR)
    if behavior is None or not behavior.steps or (counts is not None and counts.ran == 0):
        why = behavior.reason if behavior and behavior.reason else "no test ran"
        fix = f"Add a test, or set the test directory in forge.json. {COLLECT_FIX}"
        yield Found("no-tests", Severity.FAIL, why, fix, subject="tests")
    elif behavior.status is Status.FAIL or (counts and counts.failed):
        names = [name for step in behavior.steps for name in step.failing]
        listed = f": {', '.join(names[:MAX_NAMED])}" if names else ""
        why = f"{counts.failed} of {counts.ran} tests failed" if counts and counts.failed else behavior.reason
        message = f"{why or next((s.summary for s in behavior.steps if s.status is Status.FAIL), 'the tests failed')}{listed}"
        yield Found("failed-tests", Severity.FAIL, message, f"Fix them. {COLLECT_FIX}", subject="tests")
    elif run.status is not Status.PASS:
        failed = ", ".join(one.name for one in run.levels if one.status is Status.FAIL)
        message = f"the tests passed, but the run failed: {run.problem or failed}"
        yield Found("failed-run", Severity.FAIL, message, f"Fix it. {COLLECT_FIX}", subject="run")
    elif counts is None:
        message = "the tests passed, but the test runner does not report how many ran"
        fix = "Use a runner that reports counts (pytest, unittest, vitest, jest, node --test), directly or in the `test` script."
        yield Found("uncounted-tests", Severity.WARN, message, fix, subject="tests")


def _compared(counts: TestCounts | None, previous: TestRun | None) -> Iterator[Found]:
    before = previous.counts if previous else None
    if counts is None or before is None:
        return
    if counts.ran < before.ran or counts.skipped > before.skipped:
        message = (
            f"tests that ran: {counts.ran}, skipped: {counts.skipped}; "
            f"before this change: {before.ran} and {before.skipped}"
        )
        fix = "Check that the removed or skipped tests were removed or skipped on purpose."
        yield Found("fewer-tests", Severity.WARN, message, fix, subject="tests")


def _ignored(run: TestRun) -> Iterator[Found]:
    if run.ignored:
        message = (
            f"files that git ignores were present when the tests ran: {join_names(run.ignored, MAX_NAMED)}"
        )
        fix = f"Check whether the tests depend on them; remove them or commit them. {COLLECT_FIX}"
        yield Found("ignored-code", Severity.WARN, message, fix, subject="ignored")


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
    Fixture("no counts", lambda: proven(CODE, _run()), "WARN", ("uncounted-tests",)),
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


CHECK = Check(
    code="A8",
    name="Test gate",
    why="Code without passing tests is not signed off; Forge runs the tests itself on exactly these files.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
