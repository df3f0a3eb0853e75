"""A7: require all four verification levels, in order, without a failure."""

from collections.abc import Iterator
from itertools import pairwise

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.evidence.examples import (
    CODE,
    id_of,
    level,
    proven,
    run_of,
    runs_files,
    timestamp,
    with_evidence,
)
from forge.audits.evidence.proof import COLLECT_FIX, NO_EVIDENCE_REASON, keeps_evidence, prove_run
from forge.audits.evidence.records import Level, LevelName, Status, TestRun
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

DOCS = """
Code that does not parse cannot be imported, code that cannot be imported cannot be tested, and contracts are checked
on working code. So `forge audit evidence` runs **Static** (all sources parse, types hold),
**Runtime** (the entry module can be imported, the frontend builds), **Behavior** (the tests) and **Contract** (A4 and W3)
in this order and records when each began and ended. This check reads that record, not the rendered text.

| rule | what it means |
|---|---|
| `missing-level` | FAIL: a level is not in the record |
| `out-of-order` | FAIL: a level began before the previous one ended |
| `failed-level` | FAIL: a level failed |
| `skipped-level` | a note: there was nothing to run, with the reason |
| `no-evidence`, `stale-evidence`, `unsigned-evidence`, `unknown-signer`, `tampered-evidence`, `tests-change-files` | FAIL: as in A3 |
"""


ORDER = ", ".join(LevelName)
_IN_CONFIG = "Configure it in forge.json if it applies."
_HOW = {
    LevelName.STATIC: _IN_CONFIG,
    LevelName.RUNTIME: _IN_CONFIG,
    LevelName.BEHAVIOR: _IN_CONFIG,
    LevelName.CONTRACT: "Add contracts: `forge audit init` proposes them.",
}
"""The fix for each skipped level."""


def examine(snapshot: Snapshot) -> Examination:
    if not keeps_evidence(snapshot):
        return skip(NO_EVIDENCE_REASON, "levels")
    proof = prove_run(snapshot)
    if proof.run is None:
        return examined(proof.found, 0, "levels")
    found = [*_order(proof.run), *_results(proof.run)]
    statuses = ", ".join(f"{one.name} {one.status}" for one in proof.run.levels)
    return examined(found, len(proof.run.levels), "levels", detail=statuses)


def _order(run: TestRun) -> Iterator[Found]:
    names = [one.name for one in run.levels]
    for name in LevelName:
        if name not in names:
            yield _fail("missing-level", f"the level {name} was not run", name)
    if names != [name for name in LevelName if name in names] or not all(map(_follows, pairwise(run.levels))):
        yield _fail("out-of-order", f"the levels were not run in order: {ORDER}", "order")


def _follows(pair: tuple[Level, Level]) -> bool:
    """Return whether the second level began after the first one ended. Timestamps have one format and sort as text."""
    first, second = pair
    return first.started_at <= first.ended_at <= second.started_at <= second.ended_at


def _results(run: TestRun) -> Iterator[Found]:
    for one in run.levels:
        if one.status is Status.FAIL:
            why = one.reason or next((s.summary for s in one.steps if s.status is Status.FAIL), "it failed")
            yield _fail("failed-level", f"{one.name} failed: {why}", one.name)
        elif one.status is Status.SKIP:
            message = f"{one.name} was skipped: {one.reason or 'no reason given'}"
            fix = _HOW[one.name]
            yield Found("skipped-level", Severity.NOTE, message, fix, subject=one.name)


def _fail(rule: str, message: str, subject: str) -> Found:
    return Found(rule, Severity.FAIL, message, COLLECT_FIX, subject=subject)


def _levels(*levels: Level) -> Snapshot:
    return proven(CODE, run_of(id_of(CODE), *levels))


def _all(**given: Level) -> tuple[Level, ...]:
    return tuple(given.get(name.value, level(name)) for name in LevelName)


def _speaks_of_contracts() -> Snapshot:
    return _levels(*_all(Static=level(LevelName.STATIC, summary="contract types compile")))


def _overlapping() -> Snapshot:
    return _levels(*_all(Runtime=level(LevelName.RUNTIME, started_at=timestamp(1))))


def _hand_written() -> Snapshot:
    text = b"## Verification\nStatic: PASS\nRuntime: PASS\nBehavior: PASS\nContract: PASS\n"
    return with_evidence(CODE, {"diff_log.md": text})


CHECK = Check(
    code="A7",
    name="Verification order",
    why="A later level proves little if an earlier one was skipped, so all levels are run in order on exactly these files.",
    docs=DOCS,
    examine=examine,
    fixtures=(
        Fixture("all four in order", proven, "PASS"),
        Fixture("the word contract in the first level", _speaks_of_contracts, "PASS"),
        Fixture(
            "one skipped with a reason",
            lambda: _levels(*_all(Runtime=level(LevelName.RUNTIME, Status.SKIP, reason="no entry module"))),
            "PASS",
            ("skipped-level",),
        ),
        Fixture("nothing at all", lambda: snapshot_of({"app.py": ""}), "SKIP"),
        Fixture(
            "all four failed",
            lambda: _levels(*(level(name, Status.FAIL) for name in LevelName)),
            "FAIL",
            ("failed-level",),
        ),
        Fixture("one missing", lambda: _levels(*_all()[:3]), "FAIL", ("missing-level",)),
        Fixture("another order", lambda: _levels(*reversed(_all())), "FAIL", ("out-of-order",)),
        Fixture("two at a time", _overlapping, "FAIL", ("out-of-order",)),
        Fixture("a text by hand", _hand_written, "FAIL", ("no-evidence",)),
        Fixture(
            "another tree",
            lambda: with_evidence(CODE, runs_files(run_of("another"))),
            "FAIL",
            ("stale-evidence",),
        ),
    ),
)
