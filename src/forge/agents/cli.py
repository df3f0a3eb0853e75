"""`forge agents`."""

from contextlib import closing

import click

from forge.agents.models import AgentEnd, AgentEnded, AgentLimits, Interjection
from forge.agents.transcript import Transcript
from forge.errors import ForgeError
from forge.events.models import Event
from forge.llm.models import Role
from forge.runs.choice import find_run
from forge.runs.models import Run
from forge.runs.watched import Watched
from forge.terminal.client import Client, connect
from forge.terminal.given import PIPE, read_pipe
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json, words
from forge.workspace.choice import find_workspace


@click.group()
def agents() -> None:
    """Give an agent a task in a workspace, watch it, talk to it."""


@agents.command()
@click.argument("task")
@click.option("--workspace", required=True, help="Where it works: name or id of a workspace.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.BUILDER.value,
    show_default=True,
    help="Whose model it uses.",
)
@click.option("--turns", type=click.IntRange(min=1), help="Stop after this many answers of the model.")
@click.option("--detach", is_flag=True, help="Do not wait for it.")
@json_option
@click.pass_context
def run(
    ctx: click.Context, task: str, workspace: str, role: str, turns: int | None, detach: bool, as_json: bool
) -> None:
    """Give an agent a TASK. `-` reads it from standard input.

    Exit code 0 when it says that it is done, 1 otherwise. Ctrl-C stops watching; the agent goes on.
    """
    text = read_pipe() if task == PIPE else task
    limits = AgentLimits(turns=turns) if turns else AgentLimits()
    with connect() as client:
        body = {
            "workspace_id": find_workspace(client, workspace),
            "task": text,
            "role": role,
            "limits": limits.model_dump(),
        }
        started = client.post("/agents", Run, body)
        if not detach:
            _watch(ctx, client, started.id, as_json=as_json)
        elif as_json:
            print_json(started)
        else:
            console().print(words(f"It works. Watch it: forge agents watch {started.id}"))


@agents.command()
@click.argument("run")
@json_option
@click.pass_context
def watch(ctx: click.Context, run: str, as_json: bool) -> None:
    """Follow an agent until it ends. With --json every event is printed as a line."""
    with connect() as client:
        _watch(ctx, client, find_run(client, run), as_json=as_json)


@agents.command()
@click.argument("run")
@click.argument("text")
@json_option
def tell(run: str, text: str, as_json: bool) -> None:
    """Say something to an agent at work; it hears it before its next turn."""
    with connect() as client:
        sent = client.post(f"/agents/{find_run(client, run)}/messages", Interjection, {"text": text})
    if as_json:
        print_json(sent)
    else:
        console().print(words("Sent. It is heard before the agent's next turn."))


def _watch(ctx: click.Context, client: Client, run_id: str, *, as_json: bool) -> None:
    try:
        is_done = _follow(client, run_id, as_json=as_json)
    except KeyboardInterrupt as error:
        click.echo(f"\nThe agent goes on. Watch it again: forge agents watch {run_id}", err=True)
        raise click.Abort from error
    ctx.exit(0 if is_done else 1)


def _follow(client: Client, run_id: str, *, as_json: bool) -> bool:
    """Whether the agent said that it is done."""
    transcript, watched, is_done = Transcript(console()), Watched(), False
    with closing(client.follow(f"run:{run_id}", Event, on_lost=_say_lost)) as events:
        for event in events:
            watched.add(event)
            if as_json:
                click.echo(event.json)
            else:
                transcript.event(event)
            if event.type == AgentEnded.type:
                is_done = AgentEnded.model_validate(event.data).result.end is AgentEnd.DONE
            if watched.status.is_final:
                break
    return is_done


def _say_lost(error: ForgeError) -> None:
    click.echo(f"{error.message} Trying again …", err=True)
