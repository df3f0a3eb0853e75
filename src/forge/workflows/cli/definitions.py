"""`forge workflow`: commands for definitions. The commands for runs are in `runs`."""

import sys
from pathlib import Path
from typing import Any

import click

from forge.bots.lookup import find_bot
from forge.errors import Conflict, Invalid, NotFound
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import PIPE, confirm, keep_on_error, read_source, write_file
from forge.terminal.options import yes_option
from forge.terminal.output import console, print_json, print_output
from forge.terminal.text import clean
from forge.workflows.cli import views
from forge.workflows.cli.arguments import find_workflow, workflow_path
from forge.workflows.cli.runs import approve, cancel, logs, reject, rerun, retry, runs, status, trigger
from forge.workflows.definition.models import Place
from forge.workflows.models import (
    Reading,
    WorkflowCard,
    WorkflowDetail,
    WorkflowVersion,
    WorkflowVersionDetail,
)
from forge.workflows.starter_templates import WorkflowTemplate


@click.group()
def workflow() -> None:
    """Create, run and watch workflows of bots, skills, code and requests."""


for command in (trigger, runs, status, logs, approve, reject, cancel, retry, rerun):
    workflow.add_command(command)


@workflow.command("list")
@click.option("--bot", metavar="SLUG", help="Only workflows of this bot.")
@api_command
def list_workflows(client: Client, /, *words: str, bot: str | None) -> Result[list[WorkflowCard]]:
    """List workflows with their latest runs.

    With WORDS, only those that match in name or description.
    """
    found = client.get("/workflows", list[WorkflowCard], {"q": " ".join(words) or None, "owner": bot})
    empty = "No workflows found. List templates for new ones with: forge workflow templates"
    return Result(found, views.workflows_table, empty=empty)


@workflow.command()
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the definition as it was written.")
@api_command
def show(client: Client, name: str, /, as_yaml: bool, as_json: bool) -> Result[WorkflowDetail] | int:
    """Show the triggers, inputs and steps of a workflow."""
    if as_yaml and as_json:
        raise click.UsageError("Choose one of --yaml and --json.")
    found = find_workflow(client, name)
    return print_output(found.source) if as_yaml else Result(found, views.workflow_page)


@workflow.command()
@api_command
def enable(client: Client, name: str, /) -> Result[WorkflowDetail]:
    """Enable the triggers of a workflow."""
    return _switch(client, name, is_enabled=True)


@workflow.command()
@api_command
def disable(client: Client, name: str, /) -> Result[WorkflowDetail]:
    """Disable the triggers of a workflow. It can still be started manually."""
    return _switch(client, name, is_enabled=False)


def _switch(client: Client, name: str, *, is_enabled: bool) -> Result[WorkflowDetail]:
    path = workflow_path(find_workflow(client, name).id)
    changed = client.patch(path, WorkflowDetail, {"is_enabled": is_enabled})
    return Result(changed, f"{'Enabled' if is_enabled else 'Disabled'} {changed.name}.")


@workflow.command()
@click.argument("name")
@yes_option
def delete(name: str, yes: bool) -> None:
    """Delete a workflow and its triggers.

    Active runs are cancelled; finished runs can still be viewed.
    """
    with connect() as client:
        found = find_workflow(client, name)
        confirm(f"Delete {clean(found.name)}?", yes=yes)
        client.drop(workflow_path(found.id))
    click.echo(f"Deleted {clean(found.name)}.")


@workflow.command()
@api_command
def versions(client: Client, name: str, /) -> Result[list[WorkflowVersion]]:
    """List the saved versions of a workflow, newest first."""
    path = workflow_path(find_workflow(client, name).id)
    return Result(client.get(f"{path}/versions", list[WorkflowVersion]), views.versions_table)


@workflow.command()
@click.argument("name")
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of standard output.")
@click.option(
    "--number", type=click.IntRange(min=1), help="Export this version; see forge workflow versions NAME."
)
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def export(name: str, output: str | None, number: int | None, force: bool) -> None:
    """Export the definition of a workflow as YAML.

    Comments are kept. Import it with forge workflow create.
    """
    with connect() as client:
        found = find_workflow(client, name)
        source = found.source
        if number is not None:
            path = f"{workflow_path(found.id)}/versions/{number}"
            source = client.get(path, WorkflowVersionDetail).source
    if output in (None, PIPE):
        print_output(source)
    elif Path(output).exists() and not force:
        raise Conflict(f"{output} already exists.", hint="Overwrite it with --force.")
    else:
        write_file(Path(output), source)


@workflow.command()
@click.option("--bot", metavar="SLUG", help="Bot that owns the workflow, instead of the one in the file.")
@click.option("--update", is_flag=True, help="Replace the workflow of the same name, if it exists.")
@api_command
def create(
    client: Client, file: str, /, bot: str | None, update: bool, as_json: bool
) -> Result[WorkflowDetail]:
    """Create a workflow from a file.

    FILE is YAML or JSON, - for standard input. Its triggers are enabled immediately. With --update, an existing workflow is replaced.
    """
    body, name = _request_body(client, read_source(file), file, bot)
    before = _find(client, name)
    if before is not None and not update:
        raise Conflict(
            f"A workflow named {name} already exists.",
            hint=f"Replace it with: forge workflow create {file} --update",
        )
    saved = _save(client, body, before)
    if not as_json:
        _print_places(saved.warnings, file)
    is_unchanged = before is not None and saved.number == before.number
    done = "Created" if before is None else "No changes to" if is_unchanged else "Saved"
    start = f"Start it with: forge workflow trigger {saved.name}"
    return Result(saved, f"{done} {saved.name} (version {saved.number}). {start}")


@workflow.command()
@api_command
def validate(client: Client, file: str, /, as_json: bool) -> Result[Reading]:
    """Validate a definition and show the line of each problem.

    FILE is YAML or JSON, - for standard input. Nothing is saved. Exit code 1 if the definition is not valid.
    """
    found = _read(client, read_source(file))
    if not as_json:
        _print_places(found.problems, file, err=False)
    if found.is_usable:
        return Result(found, f"{_name(file)} is a valid workflow.")
    return Result(found, "", note=f"{_name(file)} is not a valid workflow.", exit_code=1)


@workflow.command()
@api_command
def edit(client: Client, name: str, /, as_json: bool) -> Result[WorkflowDetail] | int:
    """Open the definition of a workflow in $EDITOR.

    Active runs keep the version they were started with.
    """
    found = find_workflow(client, name)
    written = _edit(client, found)
    if written is None or written == found.source:
        click.echo("No changes.", err=True)
        return 0
    with keep_on_error(written, f"{found.name}.yaml"):
        body = {"source": written, "expected_number": found.number}
        saved = client.put(workflow_path(found.id), WorkflowDetail, body)
    if not as_json:
        _print_places(saved.warnings, "")
    return Result(saved, f"Saved {saved.name} (version {saved.number}).")


@workflow.command()
@api_command
def templates(client: Client, template: str | None = None, /, *, as_json: bool) -> Result[Any] | int:
    """List workflow templates, or print one.

    For example: forge workflow templates NAME > my.yaml
    """
    found = client.get("/workflows/templates", list[WorkflowTemplate])
    if template is None:
        return Result(found, views.templates_table)
    one = next((one for one in found if one.id == template), None)
    if one is None:
        hint = f"Templates: {', '.join(one.id for one in found)}."
        raise NotFound(f"There is no template {template!r}.", hint=hint)
    return Result(one, "") if as_json else print_output(one.source)


@workflow.command()
def schema() -> None:
    """Print the JSON Schema of workflow definitions, for editors."""
    with connect() as client:
        print_json(client.get("/workflows/schema", dict[str, Any]))


def _read(client: Client, source: str) -> Reading:
    return client.post("/workflows/read", Reading, {"source": source})


def _request_body(client: Client, source: str, file: str, bot: str | None) -> tuple[dict[str, Any], str]:
    """Validate the definition and return the request that saves it, and the name of the workflow."""
    found = _read(client, source)
    if not found.is_usable or found.definition is None:
        _print_places(found.problems, file)
        raise Invalid(f"{_name(file)} is not a valid workflow.")
    body: dict[str, Any] = {"source": source}
    if bot is not None:
        owner = {"type": "bot", "slug": find_bot(client, bot).slug}
        body["definition"] = found.definition | {"owner": owner}
    return body, str(found.definition["name"])


def _find(client: Client, name: str) -> WorkflowDetail | None:
    try:
        return client.get(workflow_path(name), WorkflowDetail)
    except NotFound:
        return None


def _save(client: Client, body: dict[str, Any], before: WorkflowDetail | None) -> WorkflowDetail:
    if before is None:
        return client.post("/workflows", WorkflowDetail, body)
    if body == {"source": before.source}:
        return before
    return client.put(workflow_path(before.id), WorkflowDetail, body | {"expected_number": before.number})


def _edit(client: Client, found: WorkflowDetail) -> str | None:
    """Open the editor until the text is a valid workflow or the user gives up."""
    text = found.source
    while True:
        written = click.edit(text, extension=".yaml")
        if written is None or written == text:
            if text is found.source:
                return None
            break
        reading = _read(client, written)
        if reading.is_usable:
            return written
        _print_places(reading.problems, "")
        text = written
        if not (sys.stdin.isatty() and click.confirm("Edit again?", default=True, err=True)):
            break
    with keep_on_error(text, f"{found.name}.yaml"):
        raise Invalid("The definition is not valid; nothing was saved.")


def _name(file: str) -> str:
    return "Standard input" if file == PIPE else clean(file)


def _print_places(places: list[Place], file: str, *, err: bool = True) -> None:
    for place in places:
        console(stderr=err).print(views.place_line(place, "" if file == PIPE else file))
