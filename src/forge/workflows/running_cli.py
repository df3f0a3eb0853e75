"""`forge workflow trigger`, `retry` and `rerun`: what starts a run."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from forge.runs.models import RunStatus
from forge.terminal.client import Client, connect
from forge.terminal.given import read_object
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean
from forge.workflows.choice import find_workflow, find_workflow_run, run_path, workflow_path
from forge.workflows.command_words import declared_inputs, read_inputs, read_samples
from forge.workflows.models import DryRun, Submitted, WorkflowDetail, WorkflowRunDetail

Command = TypeVar("Command", bound=Callable[..., Any])

_WATCHING = (
    click.option("--wait", is_flag=True, help="Wait for its end and print what it gives."),
    click.option("-f", "--follow", is_flag=True, help="Tell what happens until its end."),
)
_GIVEN = (
    click.option(
        "--input", "inputs", multiple=True, metavar="NAME=VALUE", help="An input; may be given several times."
    ),
    click.option(
        "--payload", metavar="JSON", help="All of what it starts with: JSON, @FILE, or - for a pipe."
    ),
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
@click.option("--dry-run", is_flag=True, help="Only say what would happen; nothing is done.")
@click.option(
    "--sample", "samples", multiple=True, metavar="STEP=JSON", help="What a step gives in a dry run."
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

    Answers at once, or at its end with --wait or --follow: exit code 0 when it completed, 1 when it failed or
    was cancelled. Ctrl-C stops watching only.
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
    """Go on from where a run failed, as a new run.

    What was completed is kept and not done again.
    """
    _check_options(**how)
    with connect() as client:
        submitted = client.post(f"{run_path(find_workflow_run(client, run))}/retry", Submitted)
        _attend(ctx, client, submitted, as_json=as_json, **how)


@click.command()
@click.argument("run")
@given_options
@click.option("--latest", is_flag=True, help="With the newest version of the workflow, not the one it had.")
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
    """Run the same again from the beginning, as a new run.

    With what it was started with; --input changes single inputs, --payload all of it.
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
    ctx: click.Context, client: Client, found: WorkflowDetail, wish: dict[str, Any], *, as_json: bool
) -> None:
    tried = client.post(f"{workflow_path(found.id)}/dry-run", DryRun, wish)
    if as_json:
        print_json(tried)
    else:
        from forge.runs.show import problem_text
        from forge.workflows.show_runs import dry_run_page

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
    from forge.workflows.watch import follow, going_on

    with going_on(run_id):
        ended = follow(client, run_id, as_json=as_json)
    ctx.exit(0 if ended.status is RunStatus.COMPLETED else 1)


def _wait(ctx: click.Context, client: Client, run_id: str, *, as_json: bool) -> None:
    from forge.runs.show import problem_text
    from forge.workflows.show_runs import value_text
    from forge.workflows.watch import going_on, wait

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
