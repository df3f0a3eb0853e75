"""`forge runs` and `forge gates`."""

import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import Protocol

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from forge.errors import Conflict, ForgeError
from forge.events.models import Event, EventData
from forge.kernel.clock import now
from forge.runs.models import (
    Gate,
    GateAnswered,
    GateOpened,
    GateStatus,
    Run,
    RunCompleted,
    RunDetail,
    RunFailed,
    RunProgressed,
    RunStatus,
    RunWaiting,
    StepFinished,
    StepStarted,
    StepStatus,
)
from forge.runs.run_state import RunState, fact_of, follow_run, report_lost
from forge.runs.run_view import (
    find_run,
    gate_page,
    gates_table,
    keeps_running,
    problem_text,
    run_page,
    runs_table,
    step_status,
    step_took,
)
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import read_object
from forge.terminal.lookup import SEARCHED, choose, is_id
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import FAINT, console, dot, print_result, words
from forge.terminal.text import clean, duration

DETAILED = {"workflow": "forge workflow logs -f", "agent": "forge agents watch"}
"""Commands that show more of the runs of a kind."""
FRAMES_PER_S = 8
OTHER_LINES = 12
"""Lines of the screen reserved for everything but steps."""
BAR_WIDTH = 24


@click.group()
def runs() -> None:
    """List, start, watch and cancel runs."""


@runs.command("list")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in RunStatus]),
    help="Only this status. Repeatable.",
)
@click.option("--kind", help="Only this kind.")
@limit_option
@api_command
def list_runs(client: Client, statuses: tuple[str, ...], kind: str | None, limit: int) -> Result[list[Run]]:
    """List runs, newest first."""
    found = list(client.pages("/runs", Run, limit, {"status": list(statuses), "kind": kind}))
    return Result(
        found, runs_table, empty="There are no such runs. Start one: forge runs start self_test --watch"
    )


@runs.command()
@click.argument("run")
@api_command
def show(client: Client, run: str) -> Result[RunDetail]:
    """Show a run with its steps, child runs and gates."""
    return Result(client.get(f"/runs/{find_run(client, run)}", RunDetail), run_page)


@runs.command("watch")
@click.argument("run")
@json_option
@click.pass_context
def watch_run(ctx: click.Context, run: str, as_json: bool) -> None:
    """Follow a run until it ends. Exit code 0: completed, 1: failed or cancelled.

    Ctrl-C stops watching, not the run. With --json, print each event as a line.
    """
    with connect() as client:
        found = client.get(f"/runs/{find_run(client, run)}", RunDetail).run
        if found.kind in DETAILED and not as_json:
            click.echo(f"Its steps, as they happen: {DETAILED[found.kind]} {found.id}", err=True)
        _watch(ctx, client, found.id, as_json=as_json)


@runs.command()
@click.argument("run")
@api_command
def cancel(client: Client, run: str) -> Result[Run]:
    """Cancel a run and its child runs."""
    return Result(client.post(f"/runs/{find_run(client, run)}/cancel", Run), _run_line)


@runs.command()
@click.argument("kind")
@click.option(
    "--input",
    "source",
    default="{}",
    show_default=True,
    help="Input of the run: a JSON object, @FILE, or - for standard input.",
)
@click.option("--watch", "watching", is_flag=True, help="Follow the run until it ends.")
@json_option
@click.pass_context
def start(ctx: click.Context, kind: str, source: str, watching: bool, as_json: bool) -> None:
    """Start a run of KIND."""
    body = {"kind": kind, "input": read_object(source, "--input")}
    with connect() as client:
        run = client.post("/runs", Run, body)
        if watching:
            _watch(ctx, client, run.id, as_json=as_json)
        else:
            print_result(run, _run_line, as_json=as_json)


def _run_line(run: Run) -> Text:
    return Text.assemble(dot(run.status), f" {clean(run.title)} {run.id}")


@click.group()
def gates() -> None:
    """List and answer gates: questions that wait for a person."""


@gates.command("list")
@click.option("--all", "show_all", is_flag=True, help="Include answered and expired gates.")
@limit_option
@api_command
def list_gates(client: Client, show_all: bool, limit: int) -> Result[list[Gate]]:
    """List open gates, newest first."""
    status = None if show_all else GateStatus.OPEN.value
    found = list(client.pages("/gates", Gate, limit, {"status": status}))
    return Result(found, gates_table, empty="Nothing waits for you.")


@gates.command("show")
@click.argument("gate")
@api_command
def show_gate(client: Client, gate: str) -> Result[Gate]:
    """Show a gate and the data it is about."""
    return Result(_find_gate(client, gate), gate_page)


@gates.command()
@click.argument("gate")
@click.argument("option", required=False)
@click.option("--comment", default="", help="Comment to store with the answer.")
@json_option
def answer(gate: str, option: str | None, comment: str, as_json: bool) -> None:
    """Answer a gate with one of its options. Prompts for the option in a terminal.

    The answer is rejected if the gate changed since it was shown.
    """
    with connect() as client:
        asked = _find_gate(client, gate)
        if asked.status is not GateStatus.OPEN:
            raise Conflict(
                f"This question is {asked.status.value} already.", hint=f"forge gates show {asked.id}"
            )
        if not as_json:
            console(stderr=True).print(gate_page(asked, with_answer=False))
        chosen = option or _ask(asked)
        body = {"option": chosen, "comment": comment, "shown_hash": asked.shown_hash}
        settled = client.post(f"/gates/{asked.id}/answer", Gate, body)
    print_result(settled, f"Answered: {chosen}", as_json=as_json)


def _find_gate(client: Client, given: str) -> Gate:
    if is_id(given):
        return client.get(f"/gates/{given}", Gate)
    return choose(given, "gate", client.pages("/gates", Gate, SEARCHED), lambda gate: gate.id)


def _ask(gate: Gate) -> str:
    options = [option.id for option in gate.options]
    if not sys.stdin.isatty():
        raise click.UsageError(f"Say which option: {', '.join(options)}.")
    return click.prompt("Your answer", type=click.Choice(options), err=True)


def _watch(ctx: click.Context, client: Client, run_id: str, *, as_json: bool) -> None:
    """Show a run as it happens: a live screen in a terminal, a line per event elsewhere, or the events as JSON."""
    status = RunStatus.PENDING
    with (
        keeps_running(f"The run goes on. Watch it again: forge runs watch {run_id}"),
        _open_viewer(as_json=as_json) as viewer,
    ):
        for event, state in follow_run(client, run_id, on_lost=viewer.lost):
            viewer.event(event, state)
            status = state.status
    ctx.exit(0 if status is RunStatus.COMPLETED else 1)


class Viewer(Protocol):
    def event(self, event: Event, state: RunState) -> None: ...

    def lost(self, error: ForgeError) -> None: ...


@contextmanager
def _open_viewer(*, as_json: bool) -> Generator[Viewer]:
    out = console()
    if as_json:
        yield JsonLines()
    elif not out.is_terminal:
        yield Lines(out)
    else:
        screen = Screen()
        with Live(screen, console=out, refresh_per_second=FRAMES_PER_S, vertical_overflow="visible"):
            yield screen


class JsonLines:
    def event(self, event: Event, state: RunState) -> None:
        click.echo(event.json)

    def lost(self, error: ForgeError) -> None:
        report_lost(error)


class Lines(JsonLines):
    def __init__(self, out: Console) -> None:
        self._out = out

    def event(self, event: Event, state: RunState) -> None:
        fact = fact_of(event)
        text = _describe(fact) if fact else ""
        self._out.print(words(f"{event.at.astimezone():%H:%M:%S}  {event.type:<14} {text}".rstrip()))
        if isinstance(fact, GateOpened):
            self._out.print(gate_page(fact.gate))


def _describe(fact: EventData) -> str:
    """Return what the type of the event does not say."""
    match fact:
        case RunProgressed():
            return f"{fact.done}/{fact.total} {fact.note}"
        case RunWaiting():
            return f"for a {fact.reason}"
        case RunFailed():
            return fact.error.message
        case RunCompleted():
            return "" if fact.output is None else str(fact.output)
        case StepStarted():
            return f"{fact.step} {fact.name}" + (f", attempt {fact.attempt}" if fact.attempt > 1 else "")
        case StepFinished():
            ending = f": {fact.error.message}" if fact.error else ""
            return f"{fact.step} {fact.name}, {fact.outcome} after {fact.duration_ms} ms{ending}"
        case GateAnswered():
            return f"{fact.option} by {fact.answered_by}"
        case _:
            return ""


class Screen:
    """Draw the state of the run; rich redraws it several times a second."""

    def __init__(self) -> None:
        self._state = RunState()
        self._lost: str | None = None
        self._spinner = Spinner("dots", style="blue")

    def event(self, event: Event, state: RunState) -> None:
        self._state, self._lost = state, None

    def lost(self, error: ForgeError) -> None:
        self._lost = error.message

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts: list[RenderableType] = [self._head(), self._steps(console.height - OTHER_LINES)]
        parts += [gate_page(gate) for gate in list(self._state.gates.values())]
        if self._state.error:
            parts.append(problem_text(self._state.error))
        if self._lost:
            parts.append(Text(f"{clean(self._lost)} Trying again …", "yellow"))
        yield Group(*parts)

    def _head(self) -> Table:
        state = self._state
        head = Table.grid(padding=(0, 2, 0, 0))
        cells: list[RenderableType] = [dot(state.status), words(state.title, "bold")]
        if state.progress:
            bar = ProgressBar(
                state.progress.total,
                state.progress.done,
                width=BAR_WIDTH,
                complete_style="blue",
                finished_style="green",
            )
            cells.append(bar)
        cells.append(Text(self._took(), FAINT))
        cells.append(
            Text(f"waits for a {state.waiting_for}", "yellow") if state.waiting_for else self._note()
        )
        head.add_row(*cells)
        return head

    def _note(self) -> Text:
        progress = self._state.progress
        return words(progress.note, FAINT) if progress else Text()

    def _took(self) -> str:
        state = self._state
        end = state.last_at if state.status.is_final else now()
        return duration(end - state.began_at) if state.began_at and end else ""

    def _steps(self, height: int) -> Table:
        rows = Table.grid(padding=(0, 2, 0, 0))
        steps = self._state.steps
        shown = steps[-max(3, height) :]
        if len(shown) < len(steps):
            rows.add_row("", Text(f"… {len(steps) - len(shown)} before", FAINT))
        for step in shown:
            moving = self._spinner if step.status is StepStatus.RUNNING else " "
            rows.add_row(moving, words(step.name), step_status(step), step_took(step))
        return rows
