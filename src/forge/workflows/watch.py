"""Tells a run of a workflow as it happens, a line for each thing: in a terminal, a pipe or a file alike."""

from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager

import click
from pydantic import JsonValue
from rich.console import Console, RenderableType
from rich.text import Text

from forge.errors import ForgeError
from forge.events.models import Event, EventData, read_fact
from forge.runs.models import Gate, GateAnswered, GateExpired, GateOpened, RunCompleted, RunFailed, RunStarted
from forge.runs.show import problem_text
from forge.runs.watched import Watched, fact_of
from forge.terminal.client import Client
from forge.terminal.output import console, dot, words, working
from forge.terminal.text import clean, duration
from forge.workflows.models import WorkflowStepLogged, WorkflowStepMoved
from forge.workflows.show_runs import log_text, question_page, step_words, value_text

PAGE = 1000
MAX_SHOWN = 2000
"""Characters of an output that are told at the end of a log."""
_DONE = {"approve": "approved", "reject": "rejected"}


def follow(client: Client, run_id: str, *, as_json: bool) -> Watched:
    """Everything from its first event to its end, as it happens."""
    return _listen(client, run_id, _teller(client, run_id, as_json=as_json))


def tell(client: Client, run_id: str, *, as_json: bool) -> Watched:
    """Everything that has happened until now."""
    watched, hear = Watched(), _teller(client, run_id, as_json=as_json)
    for event in _history(client, f"run:{run_id}"):
        watched.add(event)
        hear(event, watched)
    return watched


def wait(client: Client, run_id: str) -> Watched:
    """Until its end, in silence; only what waits for a person is said, elsewhere than the result."""
    err = console(stderr=True)

    with working("Running…") as say:

        def hear(event: Event, watched: Watched) -> None:
            fact = _fact(event)
            if isinstance(fact, WorkflowStepMoved):
                say(f"{fact.step.key}: {fact.step.status.value}")
            elif isinstance(fact, GateOpened):
                err.print(_question(client, run_id, fact))

        return _listen(client, run_id, hear)


@contextmanager
def going_on(run_id: str) -> Generator[None]:
    """Ctrl-C stops watching only."""
    try:
        yield
    except KeyboardInterrupt as error:
        click.echo(f"\nThe run goes on. Follow it again: forge workflow logs {run_id} -f", err=True)
        raise click.Abort from error


Hear = Callable[[Event, Watched], None]


def _listen(client: Client, run_id: str, hear: Hear) -> Watched:
    watched = Watched()
    with closing(client.follow(f"run:{run_id}", Event, on_lost=_say_lost)) as events:
        for event in events:
            watched.add(event)
            hear(event, watched)
            if watched.status.is_final:
                break
    return watched


def _history(client: Client, stream: str) -> Iterator[Event]:
    after = 0
    while found := client.get("/events", list[Event], {"stream": stream, "after": after, "limit": PAGE}):
        yield from found
        after = found[-1].seq


def _teller(client: Client, run_id: str, *, as_json: bool) -> Hear:
    if as_json:
        return lambda event, _: click.echo(event.json)
    out, told = console(), dict[str, str]()

    def hear(event: Event, watched: Watched) -> None:
        fact = _fact(event)
        if isinstance(fact, WorkflowStepMoved) and _is_old(fact, told):
            return
        for line in _lines(fact, watched):
            out.print(Text.assemble((f"{event.at.astimezone():%H:%M:%S}  ", "bright_black"), line))
        if isinstance(fact, GateOpened):
            out.print(_question(client, run_id, fact))
        elif isinstance(fact, RunCompleted):
            _tell_output(out, run_id, fact.output)

    return hear


def _is_old(fact: WorkflowStepMoved, told: dict[str, str]) -> bool:
    """A step may move in ways a line does not show."""
    line = step_words(fact.step).plain
    before, told[fact.step.key] = told.get(fact.step.key), line
    return line == before


def _question(client: Client, run_id: str, fact: GateOpened) -> RenderableType:
    """As it stands now: in a log it may have been answered long ago."""
    return question_page(run_id, client.get(f"/gates/{fact.gate.id}", Gate))


def _fact(event: Event) -> EventData | None:
    return read_fact(event, (WorkflowStepMoved, WorkflowStepLogged)) or fact_of(event)


def _lines(fact: EventData | None, watched: Watched) -> Iterator[Text]:
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
            yield Text("nobody answered in time", "yellow")
        case RunFailed():
            yield Text.assemble(_end(watched), "  ", problem_text(fact.error))
        case _ if watched.status.is_final:
            yield _end(watched)
        case _:
            pass


def _column(key: str) -> Text:
    return Text(f"{clean(key):<20}  ", "bold")


def _end(watched: Watched) -> Text:
    took = duration(watched.last_at - watched.began_at) if watched.began_at and watched.last_at else ""
    return Text.assemble(dot(watched.status), (f"  {took}", "bright_black"))


def _tell_output(out: Console, run_id: str, output: JsonValue) -> None:
    if output is None:
        return
    text = value_text(output)
    out.print(words(text[:MAX_SHOWN]))
    if len(text) > MAX_SHOWN:
        out.print(Text(f"… all of it: forge workflow status {run_id} --json", "bright_black"))


def _say_lost(error: ForgeError) -> None:
    click.echo(f"{error.message} Trying again …", err=True)
