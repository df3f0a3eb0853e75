"""A3: whoever says that it works has let Forge see it: a signed run of the tests, and a diff log, of exactly these files."""

from collections.abc import Iterator

from forge.audits.check import Check, Examination, Found, examined, skip
from forge.audits.checks.a3_fixtures import FIXTURES
from forge.audits.evidence.proof import (
    MAKE,
    SKIPPED,
    Proof,
    changed_by_tests,
    keeps_evidence,
    latest_problems,
    prove_diff_log,
    prove_run,
)
from forge.audits.evidence.records import Status
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot


def examine(snapshot: Snapshot) -> Examination:
    if not keeps_evidence(snapshot):
        return skip(SKIPPED, "records")
    proof = prove_run(snapshot)
    log = prove_diff_log(snapshot)
    found = [
        *proof.found,
        *latest_problems(snapshot, proof.state),
        *_run_problems(snapshot, proof),
        *log.found,
    ]
    told = (
        f"a signed run of {proof.run.ended_at[:19]}Z and a diff log, both of these files" if proof.run else ""
    )
    return examined(found, 1, "records", detail="" if found else told)


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
        yield Found("failed-run", Severity.FAIL, message, f"Repair it. {MAKE}", subject="status")


DOCS = """
Evidence is a record that Forge made itself: `forge audit evidence` runs the four levels of verification in the sandbox,
counts the tests from the runner's own report and signs the result together with the hash of all files. This check wants

- a record of a run of **exactly these files** (any edit, even of a comment, makes it stale) that passed,
- by a key this machine trusts, in a chain without a break,
- a diff log of the same files and of the last run, signed alike,
- and `test_runs_latest.md`, `test_runs.md` and `diff_log.md` as they are rendered from those records.

A text that says `Status: PASS` is no evidence, whoever wrote it.

| rule | what it means |
|---|---|
| `no-evidence` | no run was recorded |
| `unsigned-evidence` | there is a text, or a record, but nobody signed it |
| `unknown-signer` | a key signed it that this machine does not know: `forge audit trust KEY`, or run it here |
| `tampered-evidence` | a record or a rendered text is not what was written |
| `stale-evidence` | the files have changed since |
| `tests-change-files` | the tests themselves changed files of the project, or left some behind; they are named |
| `failed-run` | the run failed |
| `no-diff-log`, `unsigned-diff-log`, `tampered-diff-log`, `stale-diff-log` | the same for the diff log |

A project without `forge.json`, without a `Forge` or `Contracts` folder and without a claim keeps no evidence: SKIP.
"""

CHECK = Check(
    code="A3",
    name="Evidence completeness",
    why="That something works is worth what somebody saw: Forge runs the tests itself and signs what it saw of exactly these files.",
    docs=DOCS,
    examine=examine,
    fixtures=FIXTURES,
)
