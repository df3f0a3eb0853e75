"""A3: require a signed test run and a signed diff log for exactly these files."""

from collections.abc import Iterator

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.evidence.examples import (
    CODE,
    UNTRUSTED_SIGNER,
    diff_files,
    diff_log,
    id_of,
    level,
    proven,
    run_of,
    runs_files,
    with_evidence,
)
from forge.audits.evidence.proof import (
    COLLECT_FIX,
    NO_EVIDENCE_REASON,
    Proof,
    changed_by_tests,
    keeps_evidence,
    latest_problems,
    prove_diff_log,
    prove_run,
)
from forge.audits.evidence.records import LevelName, Status, TestRun
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

DOCS = """
Evidence is a record made by Forge: `forge audit evidence` runs the four verification levels in the sandbox, reads the
test counts from the runner's own report and signs the result together with the hash of all files. This check requires

- a record of a passing run of **exactly these files** (any edit, even of a comment, makes it stale),
- signed with a key this machine trusts, in an unbroken chain,
- a signed diff log of the same files and of the last run,
- and `test_runs_latest.md`, `test_runs.md` and `diff_log.md` exactly as rendered from those records.

A text file that says `Status: PASS` is not evidence.

| rule | what it means |
|---|---|
| `no-evidence` | no run was recorded |
| `unsigned-evidence` | there is a text or a record without a signature |
| `unknown-signer` | it is signed with a key that this machine does not trust: run `forge audit trust KEY`, or run the tests here |
| `tampered-evidence` | a record or a rendered text was changed after it was written |
| `stale-evidence` | the files changed after the run |
| `tests-change-files` | the tests changed project files or left files behind; the finding names them |
| `failed-run` | the run failed |
| `no-diff-log`, `unsigned-diff-log`, `tampered-diff-log`, `stale-diff-log` | the same for the diff log |

A project without `forge.json`, without a `Forge` or `Contracts` folder and without a claim needs no evidence: SKIP.
"""


def examine(snapshot: Snapshot) -> Examination:
    if not keeps_evidence(snapshot):
        return skip(NO_EVIDENCE_REASON, "records")
    proof = prove_run(snapshot)
    log = prove_diff_log(snapshot)
    found = [
        *proof.found,
        *latest_problems(snapshot, proof.state),
        *_run_problems(snapshot, proof),
        *log.found,
    ]
    summary = (
        f"a signed run of {proof.run.ended_at[:19]}Z and a diff log, both of these files" if proof.run else ""
    )
    return examined(found, 1, "records", detail="" if found else summary)


def _run_problems(snapshot: Snapshot, proof: Proof) -> Iterator[Found]:
    run = proof.run
    if run is None:
        return
    if run.tree_after != run.tree:
        yield changed_by_tests(run)
    elif run.status is not Status.PASS:
        failed = ", ".join(level.name for level in run.levels if level.status is Status.FAIL)
        message = (
            f"the run of these files failed{f' ({failed})' if failed else ''}: {run.problem or 'see A8'}"
        )
        yield Found("failed-run", Severity.FAIL, message, f"Fix it. {COLLECT_FIX}", subject="status")


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
    """Only the passing run is left in the records, but the diff log belongs to the failed one."""
    return with_evidence(CODE, runs_files(run_of(id_of(CODE))), _log(_FAILED))


def _signed_by_a_stranger() -> Snapshot:
    return with_evidence(CODE, runs_files(run_of(id_of(CODE)), signer=UNTRUSTED_SIGNER), _log())


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


CHECK = Check(
    code="A3",
    name="Evidence completeness",
    why="A claim that code works needs proof: Forge runs the tests itself and signs the result for exactly these files.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
