"""Render evidence as Markdown.

`forge audit verify` compares these texts with the files byte by byte, so every change here changes the file format.
"""

from collections.abc import Iterable, Iterator
from itertools import zip_longest

from forge.audits.engine.findings import escape_text
from forge.audits.evidence.chain import Entry
from forge.audits.evidence.records import (
    Audited,
    Authorized,
    DiffLog,
    FileChange,
    Kind,
    Legacy,
    ResultLine,
    Status,
    Step,
    TestRun,
    body_of,
)

LEDGER_HEADER = """\
# Audit Ledger -- Forge AEM

Append-only: entries are added at the end and never changed. Rendered from `audit_ledger.jsonl`.
Do not edit or truncate: `forge audit verify` finds it.
"""
_OUTCOMES = {
    Kind.AUTHORIZED: "AUTHORIZED (committed)",
    Kind.AUTO_AUTHORIZED: "AUTO-AUTHORIZED (committed)",
    Kind.BYPASS: "BYPASS",
}


def render_ledger_entry(entry: Entry) -> str:
    body = body_of(entry)
    if isinstance(body, Legacy):
        return ""
    lines = ["", "---", ""]
    if isinstance(body, Audited):
        lines += _audited(entry, body)
    elif isinstance(body, Authorized):
        lines += _authorized(entry, body)
    else:
        lines += [f"## Entry {entry.number}: {one_line(entry.kind)}", f"Timestamp: {one_line(entry.at)}"]
    return "\n".join(lines) + "\n"


def _audited(entry: Entry, body: Audited) -> Iterator[str]:
    yield f"## Audit Entry: {one_line(body.phase)} -- Iteration {body.iteration}"
    yield f"Timestamp: {entry.at}"
    yield f"AEM Cycle: {one_line(body.phase)}"
    yield f"Outcome: {body.outcome}"
    yield f"HEAD: {body.head or 'none'}"
    yield f"Base: {body.base or 'none'}"
    yield f"Tree: {body.tree}"
    yield from _ledger_section("Checklist", map(_ledger_result, body.checks))
    if body.fix_plan:
        yield from _ledger_section("Fix Plan (FAIL items)", map(one_line, body.fix_plan))
    yield from _ledger_section("Files Changed", map(one_line, body.files))
    yield from _ledger_section("Notes", map(_ledger_result, body.warnings))


def _authorized(entry: Entry, body: Authorized) -> Iterator[str]:
    yield f"## Authorization: Iteration {body.iteration}"
    yield f"Timestamp: {entry.at}"
    yield f"Outcome: {_OUTCOMES[Kind(entry.kind)]}"
    yield f"commit: {one_line(body.commit)}"
    yield f"By: {one_line(body.by)}"
    if body.reason:
        yield f"Reason: {one_line(body.reason)}"


def _ledger_section(title: str, items: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"### {title}"
    lines = [f"- {item}" for item in items]
    yield from lines or ["- none"]


def _ledger_result(line: ResultLine) -> str:
    return f"{line.code} {one_line(line.name)}: {line.result} -- {one_line(line.detail)}"


def one_line(text: str) -> str:
    """Put untrusted text on one line, so that it cannot imitate the format."""
    return escape_text(" ".join(text.split()))


RUNS_HEADER = """\
# Test Runs

Rendered from `test_runs.jsonl`, where each record is signed. Do not edit: `forge audit verify` finds it.
"""


def render_run(entry: Entry) -> str:
    """Render one run of test_runs.md."""
    body = body_of(entry)
    if isinstance(body, Legacy):
        return ""
    head = f"\n## Test Run {one_line(entry.at)}\n"
    return head + "".join(f"- {line}\n" for line in _run_lines(body)) if isinstance(body, TestRun) else head


def render_latest(run: TestRun) -> str:
    return "".join(f"{line}\n" for line in _run_lines(run))


def _run_lines(run: TestRun) -> Iterator[str]:
    yield f"Status: {run.status}"
    yield f"Phase: {one_line(run.phase)}"
    yield f"Start: {run.started_at}"
    yield f"End: {run.ended_at}"
    yield f"Branch: {one_line(run.branch or 'none')}"
    yield f"HEAD: {run.head or 'none'}"
    yield f"Base: {run.base or 'none'}"
    yield f"Tree: {run.tree}"
    yield f"Runtime: {one_line(run.runtime)}"
    if run.problem:
        yield f"Problem: {one_line(run.problem)}"
    for level in run.levels:
        reason = f" -- {one_line(level.reason)}" if level.reason else ""
        yield f"Level {level.name}: {level.status}{reason}"
        for step in level.steps:
            yield from _run_step(step)
    if run.ignored:
        yield f"Ignored code: {len(run.ignored)}"
        yield from (f"  {one_line(name)}" for name in run.ignored)
    yield f"Files changed: {len(run.files)}"
    for name in run.files:
        yield f"  {one_line(name)}"


def _run_step(step: Step) -> Iterator[str]:
    name = one_line(step.name)
    if step.command:
        yield f"{name} command: {one_line(' '.join(step.command))}"
    yield f"{name} exit: {step.end if step.exit_code is None else step.exit_code}"
    yield f"{name} summary: {one_line(step.summary)}"
    if step.status is Status.FAIL:
        for failing, message in zip_longest(step.failing, step.messages, fillvalue=""):
            yield f"{name} failing: {one_line(failing)}{f' -- {one_line(message)}' if message else ''}"


TODO = "TODO: say what this change is for (forge audit evidence --summary)."
MAX_HUNKS = 500


def render_diff_log(log: DiffLog, at: str) -> str:
    return "\n".join(_diff_lines(log, at)) + "\n"


def _diff_lines(log: DiffLog, at: str) -> Iterator[str]:
    yield "# Diff Log (overwrite each cycle)"
    yield from _diff_section(
        "Cycle Metadata",
        (
            f"- Timestamp: {at}",
            f"- Phase: {one_line(log.phase)}",
            f"- Branch: {one_line(log.branch or 'none')}",
            f"- HEAD: {log.head or 'none'}",
            f"- BASE_HEAD: {log.base or 'none'}",
            f"- Tree: {log.tree}",
            "- Diff basis: everything since BASE_HEAD, untracked files too",
        ),
    )
    yield from _diff_section("Cycle Status", [f"- Status: {'COMPLETE' if log.is_complete else 'BLOCKED'}"])
    yield from _diff_section("Summary", [one_line(line) for line in log.summary.splitlines()] or [TODO])
    yield from _diff_section(f"Files Changed ({len(log.files)})", map(_bullet, log.files))
    results = (f"- {level.name}: {level.status} -- {one_line(level.summary)}" for level in log.verification)
    yield from _diff_section("Verification", results)
    yield from _diff_section("Notes (optional)", [one_line(log.notes) or "none"])
    yield from _diff_section("Next Steps", [one_line(log.next_steps) or "none"])
    hunks = [hunk for file in log.files for hunk in _hunks(file)]
    more = [f"    … and {len(hunks) - MAX_HUNKS:,} more"] if len(hunks) > MAX_HUNKS else []
    yield from _diff_section("Minimal Diff Hunks", [*hunks[:MAX_HUNKS], *more] or ["    none"])


def _diff_section(title: str, lines: Iterable[str]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield from lines


def _bullet(file: FileChange) -> str:
    moved = f"{one_line(file.old_path)} => " if file.old_path else ""
    return f"- {file.kind}: {moved}{one_line(file.path)} (+{file.added} -{file.removed})"


def _hunks(file: FileChange) -> Iterator[str]:
    for first, last in file.lines:
        yield f"    @@ +{first},{last - first + 1} @@ {one_line(file.path)}"
