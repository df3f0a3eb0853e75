"""A5: require a diff log that lists the actual changes and has a summary."""

from collections.abc import Iterator
from typing import Any

from forge.audits.check import Check, Examination, Fixture, Found, examined, skip
from forge.audits.display_text import format_count, join_names
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
    COLLECT_FIX,
    DIFF_LOG,
    NO_EVIDENCE_REASON,
    changed_files,
    file_change,
    keeps_evidence,
    prove_diff_log,
)
from forge.audits.evidence.records import DiffLog
from forge.audits.memory import snapshot_of
from forge.audits.models import Severity
from forge.audits.snapshot import Snapshot

DOCS = """
`forge audit evidence` records what changed since the base (added, modified, deleted, renamed; untracked files too) and
your summary, signs the record and renders `diff_log.md`. This check requires that the record is of exactly these files,
lists exactly the current changes (right after a commit nothing differs from the base, so there is nothing to compare)
and refers to the last recorded test run. A missing, edited, outdated or untrusted diff log is a FAIL.

A summary that is empty or contains `TODO:` is a WARN (`no-summary`): a reviewer needs to know what the change is for. The
hunks contain line numbers but no code, so that a secret in the code is not copied.

| rule | what it means |
|---|---|
| `no-diff-log`, `unsigned-diff-log`, `tampered-diff-log`, `unknown-signer` | there is no valid diff log |
| `stale-diff-log` | the files changed after it was written |
| `wrong-files` | it was written against a different base |
| `no-summary` | WARN: the summary is missing or contains a TODO |
"""


MAX_NAMED = 5


def examine(snapshot: Snapshot) -> Examination:
    if not keeps_evidence(snapshot):
        return skip(NO_EVIDENCE_REASON, "diff logs")
    proof = prove_diff_log(snapshot)
    found = [*proof.found, *(_problems(snapshot, proof.log) if proof.log else ())]
    detail = (
        f"{format_count(len(proof.log.files), 'changed files')}, as recorded"
        if proof.log and not found
        else ""
    )
    return examined(found, 1, "diff logs", detail=detail)


def _problems(snapshot: Snapshot, log: DiffLog) -> Iterator[Found]:
    path = snapshot.governance.path("evidence", DIFF_LOG)
    now = {(one.kind, one.path, one.old_path) for one in map(file_change, changed_files(snapshot))}
    logged = {(one.kind, one.path, one.old_path) for one in log.files}
    if now and now != logged:  # right after a commit nothing differs, and the log describes that commit
        names = sorted({name for _, name, _ in now ^ logged})
        message = f"the diff log does not match the actual changes: {join_names(names, MAX_NAMED)}"
        yield Found("wrong-files", Severity.FAIL, message, f"Use the same base (--base). {COLLECT_FIX}", path)
    summary = log.summary.strip()
    if not summary or "todo:" in f"{summary}\n{log.notes}\n{log.next_steps}".lower():
        message = "the diff log contains a TODO" if summary else "the diff log has no summary of the change"
        fix = 'Add one: forge audit evidence --summary "Count visitors per day"'
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


CHECK = Check(
    code="A5",
    name="Diff-log gate",
    why="Reviewers read the diff log first: it must describe this change and say what it is for.",
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
