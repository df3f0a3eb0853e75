"""Verify the evidence: which test run and diff log are valid for the audited tree, and whether every file is intact."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec

from forge.audits.check import Found
from forge.audits.display_text import escape_path, format_count
from forge.audits.evidence.chain import Line, canonical, hash_line, read_line
from forge.audits.evidence.evidence_log import (
    EvidenceLog,
    LogState,
    Problem,
    normal_text,
    unknown_signer_message,
)
from forge.audits.evidence.evidence_markdown import RUNS_HEADER, render_diff_log, render_latest, render_run
from forge.audits.evidence.ledger import LEDGER, verify_in_snapshot
from forge.audits.evidence.records import DiffLog, FileChange, Kind, Status, TestRun, body_of
from forge.audits.models import Severity
from forge.audits.snapshot import Change, Snapshot

RUNS = EvidenceLog(
    records="test_runs.jsonl",
    text="test_runs.md",
    head=None,
    header=RUNS_HEADER,
    render=render_run,
    creation_hint="`forge audit evidence` creates it.",
)
LATEST = "test_runs_latest.md"
DIFF_LOG, DIFF_TEXT = "diff_log.json", "diff_log.md"
OTHER_RUN = f"{DIFF_LOG} does not belong to the last run in {RUNS.records}"
COLLECT_FIX = "Run the tests through Forge: forge audit evidence"
NO_EVIDENCE_REASON = "this project has no evidence yet; `forge audit evidence` creates it"


@dataclass(frozen=True, slots=True)
class Proof:
    run: TestRun | None
    """The valid run of the audited tree, if any."""
    previous: TestRun | None
    """The last passing run of a different tree before it."""
    found: tuple[Found, ...]
    """Why there is no valid run."""
    state: LogState


def keeps_evidence(snapshot: Snapshot) -> bool:
    """Return whether the project must have evidence: it makes a claim, is configured or has contracts."""
    is_governed = snapshot.governance.exists or snapshot.project.is_configured
    return snapshot.claims is not None or is_governed or bool(snapshot.evidence)


def verify_runs(snapshot: Snapshot) -> LogState:
    return verify_in_snapshot(snapshot, RUNS)


def prove_run(snapshot: Snapshot) -> Proof:
    state = snapshot.once(verify_runs)
    found = tuple(_unusable_records(snapshot, state))
    if found:
        return Proof(None, None, found, state)
    runs = [line for line in state.lines if line.entry.kind == Kind.TEST_RUN]
    index = next((n for n in reversed(range(len(runs))) if _tree_of(runs[n]) == snapshot.tree_id), None)
    if index is None:
        return Proof(None, None, (_stale_finding(snapshot, runs),), state)
    run = body_of(runs[index].entry)
    if not isinstance(run, TestRun) or not _is_trusted(runs[index], snapshot):
        return Proof(None, None, (_unsigned_finding(snapshot, runs[index]),), state)
    return Proof(run, _previous(runs[:index], snapshot), (), state)


def latest_problems(snapshot: Snapshot, state: LogState) -> Iterator[Found]:
    """Report rendered texts that do not match the records."""
    for problem in state.problems:
        if problem.rule == "edited-text":
            yield _tampered_finding(snapshot, problem.file, problem.message)
    if not is_latest(snapshot, last_run(state)):
        yield _tampered_finding(snapshot, LATEST, f"{LATEST} does not match the last record")


def last_run(state: LogState) -> Line | None:
    return next((line for line in reversed(state.lines) if line.entry.kind == Kind.TEST_RUN), None)


def is_latest(snapshot: Snapshot, last: Line | None) -> bool:
    """Return whether the text of the last run matches its record. An unreadable record counts as a match."""
    run = body_of(last.entry) if last else None
    text = snapshot.evidence.get(LATEST)
    return not isinstance(run, TestRun) or (
        text is not None and normal_text(text) == render_latest(run).encode()
    )


@dataclass(frozen=True, slots=True)
class DiffProof:
    log: DiffLog | None
    found: tuple[Found, ...]


def prove_diff_log(snapshot: Snapshot) -> DiffProof:
    data = snapshot.evidence.get(DIFF_LOG)
    if data is None:
        rule = "unsigned-diff-log" if DIFF_TEXT in snapshot.evidence else "no-diff-log"
        message = (
            f"{DIFF_TEXT} was written by hand, without a signed record"
            if DIFF_TEXT in snapshot.evidence
            else "there is no diff log"
        )
        return DiffProof(None, (_diff_log_finding(snapshot, rule, message),))
    line = read_line(data.removesuffix(b"\n"))
    if isinstance(line, str) or not line.is_signed:
        message = line if isinstance(line, str) else "the signature is invalid"
        return DiffProof(None, (_diff_log_finding(snapshot, "tampered-diff-log", f"{DIFF_LOG}: {message}"),))
    if line.entry.signer not in snapshot.trust.keys:
        return DiffProof(None, (_unknown_signer_finding(snapshot, DIFF_LOG, line.entry.signer),))
    return _prove_log(snapshot, line)


def _prove_log(snapshot: Snapshot, line: Line) -> DiffProof:
    try:
        log = msgspec.convert(line.entry.body, DiffLog)
    except msgspec.ValidationError:
        return DiffProof(
            None,
            (_diff_log_finding(snapshot, "tampered-diff-log", f"{DIFF_LOG} does not contain a diff log"),),
        )
    if log.tree != snapshot.tree_id:
        message = "the diff log is for a different state of the files"
        return DiffProof(None, (_diff_log_finding(snapshot, "stale-diff-log", message),))
    if not belongs_to_run(log, last_run(snapshot.once(verify_runs))):
        return DiffProof(None, (_diff_log_finding(snapshot, "tampered-diff-log", OTHER_RUN),))
    text = snapshot.evidence.get(DIFF_TEXT)
    if text is None or normal_text(text) != render_diff_log(log, line.entry.at).encode():
        message = f"{DIFF_TEXT} does not match {DIFF_LOG}"
        return DiffProof(log, (_diff_log_finding(snapshot, "tampered-diff-log", message),))
    return DiffProof(log, ())


def belongs_to_run(log: DiffLog, run: Line | None) -> bool:
    """Return whether the log belongs to the run. They are written together, so a mismatch means tampering."""
    return run is not None and log.run == hash_line(canonical(run.entry.body))


def changed_files(snapshot: Snapshot) -> list[Change]:
    """Return the changes that a diff log lists: all except evidence files."""
    return [change for change in snapshot.changes if not snapshot.governance.is_evidence(change.path)]


def file_change(change: Change, lines: tuple[tuple[int, int], ...] = ()) -> FileChange:
    old = None if change.old_path is None else escape_path(change.old_path)
    return FileChange(change.kind.value, escape_path(change.path), old, change.added, change.removed, lines)


def _unusable_records(snapshot: Snapshot, state: LogState) -> Iterator[Found]:
    """Yield the reason why no record can be used, if there is one."""
    if not state.exists and not state.is_tampered:
        if snapshot.evidence.keys() & {LATEST, RUNS.text}:
            message = "the test results were written by hand, without a signed record"
            yield _run_finding(snapshot, "unsigned-evidence", message, LATEST)
        else:
            yield _run_finding(snapshot, "no-evidence", "there is no record of a test run", None)
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
            yield _unknown_signer_finding(snapshot, RUNS.records, state.lines[-1].entry.signer)
            return


def changed_by_tests(run: TestRun) -> Found:
    message = run.problem or "the tests changed the files under test"
    fix = "Let the tests write to temporary folders, or add their output to .gitignore; then run them again."
    return Found("tests-change-files", Severity.FAIL, message, fix, subject="tree")


def _stale_finding(snapshot: Snapshot, runs: Sequence[Line]) -> Found:
    if not runs:
        return _run_finding(snapshot, "no-evidence", "there is no record of a test run", RUNS.records)
    last = body_of(runs[-1].entry)
    if isinstance(last, TestRun) and last.tree != last.tree_after == snapshot.tree_id:
        return changed_by_tests(last)
    message = f"the last test run ({runs[-1].entry.at}) was for a different state of the files"
    return _run_finding(snapshot, "stale-evidence", message, RUNS.records)


def _unsigned_finding(snapshot: Snapshot, line: Line) -> Found:
    message = f"entry {line.entry.number}, the run of these files, is not signed with a trusted key"
    return _run_finding(snapshot, "unsigned-evidence", message, RUNS.records)


def _previous(lines: Sequence[Line], snapshot: Snapshot) -> TestRun | None:
    for line in reversed(lines):
        run = body_of(line.entry)
        if not isinstance(run, TestRun) or run.tree == snapshot.tree_id:
            continue
        if run.status is Status.PASS and run.counts and _is_trusted(line, snapshot):
            return run
    return None


def _is_trusted(line: Line, snapshot: Snapshot) -> bool:
    return line.entry.signer in snapshot.trust.keys and line.is_signed


def _tree_of(line: Line) -> object:
    return line.entry.body.get("tree") if isinstance(line.entry.body, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


def _run_finding(snapshot: Snapshot, rule: str, message: str, file: str | None) -> Found:
    return Found(rule, Severity.FAIL, message, COLLECT_FIX, file and _path(snapshot, file), subject=rule)


def _tampered_finding(snapshot: Snapshot, file: str, message: str) -> Found:
    message = f"{message}: it was edited, or its writer was interrupted"
    return Found(
        "tampered-evidence", Severity.FAIL, message, COLLECT_FIX, _path(snapshot, file), subject=file
    )


def _diff_log_finding(snapshot: Snapshot, rule: str, message: str) -> Found:
    file = None if rule == "no-diff-log" else DIFF_TEXT if rule == "unsigned-diff-log" else DIFF_LOG
    return Found(rule, Severity.FAIL, message, COLLECT_FIX, file and _path(snapshot, file), subject=rule)


def _unknown_signer_finding(snapshot: Snapshot, file: str, key: str) -> Found:
    return Found(
        "unknown-signer",
        Severity.FAIL,
        unknown_signer_message(file, key),
        f"{COLLECT_FIX}; or, if you trust its owner: forge audit trust {key}",
        _path(snapshot, file),
        subject=key,
    )


def _path(snapshot: Snapshot, file: str) -> str:
    return snapshot.governance.path("evidence", file)


@dataclass(frozen=True, slots=True)
class FileVerification:
    file: str
    problems: tuple[Problem, ...]
    entries: int
    summary: str
    """The summary if there is no problem."""

    @property
    def is_intact(self) -> bool:
        return not any(problem.severity is Severity.FAIL for problem in self.problems)


def verify_files(snapshot: Snapshot) -> Iterator[FileVerification]:
    """Verify the logs, their rendered texts, and the files that every run overwrites."""
    yield _verify_evidence_log(snapshot, LEDGER)
    yield _verify_evidence_log(snapshot, RUNS)
    last = last_run(snapshot.once(verify_runs))
    if last or LATEST in snapshot.evidence:
        yield FileVerification(
            LATEST, tuple(_latest_text_problems(snapshot, last)), 1, "matches the last record"
        )
    if last or snapshot.evidence.keys() & {DIFF_LOG, DIFF_TEXT}:
        summary = f"1 entry, signature valid; {DIFF_TEXT} matches"
        yield FileVerification(DIFF_LOG, tuple(_diff_log_problems(snapshot, last)), 1, summary)


def _verify_evidence_log(snapshot: Snapshot, evidence_log: EvidenceLog) -> FileVerification:
    state = verify_in_snapshot(snapshot, evidence_log)
    count = len(state.lines)
    summary = f"{format_count(count, 'entries')}, signature valid; {evidence_log.text} matches"
    return FileVerification(evidence_log.records, state.problems, count, summary)


def _latest_text_problems(snapshot: Snapshot, last: Line | None) -> Iterator[Problem]:
    if last is None:
        yield _unsigned_text_problem(LATEST)
    elif not is_latest(snapshot, last):
        state_text = (
            "was edited, or its writer was interrupted" if LATEST in snapshot.evidence else "is missing"
        )
        message = f"{LATEST} {state_text}: it does not match entry {last.entry.number} of {RUNS.records}"
        yield Problem("edited-text", Severity.FAIL, message, COLLECT_FIX, file=LATEST)


def _diff_log_problems(snapshot: Snapshot, last: Line | None) -> Iterator[Problem]:
    data = snapshot.evidence.get(DIFF_LOG)
    if data is None:
        yield (
            _unsigned_text_problem(DIFF_TEXT)
            if last is None
            else _diff_log_problem("removed", f"{DIFF_LOG} is missing")
        )
        return
    line = read_line(data.removesuffix(b"\n"))
    if isinstance(line, str) or not line.is_signed:
        message = line if isinstance(line, str) else "the signature is invalid"
        yield _diff_log_problem("broken-entry", f"{DIFF_LOG}: {message}")
        return
    if line.entry.signer not in snapshot.trust.keys:
        message = unknown_signer_message(DIFF_LOG, line.entry.signer)
        fix = f"If you trust its owner: forge audit trust {line.entry.signer}"
        yield Problem("unknown-signer", Severity.WARN, message, fix, file=DIFF_LOG)
    yield from _diff_content_problems(snapshot, line, last)


def _diff_content_problems(snapshot: Snapshot, line: Line, last: Line | None) -> Iterator[Problem]:
    try:
        log = msgspec.convert(line.entry.body, DiffLog)
    except msgspec.ValidationError:
        yield _diff_log_problem("broken-entry", f"{DIFF_LOG} does not contain a diff log")
        return
    if not belongs_to_run(log, last):
        yield _diff_log_problem("replaced", OTHER_RUN)
    text = snapshot.evidence.get(DIFF_TEXT)
    if text is None or normal_text(text) != render_diff_log(log, line.entry.at).encode():
        state_text = "is missing" if text is None else f"was edited: it does not match {DIFF_LOG}"
        yield Problem("edited-text", Severity.FAIL, f"{DIFF_TEXT} {state_text}", COLLECT_FIX, file=DIFF_TEXT)


def _unsigned_text_problem(file: str) -> Problem:
    message = f"{file} was written by hand, without a signed record"
    return Problem("legacy", Severity.WARN, message, COLLECT_FIX, file=file)


def _diff_log_problem(rule: str, message: str) -> Problem:
    return Problem(rule, Severity.FAIL, message, COLLECT_FIX, 1, DIFF_LOG)
