"""Making evidence: run the four levels on the files as they are, and sign what came of it together with their hash."""

import platform
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from forge.audits.check import Check
from forge.audits.counting import first_of
from forge.audits.evidence.chain import Entry, canonical, hash_line, next_entry, write_line
from forge.audits.evidence.folder import EvidenceFolder, open_folder
from forge.audits.evidence.ignored import ignored_code
from forge.audits.evidence.keys import Keys
from forge.audits.evidence.ledger import open_writer, verify_in
from forge.audits.evidence.levels import OnLevel, Verifier
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
from forge.audits.evidence.rendering_diff import render_diff_log
from forge.audits.evidence.rendering_runs import render_latest
from forge.audits.evidence.sandboxed import Bench
from forge.audits.evidence.thread import Thread
from forge.audits.evidence.verification import plan
from forge.audits.evidence.writing import REPAIRED, Writer, add_record
from forge.audits.models import Severity
from forge.audits.paths import shown
from forge.audits.registry import choose, load_checks
from forge.audits.snapshot import AddedLine, Snapshot
from forge.errors import Conflict
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.sandbox.choice import Sandboxes

TIMEOUT_S = 900.0
CONTRACTS = ("A4", "W3")
MAX_RUNS = 200
"""Runs of added lines that are listed of one file."""
MAX_NAMED = 10
OpenSnapshot = Callable[[], AbstractContextManager[Snapshot]]


@dataclass(frozen=True, slots=True)
class EvidenceRequest:
    """What a person says about the change; everything else Forge finds out."""

    summary: str = ""
    notes: str = ""
    next_steps: str = ""
    timeout_s: float = TIMEOUT_S
    """Of each command."""
    contracts: Sequence[Check] | None = None
    """The checks of the last level; A4 and W3, unless told."""


@dataclass(frozen=True, slots=True)
class Collected:
    run: TestRun
    log: DiffLog
    entry: Entry
    notice: str = ""
    """How it was run, where that is not what one would expect."""


async def collect(
    open_snapshot: OpenSnapshot,
    root: Path,
    keys: Keys,
    sandboxes: Sandboxes,
    request: EvidenceRequest,
    *,
    on_level: OnLevel = lambda _: None,
) -> Collected:
    """The snapshot is opened twice: before and after, since tests that change the files they prove prove nothing."""
    started_at = exact_stamp(now())
    contracts = choose(load_checks(), CONTRACTS) if request.contracts is None else request.contracts
    async with Thread() as thread:
        before = await thread.enter(open_snapshot)
        await thread.run(_check, before, root)
        tasks = await thread.run(plan, before, root)
        bench = Bench(root, before.governance.evidence, sandboxes, tasks, request.timeout_s)
        levels = await Verifier(before, bench, thread, contracts, on_level).verify()
        after = await thread.enter(open_snapshot)
        runtime = await _runtime(sandboxes, tasks.notice)
        run = await thread.run(_run, before, after, levels, started_at, runtime)
        log = await thread.run(_diff_log, before, run, request)
        writer = await thread.run(_writer, keys, root, before)
        entry = await thread.run(write_evidence, writer, before, run, log)
    return Collected(run, log, entry, tasks.notice)


def _writer(keys: Keys, root: Path, snapshot: Snapshot) -> Writer:
    return open_writer(keys, root, branch=snapshot.branch, head=snapshot.head)


def write_evidence(writer: Writer, snapshot: Snapshot, run: TestRun, log: DiffLog) -> Entry:
    at = stamp(now())
    with open_folder(writer.root, snapshot.governance) as folder:
        entry = add_record(folder, RUNS, writer, Kind.TEST_RUN, lambda _: run, at=at)
        folder.replace(LATEST, render_latest(run).encode())
        _write_log(folder, writer, log, at)
    return entry


def _write_log(folder: EvidenceFolder, writer: Writer, log: DiffLog, at: str) -> None:
    entry = next_entry(None, new_id(), "diff-log", log, at=at, signer=writer.signer.key)
    folder.replace(DIFF_LOG, write_line(entry, writer.signer))
    folder.replace(DIFF_TEXT, render_diff_log(log, at).encode())


def _check(snapshot: Snapshot, root: Path) -> None:
    """What cannot be written in the end is said before an hour of tests."""
    for problem in verify_in(snapshot, RUNS).problems:
        is_in_the_way = problem.severity is Severity.FAIL and problem.rule not in REPAIRED
        if is_in_the_way or problem.rule == "unknown-signer":
            raise Conflict(f"Evidence cannot be added: {problem.message}.", hint=problem.fix)
    if snapshot.unmerged:
        raise Conflict(
            "A merge is not finished: there is nothing to prove yet.", hint="Finish the merge first."
        )
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
        files=listed([shown(change.path) for change in changed_files(before)]),
        levels=levels,
        ignored=listed([shown(path) for path in ignored_code(before.ignored)]),
    )


def _difference(before: Snapshot, after: Snapshot) -> str:
    if before.tree_id == after.tree_id:
        return ""
    old, new = before.tree.entries, after.tree.entries
    names = sorted(
        shown(path)
        for path in old.keys() | new.keys()
        if old.get(path) != new.get(path) and not before.governance.is_evidence(path)
    )
    return fit(f"files changed while they were tested: {first_of(names, MAX_NAMED)}")


def _diff_log(snapshot: Snapshot, run: TestRun, account: EvidenceRequest) -> DiffLog:
    runs = _runs_of_lines(snapshot.added_lines)
    return DiffLog(
        phase=run.phase,
        branch=run.branch,
        head=run.head,
        base=run.base,
        tree=run.tree,
        is_complete=run.status is Status.PASS,
        summary=fit(account.summary.strip()),
        files=tuple(file_change(change, runs.get(change.path, ())) for change in changed_files(snapshot)),
        verification=tuple(LevelResult(one.name, one.status, _told(one)) for one in run.levels),
        run=hash_line(canonical(run)),
        notes=fit(account.notes.strip()),
        next_steps=fit(account.next_steps.strip()),
    )


def _told(level: Level) -> str:
    return fit(level.reason or "; ".join(f"{step.name}: {step.summary}" for step in level.steps))


def _runs_of_lines(lines: Iterable[AddedLine]) -> dict[str, tuple[tuple[int, int], ...]]:
    """First and last line of what was added in one piece, by file."""
    found: dict[str, tuple[tuple[int, int], ...]] = {}
    for path, added in groupby(lines, key=lambda line: line.path):
        runs: list[tuple[int, int]] = []
        for line in added:
            if runs and runs[-1][1] == line.line - 1:
                runs[-1] = (runs[-1][0], line.line)
            else:
                runs.append((line.line, line.line))
        found[path] = tuple(runs[:MAX_RUNS])
    return found


async def _runtime(sandboxes: Sandboxes, notice: str) -> str:
    report = await sandboxes.open()
    told = f"{platform.system()} {platform.machine()}, sandbox {report.backend} ({report.level})"
    return fit(f"{told}; {notice}" if notice else told)
