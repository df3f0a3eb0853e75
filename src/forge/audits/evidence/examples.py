"""Build signed example evidence in memory, for the fixtures of checks and for tests.

The signing key is public; only these examples trust it.
"""

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from forge.audits.evidence.chain import Line, Signer, canonical, hash_line, next_entry, read_line, write_line
from forge.audits.evidence.evidence_log import EvidenceLog, write_head
from forge.audits.evidence.evidence_markdown import render_diff_log, render_latest
from forge.audits.evidence.ledger import LEDGER
from forge.audits.evidence.proof import DIFF_LOG, DIFF_TEXT, LATEST, RUNS, changed_files, file_change
from forge.audits.evidence.records import (
    Audited,
    AuditOutcome,
    Authorized,
    DiffLog,
    Kind,
    Level,
    LevelName,
    Record,
    Status,
    Step,
    TestCounts,
    TestRun,
)
from forge.audits.memory import Files, MemoryCommits, snapshot_of, tree_id
from forge.audits.snapshot import Snapshot, Trust

SIGNER = Signer.from_seed(b"an example, and known to anybody"[:32])
UNTRUSTED_SIGNER = Signer.from_seed(b"the key of somebody never met..."[:32])
TRUST = Trust(keys=frozenset({SIGNER.key}))
AT = "2026-01-01T12:00:00Z"
FOLDER = "Forge/evidence"
CODE: Files = {"app.py": "def double(x):\n    return 2 * x\n", "forge.json": "{}"}


def compose(
    log: EvidenceLog, records: Sequence[tuple[Kind, Record]], signer: Signer = SIGNER
) -> dict[str, bytes]:
    """Build the files of a log with these records, by name."""
    encoded_lines: list[bytes] = []
    lines: list[Line] = []
    for kind, record in records:
        last = lines[-1] if lines else None
        encoded = write_line(next_entry(last, "example", kind, record, at=AT, signer=signer.key), signer)
        line = read_line(encoded.removesuffix(b"\n"))
        if isinstance(line, Line):
            encoded_lines.append(encoded)
            lines.append(line)
    files = {log.records: b"".join(encoded_lines), log.text: log.full_text(lines).encode()}
    if log.head and lines:
        files[log.head] = write_head(lines[-1], signer)
    return files


def timestamp(second: int) -> str:
    return f"2026-01-01T12:00:{second:02d}.000000Z"


def level(name: LevelName, status: Status = Status.PASS, **overrides: Any) -> Level:
    begin = 10 * list(LevelName).index(name)
    counts = overrides.pop("counts", TestCounts(3, 0, 0) if name is LevelName.BEHAVIOR else None)
    failing = overrides.pop("failing", ())
    step = Step(
        name=name.value.lower(),
        status=status,
        command=("python3", "-m", "pytest") if name is LevelName.BEHAVIOR else (),
        exit_code=0 if status is Status.PASS else 1,
        end="exited",
        started_at=timestamp(begin),
        ended_at=timestamp(begin + 5),
        summary=overrides.pop("summary", "as expected"),
        counts=counts,
        failing=failing,
    )
    default = Level(
        name, status, timestamp(begin), timestamp(begin + 5), () if status is Status.SKIP else (step,)
    )
    return _override(default, overrides)


def run_of(tree: str, *levels: Level, **overrides: Any) -> TestRun:
    all_levels = levels or tuple(level(name) for name in LevelName)
    default = TestRun(
        phase="Phase 1",
        status=Status.FAIL if any(one.status is Status.FAIL for one in all_levels) else Status.PASS,
        problem="",
        started_at=timestamp(0),
        ended_at=timestamp(50),
        branch="main",
        head=None,
        base=None,
        tree=tree,
        tree_after=tree,
        runtime="Python",
        files=("app.py",),
        levels=all_levels,
    )
    return _override(default, overrides)


def audited(
    outcome: AuditOutcome = AuditOutcome.SIGNED_OFF, *, head: str | None = None, number: int = 1
) -> Audited:
    return Audited("Phase 1", number, outcome, (), (), (), (), "main", head, head, "tree")


def authorized(commit: str) -> Authorized:
    return Authorized(commit, "somebody", 1)


def diff_log(snapshot: Snapshot, run: TestRun | None = None, **overrides: Any) -> DiffLog:
    """Build a diff log for this run, or for a passing run of these files."""
    default = DiffLog(
        phase="Phase 1",
        branch="main",
        head=None,
        base=None,
        tree=snapshot.tree_id,
        is_complete=True,
        summary="Doubles numbers.",
        files=tuple(map(file_change, changed_files(snapshot))),
        verification=(),
        run=hash_line(canonical(run or run_of(snapshot.tree_id))),
    )
    return _override(default, overrides)


def runs_files(*runs: TestRun, signer: Signer = SIGNER) -> dict[str, bytes]:
    files = compose(RUNS, [(Kind.TEST_RUN, run) for run in runs], signer)
    return {**files, LATEST: render_latest(runs[-1]).encode()}


def diff_files(log: DiffLog, signer: Signer = SIGNER) -> dict[str, bytes]:
    line = write_line(next_entry(None, "log", "diff-log", log, at=AT, signer=signer.key), signer)
    return {DIFF_LOG: line, DIFF_TEXT: render_diff_log(log, AT).encode()}


def ledger_files(*records: tuple[Kind, Record], signer: Signer = SIGNER) -> dict[str, bytes]:
    return compose(LEDGER, records, signer)


def with_evidence(files: Files, *evidence: dict[str, bytes], **overrides: Any) -> Snapshot:
    """Build a snapshot of files with evidence that trusts the example key."""
    evidence_files = {f"{FOLDER}/{name}": data for part in evidence for name, data in part.items()}
    overrides.setdefault("trust", TRUST)
    overrides.setdefault("commits", MemoryCommits())
    return snapshot_of({**files, **evidence_files}, **overrides)


def proven(files: Files = CODE, *runs: TestRun, **overrides: Any) -> Snapshot:
    """Build a snapshot with complete evidence, or with these runs instead of the passing one."""
    snapshot = snapshot_of(files)
    all_runs = runs or (run_of(snapshot.tree_id),)
    log = diff_log(snapshot, all_runs[-1])
    return with_evidence(files, runs_files(*all_runs), diff_files(log), **overrides)


def id_of(files: Files) -> str:
    return tree_id({p: t.encode() if isinstance(t, str) else t for p, t in files.items()})


def _override(record: Any, overrides: dict[str, Any]) -> Any:
    return replace(record, **overrides) if overrides else record
