"""`forge runs`."""

import click

from forge.runs.choice import find_run
from forge.runs.models import Run, RunDetail, RunStatus
from forge.runs.show import run_page, runs_table
from forge.runs.watch import watch
from forge.terminal.client import Client, connect
from forge.terminal.given import read_object
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import console, dot, print_json
from forge.terminal.text import clean

TELLERS = {"workflow": "forge workflow logs -f", "agent": "forge agents watch"}
"""Commands that know more of runs of a kind than how they stand."""


@click.group()
def runs() -> None:
    """List, start, watch and cancel runs."""


@runs.command("list")
@click.option(
    "--status",
    "statuses",
    multiple=True,
    type=click.Choice([status.value for status in RunStatus]),
    help="Only these; may be given several times.",
)
@click.option("--kind", help="Only this kind.")
@limit_option
@json_option
def list_runs(statuses: tuple[str, ...], kind: str | None, limit: int, as_json: bool) -> None:
    """List runs, newest first."""
    with connect() as client:
        found = list(client.pages("/runs", Run, limit, {"status": list(statuses), "kind": kind}))
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no such runs. Start one: forge runs start self_test --watch", err=True)
    else:
        console().print(runs_table(found))


@runs.command()
@click.argument("run")
@json_option
def show(run: str, as_json: bool) -> None:
    """Show a run with its steps, children and questions."""
    with connect() as client:
        detail = client.get(f"/runs/{find_run(client, run)}", RunDetail)
    if as_json:
        print_json(detail)
    else:
        console().print(run_page(detail))


@runs.command("watch")
@click.argument("run")
@json_option
@click.pass_context
def watch_run(ctx: click.Context, run: str, as_json: bool) -> None:
    """Follow a run until it ends. Exit code 0 when it completed, 1 when it failed or was cancelled.

    Ctrl-C stops watching; the run goes on. With --json every event is printed as a line.
    """
    with connect() as client:
        found = client.get(f"/runs/{find_run(client, run)}", RunDetail).run
        if found.kind in TELLERS and not as_json:
            click.echo(f"Its steps, as they happen: {TELLERS[found.kind]} {found.id}", err=True)
        _watch(ctx, client, found.id, as_json=as_json)


@runs.command()
@click.argument("run")
@json_option
def cancel(run: str, as_json: bool) -> None:
    """Stop a run and everything below it."""
    with connect() as client:
        cancelled = client.post(f"/runs/{find_run(client, run)}/cancel", Run)
    _print_run(cancelled, as_json=as_json)


@runs.command()
@click.argument("kind")
@click.option(
    "--input",
    "given",
    default="{}",
    show_default=True,
    help="What the run starts with: a JSON object, @FILE, or - for standard input.",
)
@click.option("--watch", "watching", is_flag=True, help="Follow it until it ends.")
@json_option
@click.pass_context
def start(ctx: click.Context, kind: str, given: str, watching: bool, as_json: bool) -> None:
    """Start a run of KIND."""
    body = {"kind": kind, "input": read_object(given, "--input")}
    with connect() as client:
        run = client.post("/runs", Run, body)
        if watching:
            _watch(ctx, client, run.id, as_json=as_json)
        else:
            _print_run(run, as_json=as_json)


def _watch(ctx: click.Context, client: Client, run_id: str, *, as_json: bool) -> None:
    try:
        status = watch(client, run_id, as_json=as_json)
    except KeyboardInterrupt as error:
        click.echo(f"\nThe run goes on. Watch it again: forge runs watch {run_id}", err=True)
        raise click.Abort from error
    ctx.exit(0 if status is RunStatus.COMPLETED else 1)


def _print_run(run: Run, *, as_json: bool) -> None:
    if as_json:
        print_json(run)
    else:
        console().print(dot(run.status), clean(run.title), run.id)
