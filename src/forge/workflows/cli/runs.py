"""`forge workflow trigger`, `retry`, `rerun`, `runs`, `status`, `logs`, `approve`, `reject` and `cancel`."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from forge.runs.models import GateStatus, RunStatus
from forge.runs.run_view import problem_text
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import read_object
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean
from forge.workflows.cli.arguments import (
    declared_inputs,
    find_workflow,
    find_workflow_run,
    read_inputs,
    read_samples,
    run_path,
    workflow_path,
)
from forge.workflows.cli.run_log import going_on, print_history, print_live, wait
from forge.workflows.cli.run_views import dry_run_page, run_page, runs_table, step_page, value_text
from forge.workflows.models import (
    DryRun,
    StepDetail,
    Submitted,
    WorkflowDetail,
    WorkflowRun,
    WorkflowRunDetail,
)

Command = TypeVar("Command", bound=Callable[..., Any])

_WATCHING = (
    click.option("--wait", is_flag=True, help="Wait for the result and print it."),
    click.option("-f", "--follow", is_flag=True, help="Follow the run until it ends."),
)
_GIVEN = (
    click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="Input value. Repeatable."),
    click.option("--payload", metavar="JSON", help="Complete input: JSON, @FILE, or - for standard input."),
)


def watching_options(command: Command) -> Command:
    for option in reversed(_WATCHING):
        command = option(command)
    return command


def given_options(command: Command) -> Command:
    for option in reversed(_GIVEN):
        command = option(command)
    return command


@click.command()
@click.argument("name")
@given_options
@watching_options
@click.option("--dry-run", is_flag=True, help="Show what would happen without doing it.")
@click.option(
    "--sample", "samples", multiple=True, metavar="STEP=JSON", help="Output of a step in the dry run."
)
@json_option
@click.pass_context
def trigger(
    ctx: click.Context,
    name: str,
    inputs: tuple[str, ...],
    payload: str | None,
    samples: tuple[str, ...],
    as_json: bool,
    **how: bool,
) -> None:
    """Start a workflow.

    Returns immediately, or when the run ends with --wait or --follow. Exit code 0: completed, 1: failed or
    cancelled. Ctrl-C stops watching, not the run.
    """
    _check_options(**how)
    if samples and not how["dry_run"]:
        raise click.UsageError("--sample is for a --dry-run.")
    given = read_object(payload, "--payload") if payload is not None else {}
    with connect() as client:
        found = find_workflow(client, name)
        given |= read_inputs(inputs, declared_inputs(found.definition))
        if how["dry_run"]:
            _try(ctx, client, found, {"payload": given, "samples": read_samples(samples)}, as_json=as_json)
            return
        submitted = client.post(f"{workflow_path(found.id)}/trigger", Submitted, given)
        _attend(ctx, client, submitted, as_json=as_json, **how)


@click.command()
@click.argument("run")
@watching_options
@json_option
@click.pass_context
def retry(ctx: click.Context, run: str, as_json: bool, **how: bool) -> None:
    """Continue a failed run from the failed step, as a new run.

    Completed steps are not repeated.
    """
    _check_options(**how)
    with connect() as client:
        submitted = client.post(f"{run_path(find_workflow_run(client, run))}/retry", Submitted)
        _attend(ctx, client, submitted, as_json=as_json, **how)


@click.command()
@click.argument("run")
@given_options
@click.option(
    "--latest", is_flag=True, help="Use the newest version of the workflow instead of the one of the run."
)
@watching_options
@json_option
@click.pass_context
def rerun(
    ctx: click.Context,
    run: str,
    inputs: tuple[str, ...],
    payload: str | None,
    latest: bool,
    as_json: bool,
    **how: bool,
) -> None:
    """Start a run again from the beginning, as a new run.

    Uses the same input; --input changes single inputs, --payload replaces all of them.
    """
    _check_options(**how)
    with connect() as client:
        run_id = find_workflow_run(client, run)
        given = _changed(client, run_id, inputs, payload, latest=latest)
        submitted = client.post(
            f"{run_path(run_id)}/rerun", Submitted, {"payload": given, "use_latest": latest}
        )
        _attend(ctx, client, submitted, as_json=as_json, **how)


def _check_options(**how: bool) -> None:
    if sum(how.values()) > 1:
        names = [f"--{name.replace('_', '-')}" for name in how]
        raise click.UsageError(f"Choose one of {', '.join(names)}.")


def _changed(
    client: Client, run_id: str, inputs: tuple[str, ...], payload: str | None, *, latest: bool
) -> dict[str, Any] | None:
    """What it starts with, when that is not what the run had."""
    if not inputs:
        return None if payload is None else read_object(payload, "--payload")
    before = client.get(run_path(run_id), WorkflowRunDetail)
    definition = before.definition
    if latest:
        definition = client.get(workflow_path(before.workflow_id), WorkflowDetail).definition
    had = before.payload if isinstance(before.payload, dict) else {}
    given = had if payload is None else read_object(payload, "--payload")
    return {**given, **read_inputs(inputs, declared_inputs(definition))}


def _try(
    ctx: click.Context, client: Client, found: WorkflowDetail, request: dict[str, Any], *, as_json: bool
) -> None:
    tried = client.post(f"{workflow_path(found.id)}/dry-run", DryRun, request)
    if as_json:
        print_json(tried)
    else:
        console().print(dry_run_page(tried))
        if tried.error:
            console(stderr=True).print(problem_text(tried.error))
        click.echo("Nothing was done.", err=True)
    ctx.exit(1 if tried.error else 0)


def _attend(ctx: click.Context, client: Client, submitted: Submitted, *, as_json: bool, **how: bool) -> None:
    if how["follow"]:
        _follow(ctx, client, submitted.run_id, as_json=as_json)
    elif how["wait"]:
        _wait(ctx, client, submitted.run_id, as_json=as_json)
    elif as_json:
        print_json(submitted)
    else:
        click.echo(f"Submitted: {submitted.run_id}")
        click.echo(f"Follow it: forge workflow logs {submitted.run_id} -f", err=True)


def _follow(ctx: click.Context, client: Client, run_id: str, *, as_json: bool) -> None:

    with going_on(run_id):
        ended = print_live(client, run_id, as_json=as_json)
    ctx.exit(0 if ended.status is RunStatus.COMPLETED else 1)


def _wait(ctx: click.Context, client: Client, run_id: str, *, as_json: bool) -> None:

    with going_on(run_id):
        wait(client, run_id)
    run = client.get(run_path(run_id), WorkflowRunDetail)
    if as_json:
        print_json(run)
    elif run.status is RunStatus.COMPLETED:
        text = value_text(run.output)
        click.echo(clean(text) if console().is_terminal else text)
    elif run.error:
        console(stderr=True).print(problem_text(run.error))
        click.echo(f"Go on from there: forge workflow retry {run_id}", err=True)
    else:
        click.echo(f"It was {run.status.value}.", err=True)
    ctx.exit(0 if run.status is RunStatus.COMPLETED else 1)


@click.command()
@click.argument("name", required=False)
@limit_option
@api_command
def runs(client: Client, name: str | None, limit: int) -> Result[list[WorkflowRun]]:
    """List runs of one workflow or of all, newest first."""
    path = f"{workflow_path(find_workflow(client, name).id)}/runs" if name else "/workflow-runs"
    found = list(client.pages(path, WorkflowRun, limit))
    return Result(found, runs_table, empty="Nothing was run yet. Start one: forge workflow trigger NAME")


@click.command()
@click.argument("run")
@click.option("--step", metavar="KEY", help="Show the input, output, attempts and log of this step.")
@api_command
def status(client: Client, run: str, step: str | None) -> Result[Any]:
    """Show the steps of a run and their state.

    RUN is an id, an id prefix, or the name of a workflow (its newest run).
    """
    path = run_path(find_workflow_run(client, run))
    if step is not None:
        [found] = client.get(f"{path}/steps", list[StepDetail], {"key": step})
        return Result(found, step_page)
    return Result(client.get(path, WorkflowRunDetail), run_page)


@click.command()
@click.argument("run")
@click.option("-f", "--follow", "following", is_flag=True, help="Follow until the run ends.")
@json_option
@click.pass_context
def logs(ctx: click.Context, run: str, following: bool, as_json: bool) -> None:
    """Print the log of a run.

    Shows its steps, their log lines and the result. RUN is an id, an id prefix, or the name of a workflow (its newest run). Exit code 1 if the run failed or was
    cancelled. With --json, print each event as a line.
    """
    with connect() as client:
        run_id = find_workflow_run(client, run)
        with going_on(run_id):
            state = (print_live if following else print_history)(client, run_id, as_json=as_json)
    ctx.exit(1 if state.status in (RunStatus.FAILED, RunStatus.CANCELLED) else 0)


STEP = click.option("--step", metavar="KEY", help="Step to answer, if several are waiting.")
COMMENT = click.option(
    "--comment", default="", help="Comment that is stored with the answer; steps can use it."
)


@click.command()
@click.argument("run")
@STEP
@COMMENT
@api_command
def approve(client: Client, run: str, step: str | None, comment: str) -> Result[WorkflowRunDetail]:
    """Approve the pending step of a run.

    RUN is an id, an id prefix, or the name of a workflow (its newest run).
    """
    return _decide(client, run, "approve", "Approved", step, comment)


@click.command()
@click.argument("run")
@STEP
@COMMENT
@api_command
def reject(client: Client, run: str, step: str | None, comment: str) -> Result[WorkflowRunDetail]:
    """Reject the pending step of a run.

    The workflow defines the effect; by default, dependent steps are skipped.
    """
    return _decide(client, run, "reject", "Rejected", step, comment)


def _decide(
    client: Client, run: str, verb: str, done: str, step: str | None, comment: str
) -> Result[WorkflowRunDetail]:
    run_id = find_workflow_run(client, run)
    body = {"step": step, "comment": comment}
    decided = client.post(f"{run_path(run_id)}/{verb}", WorkflowRunDetail, body)
    waits = any(gate.status is GateStatus.OPEN for gate in decided.gates)
    note = f"It still waits for you: forge workflow status {run_id}" if waits else ""
    return Result(decided, f"{done}. Follow it: forge workflow logs {run_id} -f", note=note)


@click.command()
@click.argument("run")
@api_command
def cancel(client: Client, run: str) -> Result[WorkflowRunDetail]:
    """Cancel a run and everything it started."""
    run_id = find_workflow_run(client, run)
    cancelled = client.post(f"{run_path(run_id)}/cancel", WorkflowRunDetail)
    return Result(cancelled, f"Cancelled {run_id}.")
