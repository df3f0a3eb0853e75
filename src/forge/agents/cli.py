"""`forge agents`."""

import click
from rich.console import Console
from rich.text import Text

from forge.agents.models import (
    EVENTS,
    AgentCompacted,
    AgentEnd,
    AgentEnded,
    AgentHeard,
    AgentLimits,
    AgentStarted,
    AgentToolUsed,
    AgentTurn,
    Interjection,
)
from forge.events.models import Event, read_fact
from forge.llm.models import Role, dollars
from forge.runs.models import GateOpened, Run, RunFailed
from forge.runs.run_state import fact_of, follow_run
from forge.runs.run_view import find_run, gate_page, keeps_running, problem_text
from forge.sandbox.models import Level
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import PIPE, read_pipe
from forge.terminal.options import json_option
from forge.terminal.output import FAINT, console, print_result, words
from forge.terminal.text import clean
from forge.workspace.lookup import find_workspace

_LEVELS = {Level.ISOLATED: "isolated", Level.PARTIAL: "partly isolated", Level.NONE: "not isolated"}


@click.group()
def agents() -> None:
    """Give agents tasks in a workspace, watch them, send them messages."""


@agents.command()
@click.argument("task")
@click.option("--workspace", required=True, help="Name or id of the workspace to work in.")
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.BUILDER.value,
    show_default=True,
    help="Use the model of this role.",
)
@click.option("--turns", type=click.IntRange(min=1), help="Stop after this many model responses.")
@click.option("--detach", is_flag=True, help="Start the agent and return without waiting.")
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
        if detach:
            print_result(started, f"Started. Watch it: forge agents watch {started.id}", as_json=as_json)
        else:
            _watch(ctx, client, started.id, as_json=as_json)


@agents.command()
@click.argument("run")
@json_option
@click.pass_context
def watch(ctx: click.Context, run: str, as_json: bool) -> None:
    """Follow an agent until it ends. With --json, print each event as a line."""
    with connect() as client:
        _watch(ctx, client, find_run(client, run), as_json=as_json)


@agents.command()
@click.argument("run")
@click.argument("text")
@api_command
def tell(client: Client, run: str, text: str) -> Result[Interjection]:
    """Send a message to a running agent. It reads it before its next turn."""
    sent = client.post(f"/agents/{find_run(client, run)}/messages", Interjection, {"text": text})
    return Result(sent, "Sent. The agent gets it before its next turn.")


def _watch(ctx: click.Context, client: Client, run_id: str, *, as_json: bool) -> None:
    out, is_done = console(), False
    with keeps_running(f"The agent goes on. Watch it again: forge agents watch {run_id}"):
        for event, _ in follow_run(client, run_id):
            if as_json:
                click.echo(event.json)
            else:
                _print_event(event, out)
            if event.type == AgentEnded.type:
                is_done = AgentEnded.model_validate(event.data).result.end is AgentEnd.DONE
    ctx.exit(0 if is_done else 1)


def _print_event(event: Event, out: Console) -> None:
    match fact := read_fact(event, EVENTS) or fact_of(event):
        case AgentStarted():
            _print_start(fact, out)
        case AgentTurn() if fact.text.strip():
            out.print()
            out.print(words(fact.text.strip()))
            out.print()
        case AgentToolUsed():
            mark = ("✗ ", "red") if fact.is_error else ("✓ ", "green")
            took = (f"  {fact.duration_ms:,} ms", FAINT)
            out.print(Text.assemble(mark, (clean(fact.name), "bold"), f"  {clean(fact.summary)}", took))
        case AgentHeard():
            for message in fact.messages:
                out.print(words(f"▸ heard: {message.text}", "blue"))
        case AgentCompacted():
            before, after = f"{fact.tokens_before:,}", f"{fact.tokens_after:,}"
            out.print(words(f"· compacted the conversation: {before} to {after} tokens", FAINT))
        case AgentEnded(result=result):
            counts = f"{result.turns} turns, {result.tool_calls} tool calls"
            out.print(words(f"{result.end.value} after {counts}, {dollars(result.cost_micros)}", FAINT))
        case GateOpened():
            out.print(gate_page(fact.gate))
        case RunFailed():
            out.print(problem_text(fact.error))
        case _:
            pass


def _print_start(fact: AgentStarted, out: Console) -> None:
    out.print(words(f"{fact.role.value}, commands {_LEVELS[fact.sandbox]}", FAINT))
    for skill in fact.skills:
        problem = f", which cannot be used: {skill.problem}" if skill.problem else ""
        out.print(words(f"· skill {skill.name} in {skill.folder}{problem}", FAINT))
