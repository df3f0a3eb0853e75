"""`forge agents`."""

import click
from rich.console import RenderableType
from rich.text import Text

from forge.agents.models import (
    EVENTS,
    AgentCompacted,
    AgentEnd,
    AgentEnded,
    AgentHeard,
    AgentLimits,
    AgentReminded,
    AgentResult,
    AgentStarted,
    AgentToolUsed,
    AgentTurn,
    AgentVerified,
    Interjection,
    VerifyCommands,
)
from forge.events.models import Event, read_fact
from forge.llm.models import Role, dollars
from forge.runs.models import GateOpened, Problem, Run, RunFailed, StepFinished
from forge.runs.run_state import RunState, fact_of
from forge.runs.run_view import find_run, gate_page, problem_text, watch
from forge.sandbox.models import Level
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import PIPE, read_pipe
from forge.terminal.options import one_of
from forge.terminal.output import FAINT, console, words
from forge.terminal.text import clean
from forge.workspace.lookup import find_workspace

AUTO = "auto"
_LEVELS = {Level.ISOLATED: "isolated", Level.PARTIAL: "partly isolated", Level.NONE: "not isolated"}


@click.group()
def agents() -> None:
    """Give agents tasks in a workspace, watch them, send them messages."""


@agents.command()
@click.option("--workspace", required=True, help="Name or id of the workspace to work in.")
@click.option(
    "--role",
    type=one_of(Role),
    default=Role.BUILDER.value,
    show_default=True,
    help="Use the model of this role.",
)
@click.option("--turns", type=click.IntRange(min=1), help="Stop after this many model responses.")
@click.option(
    "--verify",
    metavar="COMMAND",
    help="Test command that Forge runs itself when the agent says that it is done; `auto` looks for one.",
)
@click.option("--detach", is_flag=True, help="Start the agent and return without waiting.")
@api_command
def run(  # noqa: PLR0913
    client: Client,
    task: str,
    /,
    workspace: str,
    role: str,
    turns: int | None,
    verify: str | None,
    detach: bool,
    as_json: bool,
) -> Result[Run] | int:
    """Give an agent a TASK. `-` reads it from standard input.

    Exit code 0 if the agent is done, 1 if not: it is unfinished or unverified, reached a limit, or failed. Ctrl-C stops
    watching; the agent keeps running.
    """
    workspace_id = find_workspace(client, workspace)
    limits = AgentLimits(turns=turns) if turns else AgentLimits()
    body = {
        "workspace_id": workspace_id,
        "task": read_pipe() if task == PIPE else task,
        "role": role,
        "limits": limits.model_dump(),
        "verify": _find_tests(client, workspace_id) if verify == AUTO else verify,
    }
    started = client.post("/agents", Run, body)
    if detach:
        return Result(started, f"Started. Watch it: forge agents watch {started.id}")
    return _watch(client, started.id, as_json=as_json)


@agents.command("watch")
@api_command
def watch_agent(client: Client, run: str, /, as_json: bool) -> int:
    """Follow an agent until it ends. With --json, print one event per line."""
    return _watch(client, find_run(client, run), as_json=as_json)


@agents.command()
@api_command
def tell(client: Client, run: str, text: str, /) -> Result[Interjection]:
    """Send a message to a running agent, which reads it before its next turn."""
    sent = client.post(f"/agents/{find_run(client, run)}/messages", Interjection, {"text": text})
    return Result(sent, "Sent. The agent reads it before its next turn.")


def _find_tests(client: Client, workspace_id: str) -> str:
    found = client.get("/agents/verify-commands", VerifyCommands, {"workspace_id": workspace_id}).commands
    if not found:
        raise click.UsageError(
            "This workspace has no tests that Forge recognizes. Pass a command to --verify."
        )
    click.echo(f"Verifying with: {found[0]}", err=True)
    return found[0]


def _watch(client: Client, run_id: str, *, as_json: bool) -> int:
    state = watch(client, run_id, _print_event, f"agents watch {run_id}", as_json=as_json)
    ends = (read_fact(event, (AgentEnded,)) for event in state.events)
    return 0 if any(isinstance(one, AgentEnded) and one.result.end is AgentEnd.DONE for one in ends) else 1


def _print_event(event: Event, _: RunState) -> None:
    fact = read_fact(event, EVENTS) or fact_of(event)
    if isinstance(fact, GateOpened):
        console().print(gate_page(fact.gate))
    elif isinstance(fact, AgentEnded):
        _print_end(fact.result)
    elif (line := _line(fact)) is not None:
        console().print(line)


def _line(fact: object) -> RenderableType | None:
    """Return the line for an event, if it has one."""
    match fact:
        case AgentStarted():
            return _start_text(fact)
        case AgentTurn() if fact.text.strip():
            return words(f"\n{fact.text.strip()}\n")
        case AgentToolUsed():
            took = (f"  {fact.duration_ms:,} ms", FAINT)
            name = (clean(fact.name), "bold")
            return Text.assemble(_mark(not fact.is_error), name, f"  {clean(fact.summary)}", took)
        case AgentReminded():
            return words(f"▸ Forge: {fact.text}", "yellow")
        case AgentVerified(verification=found):
            summary = f"  {clean(found.command)}: {clean(found.summary)}"
            return Text.assemble(_mark(found.passed), ("verified by Forge", "bold"), summary)
        case StepFinished(error=Problem(message=message), retry_in_s=float(delay_s)):
            return words(f"· {message} Retrying in {delay_s:.0f} s (attempt {fact.attempt + 1}).", "yellow")
        case AgentHeard():
            return words("\n".join(f"▸ received: {message.text}" for message in fact.messages), "blue")
        case AgentCompacted():
            counts = f"{fact.tokens_before:,} to {fact.tokens_after:,} tokens"
            return words(f"· compacted the conversation: {counts}", FAINT)
        case RunFailed():
            return problem_text(fact.error)
        case _:
            return None


def _mark(is_good: bool) -> tuple[str, str]:
    return ("✓ ", "green") if is_good else ("✗ ", "red")


def _print_end(result: AgentResult) -> None:
    if result.verified is not None:
        console().print(words(f"\n{result.text.strip()}\n"))
    counts = f"{result.turns} turns, {result.tool_calls} tool calls"
    color = FAINT if result.end is AgentEnd.DONE else "yellow"
    console().print(words(f"{result.end.value} after {counts}, {dollars(result.cost_micros)}", color))


def _start_text(fact: AgentStarted) -> Text:
    lines = [f"{fact.role.value}, commands {_LEVELS[fact.sandbox]}"]
    for skill in fact.skills:
        problem = f" (unusable: {skill.problem})" if skill.problem else ""
        lines.append(f"· skill {skill.name} in {skill.folder}{problem}")
    return words("\n".join(lines), FAINT)
