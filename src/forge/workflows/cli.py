"""`forge workflow`: what workflows there are, and what can be done with one of them."""

from pathlib import Path

import click

from forge.errors import Conflict
from forge.terminal.asking import be_sure
from forge.terminal.client import connect
from forge.terminal.given import PIPE, write_file
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean
from forge.workflows.choice import find_workflow, workflow_path
from forge.workflows.deciding_cli import approve, cancel, reject
from forge.workflows.models import WorkflowCard, WorkflowDetail, WorkflowVersion, WorkflowVersionDetail
from forge.workflows.running_cli import rerun, retry, trigger
from forge.workflows.runs_cli import logs, runs, status
from forge.workflows.writing_cli import create, edit, schema, templates, validate


@click.group()
def workflow() -> None:
    """Chain bots, skills, code and requests; start, watch and steer their runs."""


@workflow.command("list")
@click.argument("words", nargs=-1)
@click.option("--bot", metavar="SLUG", help="Only those of this bot.")
@json_option
def list_workflows(words: tuple[str, ...], bot: str | None, as_json: bool) -> None:
    """List workflows with their last runs, the newest last.

    All, or those with WORDS in the name or description.
    """
    with connect() as client:
        found = client.get("/workflows", list[WorkflowCard], {"q": " ".join(words) or None, "owner": bot})
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no such workflows. Some to begin with: forge workflow templates", err=True)
    else:
        from forge.workflows.show import workflows_table

        console().print(workflows_table(found))


@workflow.command()
@click.argument("name")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print its definition instead, as it was written.")
@json_option
def show(name: str, as_yaml: bool, as_json: bool) -> None:
    """Show a workflow: what starts it, its inputs, its steps."""
    if as_yaml and as_json:
        raise click.UsageError("Choose one of --yaml and --json.")
    with connect() as client:
        found = find_workflow(client, name)
    if as_json:
        print_json(found)
    elif as_yaml:
        click.echo(found.source, nl=not found.source.endswith("\n"))
    else:
        _print_page(found)


@workflow.command()
@click.argument("name")
@json_option
def enable(name: str, as_json: bool) -> None:
    """Let its triggers start a workflow again."""
    _switch(name, is_enabled=True, as_json=as_json)


@workflow.command()
@click.argument("name")
@json_option
def disable(name: str, as_json: bool) -> None:
    """Let nothing but a person start a workflow for now."""
    _switch(name, is_enabled=False, as_json=as_json)


@workflow.command()
@click.argument("name")
@yes_option
def delete(name: str, yes: bool) -> None:
    """Delete a workflow with its triggers.

    What runs is cancelled; what ran can still be looked at.
    """
    with connect() as client:
        found = find_workflow(client, name)
        if not yes:
            be_sure(f"Delete {clean(found.name)}?")
        client.drop(workflow_path(found.id))
    click.echo(f"Deleted {clean(found.name)}.")


@workflow.command()
@click.argument("name")
@json_option
def versions(name: str, as_json: bool) -> None:
    """List all that was ever saved of a workflow, the newest first."""
    with connect() as client:
        path = workflow_path(find_workflow(client, name).id)
        found = client.get(f"{path}/versions", list[WorkflowVersion])
    if as_json:
        print_json(found)
        return
    from forge.workflows.show import versions_table

    console().print(versions_table(found))


@workflow.command()
@click.argument("name")
@click.option("-o", "--output", metavar="FILE", help="Write it here instead of printing it.")
@click.option(
    "--number", type=click.IntRange(min=1), help="As it was saved then; forge workflow versions NAME."
)
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def export(name: str, output: str | None, number: int | None, force: bool) -> None:
    """Print the definition of a workflow as YAML.

    Comments included; forge workflow create takes it, here or elsewhere.
    """
    with connect() as client:
        found = find_workflow(client, name)
        source = found.source
        if number is not None:
            path = f"{workflow_path(found.id)}/versions/{number}"
            source = client.get(path, WorkflowVersionDetail).source
    if output in (None, PIPE):
        click.echo(source, nl=not source.endswith("\n"))
        return
    target = Path(output)
    if target.exists() and not force:
        raise Conflict(f"There is a {target} already.", hint="Write over it with --force.")
    write_file(target, source)
    click.echo(f"Wrote {target}.", err=True)


def _switch(name: str, *, is_enabled: bool, as_json: bool) -> None:
    with connect() as client:
        path = workflow_path(find_workflow(client, name).id)
        changed = client.patch(path, WorkflowDetail, {"is_enabled": is_enabled})
    if as_json:
        print_json(changed)
    else:
        click.echo(f"{'Enabled' if is_enabled else 'Disabled'} {clean(changed.name)}.")


def _print_page(found: WorkflowDetail) -> None:
    from forge.workflows.show import workflow_page

    console().print(workflow_page(found))


for command in (
    *(create, validate, edit, templates, schema),
    *(trigger, runs, status, logs, approve, reject, cancel, retry, rerun),
):
    workflow.add_command(command)
