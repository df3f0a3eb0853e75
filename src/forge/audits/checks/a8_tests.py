"""A8: the tests of exactly these files were run and passed, and there are not fewer of them than before."""

from collections.abc import Iterator

from forge.audits.check import Check, Examination, Found, examined, skip
from forge.audits.checks.a8_fixtures import FIXTURES
from forge.audits.counting import first_of
from forge.audits.evidence.proof import MAKE, SKIPPED, keeps_evidence, prove_run
from forge.audits.evidence.records import LevelName, Status, TestCounts, TestRun
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

MAX_NAMED = 5


def examine(snapshot: Snapshot) -> Examination:
    if not keeps_evidence(snapshot):
        return skip(SKIPPED, "tests")
    proof = prove_run(snapshot)
    if proof.run is None:
        return examined(proof.found, 0, "tests")
    counts = proof.run.counts
    found = [*_results(proof.run, counts), *_compared(counts, proof.previous), *_ignored(proof.run)]
    told = f"{counts.passed} passed, {counts.failed} failed, {counts.skipped} skipped" if counts else ""
    return examined(found, max(1, counts.ran if counts else 1), "tests", detail="" if found else told)


def _results(run: TestRun, counts: TestCounts | None) -> Iterator[Found]:
    behavior = run.level(LevelName.BEHAVIOR)
    if behavior is None or not behavior.steps or (counts is not None and counts.ran == 0):
        why = behavior.reason if behavior and behavior.reason else "no test ran"
        fix = f"Write one, or say in forge.json where the tests are. {MAKE}"
        yield Found("no-tests", Severity.FAIL, why, fix, subject="tests")
    elif behavior.status is Status.FAIL or (counts and counts.failed):
        names = [name for step in behavior.steps for name in step.failing]
        told = f": {', '.join(names[:MAX_NAMED])}" if names else ""
        why = f"{counts.failed} of {counts.ran} tests failed" if counts and counts.failed else behavior.reason
        message = f"{why or next((s.summary for s in behavior.steps if s.status is Status.FAIL), 'the tests failed')}{told}"
        yield Found("failed-tests", Severity.FAIL, message, f"Repair them. {MAKE}", subject="tests")
    elif run.status is not Status.PASS:
        failed = ", ".join(one.name for one in run.levels if one.status is Status.FAIL)
        message = f"the tests passed, and yet the run failed: {run.problem or failed}"
        yield Found("failed-run", Severity.FAIL, message, f"Repair it. {MAKE}", subject="run")
    elif counts is None:
        message = "the tests passed, but their runner does not say how many there were"
        fix = "Use a runner that reports (pytest, unittest, vitest, jest, node --test), directly or in the `test` script."
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
        fix = "Tests that went away, or are skipped now, prove nothing: look whether that is meant."
        yield Found("fewer-tests", Severity.WARN, message, fix, subject="tests")


def _ignored(run: TestRun) -> Iterator[Found]:
    if run.ignored:
        message = f"code that git ignores was there when the tests ran: {first_of(run.ignored, MAX_NAMED)}"
        fix = f"Look whether the tests depend on it; remove it, or let git have it. {MAKE}"
        yield Found("ignored-code", Severity.WARN, message, fix, subject="ignored")


DOCS = """
The record of the last run of **exactly these files** (see A3) says how the tests went: Forge ran them in the sandbox and
counted them from the report that the runner itself wrote (JUnit XML of pytest and node, JSON of vitest and jest; unittest,
which writes none, is run through a small program of Forge that does). No output is searched for words, and no text that
somebody wrote is read.

| rule | what it means |
|---|---|
| `no-tests` | FAIL: not a single test ran; an empty suite, or one that is skipped as a whole, is not a passing one |
| `failed-tests` | FAIL: with the names of the first ones |
| `failed-run` | FAIL: the tests passed, and another level did not, or they changed files of the project |
| `uncounted-tests` | WARN: exit code 0 from a runner that does not count (`go test`, `make test`) |
| `ignored-code` | WARN: source files or settings that git ignores were there; evidence is bound to what git has |
| `fewer-tests` | WARN: fewer ran, or more were skipped, than in the last passing run of other files |
| `no-evidence`, `stale-evidence`, `unsigned-evidence`, `unknown-signer`, `tampered-evidence`, `tests-change-files` | FAIL: as in A3 |
"""

CHECK = Check(
    code="A8",
    name="Test gate",
    why="Nothing is signed off whose tests did not pass, or which has none: seen by Forge, on these very files.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
