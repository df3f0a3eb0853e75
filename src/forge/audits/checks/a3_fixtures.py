"""Examples for A3."""

from forge.audits.check import Fixture
from forge.audits.evidence.examples import (
    CODE,
    STRANGER,
    diff_files,
    diff_log,
    id_of,
    level,
    proven,
    run_of,
    runs_files,
    with_evidence,
)
from forge.audits.evidence.records import LevelName, Status, TestRun
from forge.audits.memory import snapshot_of
from forge.audits.snapshot import Snapshot

_FAILED = run_of(id_of(CODE), level(LevelName.STATIC, Status.FAIL))


def _log(run: TestRun | None = None) -> dict[str, bytes]:
    return diff_files(diff_log(snapshot_of(CODE), run))


def _only_text() -> Snapshot:
    texts = {
        "test_runs_latest.md": b"Status: PASS\n",
        "diff_log.md": b"# Diff Log\n\n## Summary\nAll done.\n",
    }
    return with_evidence(CODE, texts)


def _edited_text() -> Snapshot:
    evidence = runs_files(_FAILED)
    evidence["test_runs_latest.md"] = evidence["test_runs_latest.md"].replace(b"FAIL", b"PASS")
    return with_evidence(CODE, evidence, _log(_FAILED))


def _edited_record() -> Snapshot:
    evidence = runs_files(_FAILED)
    evidence["test_runs.jsonl"] = evidence["test_runs.jsonl"].replace(b'"FAIL"', b'"PASS"')
    return with_evidence(CODE, evidence, _log(_FAILED))


def _cut_off() -> Snapshot:
    """The good run is what is left of the records; the log is that of the bad one."""
    return with_evidence(CODE, runs_files(run_of(id_of(CODE))), _log(_FAILED))


def _signed_by_a_stranger() -> Snapshot:
    return with_evidence(CODE, runs_files(run_of(id_of(CODE)), signer=STRANGER), _log())


def _stale() -> Snapshot:
    now = {**CODE, "app.py": "def double(x):\n    return 3 * x\n"}
    return with_evidence(now, runs_files(run_of(id_of(CODE))), _log())


def _changed_by_tests() -> Snapshot:
    run = run_of(id_of(CODE), tree_after="another", status=Status.FAIL, problem="out.txt appeared")
    return proven(CODE, run)


def _left_by_tests() -> Snapshot:
    now = {**CODE, "out.txt": "left behind\n"}
    run = run_of(id_of(CODE), tree_after=id_of(now), status=Status.FAIL, problem="out.txt appeared")
    return with_evidence(now, runs_files(run), _log())


FIXTURES = (
    Fixture("a signed run and diff log of these files", proven, "PASS"),
    Fixture("nothing at all", lambda: snapshot_of({"app.py": ""}), "SKIP"),
    Fixture(
        "a claim without evidence",
        lambda: snapshot_of(CODE, claims=["app.py"]),
        "FAIL",
        ("no-diff-log", "no-evidence"),
    ),
    Fixture("texts that say PASS", _only_text, "FAIL", ("unsigned-diff-log", "unsigned-evidence")),
    Fixture("a text edited to say PASS", _edited_text, "FAIL", ("failed-run", "tampered-evidence")),
    Fixture(
        "a record edited to say PASS", _edited_record, "FAIL", ("tampered-diff-log", "tampered-evidence")
    ),
    Fixture("a failed run taken out of the records", _cut_off, "FAIL", ("tampered-diff-log",)),
    Fixture("a run signed by a stranger", _signed_by_a_stranger, "FAIL", ("unknown-signer",)),
    Fixture("an edit after the run", _stale, "FAIL", ("stale-diff-log", "stale-evidence")),
    Fixture("tests that change files", _changed_by_tests, "FAIL", ("tests-change-files",)),
    Fixture("tests that leave a file", _left_by_tests, "FAIL", ("stale-diff-log", "tests-change-files")),
    Fixture(
        "no diff log", lambda: with_evidence(CODE, runs_files(run_of(id_of(CODE)))), "FAIL", ("no-diff-log",)
    ),
)
