"""Print a run of a workflow as it happens, line by line."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager

import click
from pydantic import JsonValue
from rich.console import Console, RenderableType
from rich.text import Text

from forge.events.models import Event, EventData, read_fact
from forge.runs.models import Gate, GateAnswered, GateExpired, GateOpened, RunCompleted, RunFailed, RunStarted
from forge.runs.run_state import RunState, fact_of, follow_run
from forge.runs.run_view import keeps_running, problem_text
from forge.terminal.client import Client
from forge.terminal.output import console, dot, words, working
from forge.terminal.text import clean, duration
from forge.workflows.cli.run_views import log_text, question_page, step_words, value_text
from forge.workflows.models import WorkflowStepLogged, WorkflowStepMoved

PAGE = 1000
MAX_SHOWN = 2000
"""Characters of the output that are printed at the end of a log."""
_DONE = {"approve": "approved", "reject": "rejected"}


def print_live(client: Client, run_id: str, *, as_json: bool) -> RunState:
    """Print every event from the first to the end of the run."""
    return _follow(client, run_id, _printer(client, run_id, as_json=as_json))


def print_history(client: Client, run_id: str, *, as_json: bool) -> RunState:
    """Print every event so far."""
    state, print_event = RunState(), _printer(client, run_id, as_json=as_json)
    for event in _history(client, f"run:{run_id}"):
        state.add(event)
        print_event(event, state)
    return state


def wait(client: Client, run_id: str) -> RunState:
    """Wait until the run ends. Only questions to the user are printed, to standard error."""
    err = console(stderr=True)

    with working("Running…") as say:

        def handle(event: Event, state: RunState) -> None:
            fact = _fact(event)
            if isinstance(fact, WorkflowStepMoved):
                say(f"{fact.step.key}: {fact.step.status.value}")
            elif isinstance(fact, GateOpened):
                err.print(_question(client, run_id, fact))

        return _follow(client, run_id, handle)


def going_on(run_id: str) -> AbstractContextManager[None]:
    return keeps_running(f"The run goes on. Follow it again: forge workflow logs {run_id} -f")


EventHandler = Callable[[Event, RunState], None]


def _follow(client: Client, run_id: str, on_event: EventHandler) -> RunState:
    state = RunState()
    for event, state in follow_run(client, run_id):
        on_event(event, state)
    return state


def _history(client: Client, stream: str) -> Iterator[Event]:
    after = 0
    while found := client.get("/events", list[Event], {"stream": stream, "after": after, "limit": PAGE}):
        yield from found
        after = found[-1].seq


def _printer(client: Client, run_id: str, *, as_json: bool) -> EventHandler:
    if as_json:
        return lambda event, _: click.echo(event.json)
    out, shown = console(), dict[str, str]()

    def handle(event: Event, state: RunState) -> None:
        fact = _fact(event)
        if isinstance(fact, WorkflowStepMoved) and _is_shown(fact, shown):
            return
        for line in _lines(fact, state):
            out.print(Text.assemble((f"{event.at.astimezone():%H:%M:%S}  ", "bright_black"), line))
        if isinstance(fact, GateOpened):
            out.print(_question(client, run_id, fact))
        elif isinstance(fact, RunCompleted):
            _print_output(out, run_id, fact.output)

    return handle


def _is_shown(fact: WorkflowStepMoved, shown: dict[str, str]) -> bool:
    """Return whether the line of the step is the same as before."""
    line = step_words(fact.step).plain
    before, shown[fact.step.key] = shown.get(fact.step.key), line
    return line == before


def _question(client: Client, run_id: str, fact: GateOpened) -> RenderableType:
    """Show the question as it is now: in a log it may be answered already."""
    return question_page(run_id, client.get(f"/gates/{fact.gate.id}", Gate))


def _fact(event: Event) -> EventData | None:
    return read_fact(event, (WorkflowStepMoved, WorkflowStepLogged)) or fact_of(event)


def _lines(fact: EventData | None, state: RunState) -> Iterator[Text]:
    match fact:
        case WorkflowStepMoved():
            yield Text.assemble(_column(fact.step.key), step_words(fact.step))
        case WorkflowStepLogged():
            yield from (Text.assemble(_column(fact.key), log_text(line)) for line in fact.lines)
        case GateOpened():
            yield Text.assemble(_column(str(fact.gate.payload.get("step", ""))), "asks")
        case RunStarted() if fact.attempt > 1:
            yield Text(f"taken up again by another process, attempt {fact.attempt}", "yellow")
        case GateAnswered():
            said = f": {fact.comment}" if fact.comment else ""
            done = _DONE.get(fact.option, fact.option)
            yield words(f"{done} by {fact.answered_by}{said}")
        case GateExpired():
            yield Text("not answered in time", "yellow")
        case RunFailed():
            yield Text.assemble(_end(state), "  ", problem_text(fact.error))
        case _ if state.status.is_final:
            yield _end(state)
        case _:
            pass


def _column(key: str) -> Text:
    return Text(f"{clean(key):<20}  ", "bold")


def _end(state: RunState) -> Text:
    took = duration(state.last_at - state.began_at) if state.began_at and state.last_at else ""
    return Text.assemble(dot(state.status), (f"  {took}", "bright_black"))


def _print_output(out: Console, run_id: str, output: JsonValue) -> None:
    if output is None:
        return
    text = value_text(output)
    out.print(words(text[:MAX_SHOWN]))
    if len(text) > MAX_SHOWN:
        out.print(Text(f"… all of it: forge workflow status {run_id} --json", "bright_black"))
