"""Views of runs, steps and gates in a terminal, also used by other features."""

import json
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime, timedelta
from typing import Any

import click
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from forge.errors import ForgeError
from forge.events.models import Event
from forge.kernel.clock import now
from forge.runs.models import Gate, GateStatus, Problem, Run, RunDetail, Step
from forge.runs.run_state import RunState, follow_run, report_lost
from forge.terminal.client import Client
from forge.terminal.lookup import find_id
from forge.terminal.output import FAINT, Columns, Fields, dot, indented, key_values, section, words
from forge.terminal.text import ago, clean

TONES = {"positive": "green", "negative": "red", "neutral": ""}


def find_run(client: Client, query: str) -> str:
    """Return the id of a run from its beginning."""
    return find_id(client, query, "run", "/runs")


def watch(
    client: Client,
    run_id: str,
    on_event: Callable[[Event, RunState], None],
    again: str,
    *,
    as_json: bool,
    display: AbstractContextManager[Any] | None = None,
    on_lost: Callable[[ForgeError], None] = report_lost,
) -> RunState:
    """Pass the events of a run to `on_event`, or print them as JSON, and return the state at its end.

    Ctrl-C stops watching, not the run; `again` is the command to watch it again.
    """
    state = RunState()
    try:
        with display or nullcontext():
            for event, state in follow_run(client, run_id, on_lost=on_lost):
                click.echo(event.json) if as_json else on_event(event, state)
    except KeyboardInterrupt as error:
        click.echo(f"\nThe run continues. Follow it with: forge {again}", err=True)
        raise click.Abort from error
    return state


def took(run: Run) -> timedelta | None:
    return (run.finished_at or now()) - run.started_at if run.started_at else None


def problem_text(problem: Problem) -> Text:
    text = Text.assemble((clean(problem.message), "red"), (f" ({clean(problem.code)})", FAINT))
    return text.append(f"\nhint: {clean(problem.hint)}", "yellow") if problem.hint else text


def created(at: datetime) -> str:
    return f"{at.astimezone():%Y-%m-%d %H:%M:%S} ({ago(at, now())})"


def _ended(run: Run) -> Text:
    text = dot(run.status)
    return text.append(f" {clean(run.outcome)}", "yellow") if run.outcome else text


def _run_status(run: Run) -> Text:
    text = _ended(run)
    if run.progress and not run.status.is_final:
        text.append(f" {run.progress.done}/{run.progress.total}", FAINT)
    return text


def _progress(run: Run) -> str | None:
    if run.progress is None:
        return None
    return f"{run.progress.done} of {run.progress.total} {run.progress.note}".strip()


def step_status(step: Step) -> Text:
    text = dot(step.status)
    if step.attempt > 1:
        text.append(f" (attempt {step.attempt})", FAINT)
    if step.error:
        text.append(f" {clean(step.error.message)}", FAINT)
    return text


def _until(gate: Gate) -> datetime | None:
    return gate.expires_at if gate.status is GateStatus.OPEN else None


runs_table = Columns[Run](
    "id",
    {
        "status": _run_status,
        "title": lambda run: Text.assemble(clean(run.title), (f" {clean(run.kind)}", FAINT)),
    },
    "created_at",
)
steps_table = Columns[Step]({"#": "number"}, {"step": "name", "status": step_status, "took": "duration_ms"})
gates_table = Columns[Gate](
    "id status",
    {"question": "title", "options": lambda gate: [option.id for option in gate.options], "until": _until},
)
_run_fields = Fields[Run](
    {
        "run": "id",
        "title": lambda run: f"{run.title} ({run.kind})",
        "status": _ended,
        "progress": _progress,
        "parent": "parent_id",
        "attempt": lambda run: run.attempt if run.attempt > 1 else None,
        "created": lambda run: created(run.created_at),
        "took": took,
        "output": lambda run: None if run.output is None else json.dumps(run.output, ensure_ascii=False),
        "error": lambda run: problem_text(run.error) if run.error else None,
    }
)


def run_page(detail: RunDetail) -> RenderableType:
    return Group(
        _run_fields(detail.run),
        *steps_table.section("Steps", detail.steps),
        *runs_table.section("Children", detail.children),
        *section("Asks", map(gate_page, detail.gates)),
    )


def gate_page(gate: Gate, *, with_answer: bool = True) -> RenderableType:
    """Show everything that the answer depends on, and the answer or the command to answer."""
    parts: list[RenderableType] = [gate_title(gate)]
    if gate.body:
        parts.append(indented(words(gate.body)))
    if gate.payload:
        parts.append(indented(key_values(_payload(gate))))
    parts.append(indented(_options(gate)))
    if with_answer:
        parts.append(indented(_gate_answer(gate)))
    return Group(*parts)


def gate_title(gate: Gate) -> Text:
    return Text.assemble(dot(gate.status), "  ", (clean(gate.title), "bold"))


def deadline(gate: Gate) -> str:
    return f" (expires {ago(gate.expires_at, now())})" if gate.expires_at else ""


def _payload(gate: Gate) -> Iterable[tuple[str, str]]:
    for name, value in gate.payload.items():
        yield clean(name), value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _options(gate: Gate) -> Table:
    rows = Table.grid(padding=(0, 2, 0, 0))
    for option in gate.options:
        chosen = gate.answer is not None and gate.answer.option == option.id
        rows.add_row("→" if chosen else " ", words(option.id, TONES[option.tone]), words(option.label))
    return rows


def _gate_answer(gate: Gate) -> Text:
    if gate.answer:
        comment = f": {gate.answer.comment}" if gate.answer.comment else ""
        who = f"answered by {gate.answer.answered_by} {ago(gate.answer.answered_at, now())}{comment}"
        return words(who, FAINT)
    if gate.status is not GateStatus.OPEN:
        return words(f"{gate.status}: not answered", FAINT)
    return Text.assemble(
        "answer: ", (f"forge gates answer {gate.id} OPTION", "bold"), (deadline(gate), FAINT)
    )
