"""A5: the diff log tells what really changed, and somebody said what for."""

from collections.abc import Iterator
from typing import Any

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.counting import counted, first_of
from forge.audits.evidence.examples import (
    CODE,
    diff_files,
    diff_log,
    id_of,
    proven,
    run_of,
    runs_files,
    with_evidence,
)
from forge.audits.evidence.proof import (
    DIFF_LOG,
    MAKE,
    SKIPPED,
    changed_files,
    file_change,
    keeps_evidence,
    prove_diff_log,
)
from forge.audits.evidence.records import DiffLog
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

MAX_NAMED = 5


def examine(snapshot: Snapshot) -> Examination:
    if not keeps_evidence(snapshot):
        return skip(SKIPPED, "diff logs")
    proof = prove_diff_log(snapshot)
    found = [*proof.found, *(_problems(snapshot, proof.log) if proof.log else ())]
    told = f"{counted(len(proof.log.files), 'changed files')}, as recorded" if proof.log and not found else ""
    return examined(found, 1, "diff logs", detail=told)


def _problems(snapshot: Snapshot, log: DiffLog) -> Iterator[Found]:
    path = snapshot.governance.path("evidence", DIFF_LOG)
    now = {(one.kind, one.path, one.old_path) for one in map(file_change, changed_files(snapshot))}
    told = {(one.kind, one.path, one.old_path) for one in log.files}
    if now and now != told:  # with nothing changed since the base, it tells of the change that led here
        names = sorted({name for _, name, _ in now ^ told})
        message = f"the diff log lists other changes than there are: {first_of(names, MAX_NAMED)}"
        yield Found("wrong-files", Severity.FAIL, message, f"Count from the same base (--base). {MAKE}", path)
    summary = log.summary.strip()
    if not summary or "todo:" in f"{summary}\n{log.notes}\n{log.next_steps}".lower():
        message = "the diff log leaves something to do" if summary else "nobody said what this change is for"
        fix = 'Say it: forge audit evidence --summary "Count visitors per day"'
        yield Found("no-summary", Severity.WARN, message, fix, path)


_RUN = runs_files(run_of(id_of(CODE)))


def _log_with(**given: Any) -> Snapshot:
    return with_evidence(CODE, _RUN, diff_files(diff_log(snapshot_of(CODE), **given)))


def _edited() -> Snapshot:
    evidence = diff_files(diff_log(snapshot_of(CODE), summary="TODO: explain"))
    evidence["diff_log.md"] = evidence["diff_log.md"].replace(b"TODO: explain", b"Done")
    return with_evidence(CODE, _RUN, evidence)


def _of_another_run() -> Snapshot:
    return with_evidence(CODE, _RUN, diff_files(diff_log(snapshot_of(CODE), run_of("another"))))


DOCS = """
`forge audit evidence` records what changed since the base (added, modified, deleted, renamed; untracked files too) and
what you said about it, signs it and renders `diff_log.md`. This check wants that record to be of exactly these files and
to list exactly the changes there are (right after a commit nothing differs from the base, and there is nothing to
compare), and to rest on the last run in the records. A missing, foreign, edited or outdated one is a FAIL.

A summary that is empty, or says `TODO:`, is a WARN (`no-summary`): nobody can review a change without knowing what it
is for. The hunks hold line numbers and no code: git has the code, and a secret in it needs no second copy.

| rule | what it means |
|---|---|
| `no-diff-log`, `unsigned-diff-log`, `tampered-diff-log`, `unknown-signer` | there is none that counts |
| `stale-diff-log` | the files have changed since |
| `wrong-files` | counted from another base |
| `no-summary` | WARN: nobody said what the change is for |
"""

CHECK = Check(
    code="A5",
    name="Diff-log gate",
    why="A reviewer reads the diff log first: it has to be about this change, and say what it is for.",
    docs=DOCS,
    examine=examine,
    fixtures=(
        Fixture("a log of this change", proven, "PASS"),
        Fixture("nothing at all", lambda: snapshot_of({"app.py": ""}), "SKIP"),
        Fixture("no log", lambda: snapshot_of(CODE), "FAIL", ("no-diff-log",)),
        Fixture(
            "a text by hand",
            lambda: with_evidence(CODE, {"diff_log.md": b"# Diff Log\n"}),
            "FAIL",
            ("unsigned-diff-log",),
        ),
        Fixture("no summary", lambda: _log_with(summary=" "), "WARN", ("no-summary",)),
        Fixture("a summary to do", lambda: _log_with(summary="todo: explain"), "WARN", ("no-summary",)),
        Fixture("an edited text", _edited, "FAIL", ("no-summary", "tampered-diff-log")),
        Fixture("a log of another run", _of_another_run, "FAIL", ("tampered-diff-log",)),
        Fixture("other files", lambda: _log_with(files=()), "FAIL", ("wrong-files",)),
        Fixture("another tree", lambda: _log_with(tree="another"), "FAIL", ("stale-diff-log",)),
    ),
)
