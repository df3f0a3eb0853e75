"""What the evidence folder proves about the tree that is audited: its last test run and its diff log, signed or nothing."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from forge.audits.check import Found
from forge.audits.evidence.book import Book, BookState, normal_text, signed_by_stranger
from forge.audits.evidence.chain import Line, canonical, hash_line, read_line
from forge.audits.evidence.ledger import verify_in
from forge.audits.evidence.records import DiffLog, FileChange, Kind, Status, TestRun, body_of
from forge.audits.evidence.rendering_diff import render_diff_log
from forge.audits.evidence.rendering_runs import HEADER, render_latest, render_run
from forge.audits.models import Severity
from forge.audits.paths import shown
from forge.audits.snapshot import Change, Snapshot

RUNS = Book(
    records="test_runs.jsonl",
    text="test_runs.md",
    head=None,
    header=HEADER,
    render=render_run,
    made_by="`forge audit evidence` makes it.",
)
LATEST = "test_runs_latest.md"
DIFF_LOG, DIFF_TEXT = "diff_log.json", "diff_log.md"
OTHER_RUN = f"{DIFF_LOG} belongs to another run than the last one in {RUNS.records}"
MAKE = "Run the tests through Forge: forge audit evidence"
SKIPPED = "this project keeps no evidence yet; `forge audit evidence` makes it"


@dataclass(frozen=True, slots=True)
class Proof:
    run: TestRun | None
    """Signed, whole, and of the tree that is audited."""
    previous: TestRun | None
    """The last one before it, of another tree, that passed."""
    found: tuple[Found, ...]
    """Why there is no run that counts."""
    state: BookState


def keeps_evidence(snapshot: Snapshot) -> bool:
    """A project that claims something, or has a folder for it, is asked to prove it."""
    is_governed = snapshot.governance.exists or snapshot.project.is_configured
    return snapshot.claims is not None or is_governed or bool(snapshot.evidence)


def verify_runs(snapshot: Snapshot) -> BookState:
    return verify_in(snapshot, RUNS)


def prove_run(snapshot: Snapshot) -> Proof:
    state = snapshot.once(verify_runs)
    found = tuple(_why_not(snapshot, state))
    if found:
        return Proof(None, None, found, state)
    runs = [line for line in state.lines if line.entry.kind == Kind.TEST_RUN]
    place = next((n for n in reversed(range(len(runs))) if _tree(runs[n]) == snapshot.tree_id), None)
    if place is None:
        return Proof(None, None, (_stale(snapshot, runs),), state)
    run = body_of(runs[place].entry)
    if not isinstance(run, TestRun) or not _counts(runs[place], snapshot):
        return Proof(None, None, (_unsigned(snapshot, runs[place]),), state)
    return Proof(run, _previous(runs[:place], snapshot), (), state)


def latest_problems(snapshot: Snapshot, state: BookState) -> Iterator[Found]:
    """The texts say what the records say."""
    for problem in state.problems:
        if problem.rule == "edited-text":
            yield _tampered(snapshot, problem.file, problem.message)
    if not is_latest(snapshot, last_run(state)):
        yield _tampered(snapshot, LATEST, f"{LATEST} is not what the last record says")


def last_run(state: BookState) -> Line | None:
    return next((line for line in reversed(state.lines) if line.entry.kind == Kind.TEST_RUN), None)


def is_latest(snapshot: Snapshot, last: Line | None) -> bool:
    """Whether the text of the last run is what that record says; nobody can tell of one that cannot be read here."""
    run = body_of(last.entry) if last else None
    now = snapshot.evidence.get(LATEST)
    return not isinstance(run, TestRun) or (
        now is not None and normal_text(now) == render_latest(run).encode()
    )


@dataclass(frozen=True, slots=True)
class DiffProof:
    log: DiffLog | None
    found: tuple[Found, ...]


def prove_diff_log(snapshot: Snapshot) -> DiffProof:
    data = snapshot.evidence.get(DIFF_LOG)
    if data is None:
        rule = "unsigned-diff-log" if DIFF_TEXT in snapshot.evidence else "no-diff-log"
        what = (
            f"{DIFF_TEXT} was written by hand, and nobody signed it"
            if DIFF_TEXT in snapshot.evidence
            else "there is no diff log"
        )
        return DiffProof(None, (_about_log(snapshot, rule, what),))
    line = read_line(data.removesuffix(b"\n"))
    if isinstance(line, str) or not line.is_signed:
        what = line if isinstance(line, str) else "the signature is not of this text"
        return DiffProof(None, (_about_log(snapshot, "tampered-diff-log", f"{DIFF_LOG}: {what}"),))
    if line.entry.signer not in snapshot.trust.keys:
        return DiffProof(None, (_stranger(snapshot, DIFF_LOG, line.entry.signer),))
    return _prove_log(snapshot, line)


def _prove_log(snapshot: Snapshot, line: Line) -> DiffProof:
    try:
        log = msgspec.convert(line.entry.body, DiffLog)
    except msgspec.ValidationError:
        return DiffProof(None, (_about_log(snapshot, "tampered-diff-log", f"{DIFF_LOG} holds no diff log"),))
    if log.tree != snapshot.tree_id:
        what = "the diff log is of another state of the files"
        return DiffProof(None, (_about_log(snapshot, "stale-diff-log", what),))
    if not rests_on(log, last_run(snapshot.once(verify_runs))):
        return DiffProof(None, (_about_log(snapshot, "tampered-diff-log", OTHER_RUN),))
    text = snapshot.evidence.get(DIFF_TEXT)
    if text is None or normal_text(text) != render_diff_log(log, line.entry.at).encode():
        what = f"{DIFF_TEXT} is not what {DIFF_LOG} says"
        return DiffProof(log, (_about_log(snapshot, "tampered-diff-log", what),))
    return DiffProof(log, ())


def rests_on(log: DiffLog, run: Line | None) -> bool:
    """Both are written together: a log without its run says that somebody took the run away, or put the log there."""
    return run is not None and log.run == hash_line(canonical(run.entry.body))


def changed_files(snapshot: Snapshot) -> list[Change]:
    """What a diff log lists: all but the evidence itself."""
    return [change for change in snapshot.changes if not snapshot.governance.is_evidence(change.path)]


def file_change(change: Change, lines: tuple[tuple[int, int], ...] = ()) -> FileChange:
    old = None if change.old_path is None else shown(change.old_path)
    return FileChange(change.kind.value, shown(change.path), old, change.added, change.removed, lines)


def _why_not(snapshot: Snapshot, state: BookState) -> Iterator[Found]:
    if not state.exists and not state.is_tampered:
        if snapshot.evidence.keys() & {LATEST, RUNS.text}:
            what = "the test results were written by hand: no signed record is behind them"
            yield _evidence(snapshot, "unsigned-evidence", what, LATEST)
        else:
            yield _evidence(snapshot, "no-evidence", "there is no record of a test run", None)
        return
    for problem in state.problems:
        if problem.severity is Severity.FAIL and problem.rule != "edited-text":
            yield Found(
                "tampered-evidence",
                Severity.FAIL,
                problem.message,
                problem.fix,
                _path(snapshot, problem.file),
            )
            return
        if problem.rule == "unknown-signer" and state.lines:
            yield _stranger(snapshot, RUNS.records, state.lines[-1].entry.signer)
            return


def changed_by_tests(run: TestRun) -> Found:
    message = run.problem or "the tests changed the files they were to prove"
    fix = "Let tests write to temporary folders, or have git ignore what they leave behind; then run them again."
    return Found("tests-change-files", Severity.FAIL, message, fix, subject="tree")


def _stale(snapshot: Snapshot, runs: Sequence[Line]) -> Found:
    if not runs:
        return _evidence(snapshot, "no-evidence", "there is no record of a test run", RUNS.records)
    last = body_of(runs[-1].entry)
    if isinstance(last, TestRun) and last.tree != last.tree_after == snapshot.tree_id:
        return changed_by_tests(last)
    what = f"the last test run ({runs[-1].entry.at}) was of another state of the files"
    return _evidence(snapshot, "stale-evidence", what, RUNS.records)


def _unsigned(snapshot: Snapshot, line: Line) -> Found:
    what = f"entry {line.entry.number}, the run of these files, is not signed by anybody known here"
    return _evidence(snapshot, "unsigned-evidence", what, RUNS.records)


def _previous(lines: Sequence[Line], snapshot: Snapshot) -> TestRun | None:
    for line in reversed(lines):
        run = body_of(line.entry)
        if not isinstance(run, TestRun) or run.tree == snapshot.tree_id:
            continue
        if run.status is Status.PASS and run.counts and _counts(line, snapshot):
            return run
    return None


def _counts(line: Line, snapshot: Snapshot) -> bool:
    return line.entry.signer in snapshot.trust.keys and line.is_signed


def _tree(line: Line) -> object:
    return line.entry.body.get("tree") if isinstance(line.entry.body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _evidence(snapshot: Snapshot, rule: str, message: str, file: str | None) -> Found:
    return Found(rule, Severity.FAIL, message, MAKE, file and _path(snapshot, file), subject=rule)


def _tampered(snapshot: Snapshot, file: str, message: str) -> Found:
    message = f"{message}: it was edited, or its writer was stopped"
    return Found("tampered-evidence", Severity.FAIL, message, MAKE, _path(snapshot, file), subject=file)


def _about_log(snapshot: Snapshot, rule: str, message: str) -> Found:
    file = None if rule == "no-diff-log" else DIFF_TEXT if rule == "unsigned-diff-log" else DIFF_LOG
    return Found(rule, Severity.FAIL, message, MAKE, file and _path(snapshot, file), subject=rule)


def _stranger(snapshot: Snapshot, file: str, key: str) -> Found:
    return Found(
        "unknown-signer",
        Severity.FAIL,
        signed_by_stranger(file, key),
        f"{MAKE}; or, if you know whose key it is: forge audit trust {key}",
        _path(snapshot, file),
        subject=key,
    )


def _path(snapshot: Snapshot, file: str) -> str:
    return snapshot.governance.path("evidence", file)
