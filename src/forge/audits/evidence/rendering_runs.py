"""Test runs as people read them: `test_runs_latest.md` and `test_runs.md`."""

from collections.abc import Iterator
from itertools import zip_longest

from forge.audits.evidence.chain import Entry
from forge.audits.evidence.records import Legacy, Status, Step, TestRun, body_of
from forge.audits.evidence.rendering_ledger import one_line

HEADER = """\
# Test Runs

Rendered from `test_runs.jsonl`, where each record is signed. Do not edit: `forge audit verify` finds it.
"""


def render_run(entry: Entry) -> str:
    """One run of the history."""
    body = body_of(entry)
    if isinstance(body, Legacy):
        return ""
    head = f"\n## Test Run {one_line(entry.at)}\n"
    return head + "".join(f"- {line}\n" for line in _lines(body)) if isinstance(body, TestRun) else head


def render_latest(run: TestRun) -> str:
    return "".join(f"{line}\n" for line in _lines(run))


def _lines(run: TestRun) -> Iterator[str]:
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
            yield from _step(step)
    if run.ignored:
        yield f"Ignored code: {len(run.ignored)}"
        yield from (f"  {one_line(name)}" for name in run.ignored)
    yield f"Files changed: {len(run.files)}"
    for name in run.files:
        yield f"  {one_line(name)}"


def _step(step: Step) -> Iterator[str]:
    name = one_line(step.name)
    if step.command:
        yield f"{name} command: {one_line(' '.join(step.command))}"
    yield f"{name} exit: {step.end if step.exit_code is None else step.exit_code}"
    yield f"{name} summary: {one_line(step.summary)}"
    if step.status is Status.FAIL:
        for failing, message in zip_longest(step.failing, step.messages, fillvalue=""):
            yield f"{name} failing: {one_line(failing)}{f' -- {one_line(message)}' if message else ''}"
