"""Shows a run as it happens: a live screen in a terminal, a line per event elsewhere, or the events as JSON."""

from collections.abc import Generator
from contextlib import closing, contextmanager
from typing import Protocol

import click
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from forge.errors import ForgeError
from forge.events.models import Event, EventData
from forge.kernel.clock import now
from forge.runs.models import (
    GateAnswered,
    GateOpened,
    RunCompleted,
    RunFailed,
    RunProgressed,
    RunStatus,
    RunWaiting,
    StepFinished,
    StepStarted,
    StepStatus,
)
from forge.runs.show import gate_page, problem_text, step_status, step_took
from forge.runs.watched import Watched, fact_of
from forge.terminal.client import Client
from forge.terminal.output import console, dot, words
from forge.terminal.text import clean, duration

FRAMES_PER_S = 8
OTHER_LINES = 12
"""Lines of the screen that are kept for what is not a step."""
BAR_WIDTH = 24


class Viewer(Protocol):
    def event(self, event: Event) -> None: ...

    def lost(self, error: ForgeError) -> None: ...


def watch(client: Client, run_id: str, *, as_json: bool) -> RunStatus:
    """Follow the run to its end and say how it ended."""
    watched = Watched()
    with (
        _open_viewer(watched, as_json=as_json) as viewer,
        closing(client.follow(f"run:{run_id}", Event, on_lost=viewer.lost)) as events,
    ):
        for event in events:
            watched.add(event)
            viewer.event(event)
            if watched.status.is_final:
                break
    return watched.status


@contextmanager
def _open_viewer(watched: Watched, *, as_json: bool) -> Generator[Viewer]:
    out = console()
    if as_json:
        yield JsonLines()
    elif not out.is_terminal:
        yield Lines(out)
    else:
        screen = Screen(watched)
        with Live(screen, console=out, refresh_per_second=FRAMES_PER_S, vertical_overflow="visible"):
            yield screen


class JsonLines:
    def event(self, event: Event) -> None:
        click.echo(event.json)

    def lost(self, error: ForgeError) -> None:
        click.echo(f"{error.message} Trying again …", err=True)


class Lines(JsonLines):
    def __init__(self, out: Console) -> None:
        self._out = out

    def event(self, event: Event) -> None:
        fact = fact_of(event)
        said = _describe(fact) if fact else ""
        self._out.print(words(f"{event.at.astimezone():%H:%M:%S}  {event.type:<14} {said}".rstrip()))
        if isinstance(fact, GateOpened):
            self._out.print(gate_page(fact.gate))


def _describe(fact: EventData) -> str:
    """What the event's own name does not say."""
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
    """Draws the state of the run; rich asks it again several times a second."""

    def __init__(self, watched: Watched) -> None:
        self._watched = watched
        self._lost: str | None = None
        self._spinner = Spinner("dots", style="blue")

    def event(self, event: Event) -> None:
        self._lost = None

    def lost(self, error: ForgeError) -> None:
        self._lost = error.message

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        parts: list[RenderableType] = [self._head(), self._steps(console.height - OTHER_LINES)]
        parts += [gate_page(gate) for gate in list(self._watched.gates.values())]
        if self._watched.error:
            parts.append(problem_text(self._watched.error))
        if self._lost:
            parts.append(Text(f"{clean(self._lost)} Trying again …", "yellow"))
        yield Group(*parts)

    def _head(self) -> Table:
        seen = self._watched
        head = Table.grid(padding=(0, 2, 0, 0))
        cells: list[RenderableType] = [dot(seen.status), words(seen.title, "bold")]
        if seen.progress:
            cells.append(_bar(seen.progress.done, seen.progress.total))
        cells.append(Text(self._took(), "bright_black"))
        cells.append(Text(f"waits for a {seen.waiting_for}", "yellow") if seen.waiting_for else self._note())
        head.add_row(*cells)
        return head

    def _note(self) -> Text:
        progress = self._watched.progress
        return words(progress.note, "bright_black") if progress else Text()

    def _took(self) -> str:
        seen = self._watched
        end = seen.last_at if seen.status.is_final else now()
        return duration(end - seen.began_at) if seen.began_at and end else ""

    def _steps(self, room: int) -> Table:
        rows = Table.grid(padding=(0, 2, 0, 0))
        steps = self._watched.steps
        shown = steps[-max(3, room) :]
        if len(shown) < len(steps):
            rows.add_row("", Text(f"… {len(steps) - len(shown)} before", "bright_black"))
        for step in shown:
            moving = self._spinner if step.status is StepStatus.RUNNING else " "
            rows.add_row(moving, words(step.name), step_status(step), step_took(step))
        return rows


def _bar(done: int, total: int) -> ProgressBar:
    return ProgressBar(total, done, width=BAR_WIDTH, complete_style="blue", finished_style="green")
