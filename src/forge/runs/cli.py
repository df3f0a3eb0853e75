"""`forge runs` and `forge gates`."""

import sys
from collections import defaultdict

import click
from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.text import Text

from forge.errors import Conflict, ForgeError
from forge.events.models import Event
from forge.kernel.clock import now
from forge.runs.models import Gate, GateOpened, GateStatus, Run, RunDetail, RunFailed, RunStatus, StepFinished
from forge.runs.run_state import RunState, fact_of
from forge.runs.run_view import (
    find_run,
    gate_page,
    gates_table,
    problem_text,
    run_page,
    runs_table,
    steps_table,
    watch,
)
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import read_object
from forge.terminal.lookup import SEARCHED, choose, is_id
from forge.terminal.options import limit_option, one_of
from forge.terminal.output import FAINT, console, dot, words
from forge.terminal.text import clean, duration

DETAILED = {"workflow": "forge workflow logs -f", "agent": "forge agents watch"}
"""Commands that show more details of the runs of a kind."""
FRAMES_PER_S = 8
OTHER_LINES = 12
"""Lines of the screen reserved for everything but steps."""
DETAILS = {
    "run.progress": "{done}/{total} {note}",
    "run.waiting": "for a {reason}",
    "run.completed": "{output}",
    "step.started": "{step} {name}, attempt {attempt}",
    "step.finished": "{step} {name}, {outcome} after {duration_ms} ms",
    "gate.answered": "{option} by {answered_by}",
}
"""What is printed of an event besides its type and error."""


@click.group()
def runs() -> None:
    """List, start, watch and cancel runs."""


@runs.command("list")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=one_of(RunStatus),
    help="Only runs with this status. Repeatable.",
)
@click.option("--kind", help="Only runs of this kind.")
@limit_option
@api_command
def list_runs(client: Client, statuses: tuple[str, ...], kind: str | None, limit: int) -> Result[list[Run]]:
    """List runs, newest first."""
    found = list(client.pages("/runs", Run, limit, {"status": list(statuses), "kind": kind}))
    return Result(found, runs_table, empty="No runs found. Start one: forge runs start self_test --watch")


@runs.command()
@api_command
def show(client: Client, run: str, /) -> Result[RunDetail]:
    """Show a run with its steps, child runs and gates."""
    return Result(client.get(f"/runs/{find_run(client, run)}", RunDetail), run_page)


@runs.command("watch")
@api_command
def watch_run(client: Client, run: str, /, as_json: bool) -> int:
    """Follow a run until it ends. Exit code 0: completed with success, 1: not.

    Ctrl-C stops watching, not the run. With --json, print one event per line.
    """
    found = client.get(f"/runs/{find_run(client, run)}", RunDetail).run
    if found.kind in DETAILED and not as_json:
        click.echo(f"To follow its steps: {DETAILED[found.kind]} {found.id}", err=True)
    return _watch(client, found.id, as_json=as_json)


@runs.command()
@api_command
def cancel(client: Client, run: str, /) -> Result[Run]:
    """Cancel a run and its child runs."""
    return Result(client.post(f"/runs/{find_run(client, run)}/cancel", Run), _run_line)


@runs.command()
@click.option(
    "--input",
    "source",
    default="{}",
    show_default=True,
    help="Input of the run: a JSON object, @FILE, or - for standard input.",
)
@click.option("--watch", "watching", is_flag=True, help="Follow the run until it ends.")
@api_command
def start(client: Client, kind: str, /, source: str, watching: bool, as_json: bool) -> Result[Run] | int:
    """Start a run of KIND."""
    run = client.post("/runs", Run, {"kind": kind, "input": read_object(source, "--input")})
    return _watch(client, run.id, as_json=as_json) if watching else Result(run, _run_line)


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
    return Result(found, gates_table, empty="No open gates.")


@gates.command("show")
@api_command
def show_gate(client: Client, gate: str, /) -> Result[Gate]:
    """Show a gate with its data."""
    return Result(_find_gate(client, gate), gate_page)


@gates.command()
@click.option("--comment", default="", help="Comment to store with the answer.")
@api_command
def answer(
    client: Client, gate: str, option: str | None = None, /, *, comment: str, as_json: bool
) -> Result[Gate]:
    """Answer a gate with one of its options. Prompts for the option in a terminal.

    The answer is rejected if the gate changed since it was shown.
    """
    found = _find_gate(client, gate)
    if found.status is not GateStatus.OPEN:
        hint = f"Show it: forge gates show {found.id}"
        raise Conflict(f"This gate is already {found.status.value}.", hint=hint)
    if not as_json:
        console(stderr=True).print(gate_page(found, with_answer=False))
    chosen = option or _ask(found)
    body = {"option": chosen, "comment": comment, "shown_hash": found.shown_hash}
    return Result(client.post(f"/gates/{found.id}/answer", Gate, body), f"Answered: {chosen}")


def _find_gate(client: Client, query: str) -> Gate:
    if is_id(query):
        return client.get(f"/gates/{query}", Gate)
    return choose(query, "gate", client.pages("/gates", Gate, SEARCHED), lambda gate: gate.id)


def _ask(gate: Gate) -> str:
    options = [option.id for option in gate.options]
    if not sys.stdin.isatty():
        raise click.UsageError(f"Choose an option: {', '.join(options)}.")
    return click.prompt("Your answer", type=click.Choice(options), err=True)


def _watch(client: Client, run_id: str, *, as_json: bool) -> int:
    """Follow a run: with a live screen in a terminal, otherwise with a line per event, or with the events as JSON."""
    again = f"runs watch {run_id}"
    if as_json or not console().is_terminal:
        state = watch(client, run_id, _print_event, again, as_json=as_json)
    else:
        screen = Screen()
        live = Live(screen, console=console(), refresh_per_second=FRAMES_PER_S, vertical_overflow="visible")
        state = watch(
            client, run_id, screen.on_event, again, as_json=False, display=live, on_lost=screen.on_lost
        )
    return 0 if state.has_succeeded else 1


def _print_event(event: Event, _: RunState) -> None:
    details = DETAILS.get(event.type, "").format_map(defaultdict(str, event.data))
    fact = fact_of(event)
    if isinstance(fact, RunFailed | StepFinished) and fact.error:
        details = f"{details} {fact.error.message}"
    console().print(words(f"{event.at.astimezone():%H:%M:%S}  {event.type:<14} {details}".rstrip()))
    if isinstance(fact, GateOpened):
        console().print(gate_page(fact.gate))


class Screen:
    """Draw the state of the run; rich redraws it several times a second."""

    def __init__(self) -> None:
        self._state = RunState()
        self._lost = ""

    def on_event(self, _: Event, state: RunState) -> None:
        self._state, self._lost = state, ""

    def on_lost(self, error: ForgeError) -> None:
        self._lost = f"{error.message} Reconnecting …"

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        state = self._state
        yield self._head()
        yield steps_table(state.steps[-max(3, console.height - OTHER_LINES) :])
        yield from map(gate_page, list(state.gates.values()))
        if state.error:
            yield problem_text(state.error)
        if self._lost:
            yield words(self._lost, "yellow")

    def _head(self) -> Text:
        state = self._state
        end = state.last_at if state.status.is_final else now()
        took = duration(end - state.began_at) if state.began_at and end else ""
        line = Text.assemble(dot(state.status), "  ", (clean(state.title), "bold"), (f"  {took}", FAINT))
        if state.outcome:
            line.append(f"  {clean(state.outcome)}", "yellow")
        if state.waiting_for:
            line.append(f"  waiting for a {state.waiting_for}", "yellow")
        elif progress := state.progress:
            line.append(f"  {progress.done}/{progress.total} {clean(progress.note)}", FAINT)
        return line
