"""Collect evidence: run the verification levels, and sign the result together with the hash of the files."""

import platform
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path, PurePosixPath

from forge.audits.check import Check
from forge.audits.display_text import escape_path, join_names
from forge.audits.engine.registry import load_checks, select_checks
from forge.audits.evidence.chain import Entry, canonical, hash_line, next_entry, write_line
from forge.audits.evidence.evidence_folder import EvidenceFolder, open_folder
from forge.audits.evidence.evidence_markdown import render_diff_log, render_latest
from forge.audits.evidence.ledger import open_writer, verify_in_snapshot
from forge.audits.evidence.log_writer import REPAIRED, LogWriter, add_record
from forge.audits.evidence.proof import DIFF_LOG, DIFF_TEXT, LATEST, RUNS, changed_files, file_change
from forge.audits.evidence.records import (
    DiffLog,
    Kind,
    Level,
    LevelResult,
    Status,
    TestRun,
    exact_stamp,
    fit,
    listed,
    stamp,
)
from forge.audits.evidence.signing_keys import SigningKeys
from forge.audits.evidence.task_runner import TaskRunner
from forge.audits.evidence.verification_plan import plan
from forge.audits.evidence.verifier import OnLevel, SnapshotThread, Verifier
from forge.audits.facts.models import LANGUAGES
from forge.audits.models import Severity
from forge.audits.snapshot import AddedLine, Snapshot
from forge.errors import Conflict
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.sandbox.sandboxes import Sandboxes

_SETTINGS = frozenset({".cfg", ".ini", ".toml", ".pth"})
_USUAL_FOLDERS = frozenset(
    [
        ".venv",
        "venv",
        "env",
        ".tox",
        ".nox",
        "node_modules",
        "__pycache__",
        ".pytest_cache",
        ".mypy_cache",
        ".ruff_cache",
        ".hypothesis",
        ".cache",
        ".eggs",
        "build",
        "dist",
        "target",
        "coverage",
        "htmlcov",
        ".next",
        ".nuxt",
        ".vite",
        ".turbo",
        ".parcel-cache",
        ".idea",
        ".vscode",
        ".git",
    ]
)
"""Environments, caches and build output, which most projects ignore and may use in tests."""


def ignored_code(names: Iterable[str]) -> list[str]:
    """Return ignored source files, tool settings and unusual folders."""
    return sorted(name for name in names if _is_relevant(PurePosixPath(name), is_folder=name.endswith("/")))


def _is_relevant(path: PurePosixPath, *, is_folder: bool) -> bool:
    if any(part in _USUAL_FOLDERS or part.endswith(".egg-info") for part in path.parts):
        return False
    return is_folder or path.suffix.lower() in LANGUAGES or path.suffix.lower() in _SETTINGS


TIMEOUT_S = 900.0
CONTRACTS = ("A4", "W3")
MAX_BLOCKS = 200
"""The maximum number of added blocks listed per file."""
MAX_NAMED = 10


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """The user's description of the change, and options."""

    summary: str = ""
    notes: str = ""
    next_steps: str = ""
    timeout_s: float = TIMEOUT_S
    """The time limit of each command."""
    contracts: Sequence[Check] | None = None
    """The checks of the Contract level; A4 and W3 by default."""


@dataclass(frozen=True, slots=True)
class CollectedEvidence:
    run: TestRun
    log: DiffLog
    entry: Entry
    notice: str = ""
    """A notice about the environment that was used, if it is not the expected one."""


async def collect(
    open_snapshot: Callable[[], AbstractContextManager[Snapshot]],
    root: Path,
    keys: SigningKeys,
    sandboxes: Sandboxes,
    request: EvidenceRequest,
    *,
    on_level: OnLevel = lambda _: None,
) -> CollectedEvidence:
    """Run the levels and write evidence. The snapshot is opened again after the run to detect changes by the tests."""
    started_at = exact_stamp(now())
    contracts = select_checks(load_checks(), CONTRACTS) if request.contracts is None else request.contracts
    async with SnapshotThread() as thread:
        before = await thread.enter(open_snapshot)
        await thread.run(_check_preconditions, before, root)
        tasks = await thread.run(plan, before, root)
        task_runner = TaskRunner(root, before.governance.evidence, sandboxes, tasks, request.timeout_s)
        levels = await Verifier(before, task_runner, thread, contracts, on_level).verify()
        after = await thread.enter(open_snapshot)
        runtime = await _runtime(sandboxes, tasks.notice)
        run = await thread.run(_run, before, after, levels, started_at, runtime)
        log = await thread.run(_diff_log, before, run, request)
        writer = await thread.run(_writer, keys, root, before)
        entry = await thread.run(write_evidence, writer, before, run, log)
    return CollectedEvidence(run, log, entry, tasks.notice)


def _writer(keys: SigningKeys, root: Path, snapshot: Snapshot) -> LogWriter:
    return open_writer(keys, root, branch=snapshot.branch, head=snapshot.head)


def write_evidence(writer: LogWriter, snapshot: Snapshot, run: TestRun, log: DiffLog) -> Entry:
    at = stamp(now())
    with open_folder(writer.root, snapshot.governance) as folder:
        entry = add_record(folder, RUNS, writer, Kind.TEST_RUN, lambda _: run, at=at)
        folder.replace(LATEST, render_latest(run).encode())
        _write_log(folder, writer, log, at)
    return entry


def _write_log(folder: EvidenceFolder, writer: LogWriter, log: DiffLog, at: str) -> None:
    entry = next_entry(None, new_id(), "diff-log", log, at=at, signer=writer.signer.key)
    folder.replace(DIFF_LOG, write_line(entry, writer.signer))
    folder.replace(DIFF_TEXT, render_diff_log(log, at).encode())


def _check_preconditions(snapshot: Snapshot, root: Path) -> None:
    """Raise Conflict before the tests run if the evidence could not be written afterwards."""
    for problem in verify_in_snapshot(snapshot, RUNS).problems:
        is_fatal = problem.severity is Severity.FAIL and problem.rule not in REPAIRED
        if is_fatal or problem.rule == "unknown-signer":
            raise Conflict(f"Evidence cannot be added: {problem.message}.", hint=problem.fix)
    if snapshot.unmerged:
        raise Conflict("A merge is in progress.", hint="Finish the merge first.")
    with open_folder(root, snapshot.governance):
        pass


def _run(
    before: Snapshot, after: Snapshot, levels: tuple[Level, ...], started_at: str, runtime: str
) -> TestRun:
    has_failed = any(level.status is Status.FAIL for level in levels)
    problem = _difference(before, after)
    return TestRun(
        phase=fit(before.phase),
        status=Status.FAIL if has_failed or problem else Status.PASS,
        problem=problem,
        started_at=started_at,
        ended_at=exact_stamp(now()),
        branch=before.branch and fit(before.branch),
        head=before.head,
        base=before.base,
        tree=before.tree_id,
        tree_after=after.tree_id,
        runtime=runtime,
        files=listed([escape_path(change.path) for change in changed_files(before)]),
        levels=levels,
        ignored=listed([escape_path(path) for path in ignored_code(before.ignored)]),
    )


def _difference(before: Snapshot, after: Snapshot) -> str:
    if before.tree_id == after.tree_id:
        return ""
    old, new = before.tree.entries, after.tree.entries
    names = sorted(
        escape_path(path)
        for path in old.keys() | new.keys()
        if old.get(path) != new.get(path) and not before.governance.is_evidence(path)
    )
    return fit(f"files changed during the tests: {join_names(names, MAX_NAMED)}")


def _diff_log(snapshot: Snapshot, run: TestRun, request: EvidenceRequest) -> DiffLog:
    blocks = _line_blocks(snapshot.added_lines)
    return DiffLog(
        phase=run.phase,
        branch=run.branch,
        head=run.head,
        base=run.base,
        tree=run.tree,
        is_complete=run.status is Status.PASS,
        summary=fit(request.summary.strip()),
        files=tuple(file_change(change, blocks.get(change.path, ())) for change in changed_files(snapshot)),
        verification=tuple(
            LevelResult(level.name, level.status, _level_summary(level)) for level in run.levels
        ),
        run=hash_line(canonical(run)),
        notes=fit(request.notes.strip()),
        next_steps=fit(request.next_steps.strip()),
    )


def _level_summary(level: Level) -> str:
    return fit(level.reason or "; ".join(f"{step.name}: {step.summary}" for step in level.steps))


def _line_blocks(lines: Iterable[AddedLine]) -> dict[str, tuple[tuple[int, int], ...]]:
    """Return the first and last line of each added block by file."""
    by_path: dict[str, tuple[tuple[int, int], ...]] = {}
    for path, added in groupby(lines, key=lambda line: line.path):
        blocks: list[tuple[int, int]] = []
        for line in added:
            if blocks and blocks[-1][1] == line.line - 1:
                blocks[-1] = (blocks[-1][0], line.line)
            else:
                blocks.append((line.line, line.line))
        by_path[path] = tuple(blocks[:MAX_BLOCKS])
    return by_path


async def _runtime(sandboxes: Sandboxes, notice: str) -> str:
    report = await sandboxes.open()
    runtime = f"{platform.system()} {platform.machine()}, sandbox {report.backend} ({report.level})"
    return fit(f"{runtime}; {notice}" if notice else runtime)
