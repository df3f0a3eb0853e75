"""`forge workflow`: the definitions of workflows. The commands of runs are in `runs`."""

import sys
import tempfile
from pathlib import Path
from typing import Any

import click

from forge.bots.lookup import find_bot
from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import PIPE, confirm, read_source, write_file
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json, print_result
from forge.terminal.text import clean
from forge.workflows.cli.arguments import find_workflow, workflow_path
from forge.workflows.cli.runs import approve, cancel, logs, reject, rerun, retry, runs, status, trigger
from forge.workflows.cli.views import (
    place_line,
    templates_table,
    versions_table,
    workflow_page,
    workflows_table,
)
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


@workflow.command("list")
@click.argument("words", nargs=-1)
@click.option("--bot", metavar="SLUG", help="Only workflows of this bot.")
@api_command
def list_workflows(client: Client, words: tuple[str, ...], bot: str | None) -> Result[list[WorkflowCard]]:
    """List workflows with their latest runs.

    With WORDS, only those that match in name or description.
    """
    found = client.get("/workflows", list[WorkflowCard], {"q": " ".join(words) or None, "owner": bot})
    empty = "There are no such workflows. Some to begin with: forge workflow templates"
    return Result(found, workflows_table, empty=empty)


@workflow.command()
@click.argument("name")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the definition as it was written.")
@json_option
def show(name: str, as_yaml: bool, as_json: bool) -> None:
    """Show the triggers, inputs and steps of a workflow."""
    if as_yaml and as_json:
        raise click.UsageError("Choose one of --yaml and --json.")
    with connect() as client:
        found = find_workflow(client, name)
    if as_yaml:
        click.echo(found.source, nl=not found.source.endswith("\n"))
    else:
        print_result(found, workflow_page, as_json=as_json)


@workflow.command()
@click.argument("name")
@api_command
def enable(client: Client, name: str) -> Result[WorkflowDetail]:
    """Enable the triggers of a workflow."""
    return _switch(client, name, is_enabled=True)


@workflow.command()
@click.argument("name")
@api_command
def disable(client: Client, name: str) -> Result[WorkflowDetail]:
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
@click.argument("name")
@api_command
def versions(client: Client, name: str) -> Result[list[WorkflowVersion]]:
    """List the saved versions of a workflow, newest first."""
    path = workflow_path(find_workflow(client, name).id)
    return Result(client.get(f"{path}/versions", list[WorkflowVersion]), versions_table)


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
        click.echo(source, nl=not source.endswith("\n"))
        return
    target = Path(output)
    if target.exists() and not force:
        raise Conflict(f"There is a {target} already.", hint="Write over it with --force.")
    write_file(target, source)
    click.echo(f"Wrote {target}.", err=True)


@workflow.command()
@click.argument("file")
@click.option("--bot", metavar="SLUG", help="Bot that owns the workflow, instead of the one in the file.")
@click.option("--update", is_flag=True, help="Replace the workflow of the same name, if it exists.")
@json_option
def create(file: str, bot: str | None, update: bool, as_json: bool) -> None:
    """Create a workflow from a file.

    FILE is YAML or JSON, - for standard input. Its triggers are enabled immediately. With --update, an existing workflow is replaced.
    """
    source = read_source(file)
    with connect() as client:
        wish, name = _wish(client, source, file, bot)
        before = _find(client, name)
        if before is not None and not update:
            raise Conflict(
                f"There is a workflow {name} already.",
                hint=f"Replace it: forge workflow create {file} --update",
            )
        saved = _save(client, wish, before)
    if as_json:
        print_json(saved)
        return
    _print_places(saved.warnings, file, err=True)
    done = "Made" if before is None else "Saved" if saved.number != before.number else "Nothing to change in"
    start = f"Start it: forge workflow trigger {saved.name}"
    click.echo(clean(f"{done} {saved.name}, number {saved.number}. {start}"))


@workflow.command()
@click.argument("file")
@json_option
@click.pass_context
def validate(ctx: click.Context, file: str, as_json: bool) -> None:
    """Validate a definition and show the line of each problem.

    FILE is YAML or JSON, - for standard input. Nothing is saved. Exit code 1 if the definition is not valid.
    """
    source = read_source(file)
    with connect() as client:
        found = _read(client, source)
    if as_json:
        print_json(found)
    else:
        _print_places(found.problems, file, err=False)
        verdict = "is a workflow." if found.is_usable else "is not a valid workflow."
        click.echo(f"{_name(file)} {verdict}", err=not found.is_usable)
    ctx.exit(0 if found.is_usable else 1)


@workflow.command()
@click.argument("name")
@json_option
def edit(name: str, as_json: bool) -> None:
    """Open the definition of a workflow in $EDITOR.

    Active runs keep the version they were started with.
    """
    with connect() as client:
        found = find_workflow(client, name)
        written = _edit(client, found)
        if written is None or written == found.source:
            click.echo("Nothing was changed.", err=True)
            return
        try:
            wish = {"source": written, "expected_number": found.number}
            saved = client.put(workflow_path(found.id), WorkflowDetail, wish)
        except ForgeError:
            _keep(found.name, written)
            raise
    if as_json:
        print_json(saved)
        return
    _print_places(saved.warnings, "", err=True)
    click.echo(f"Saved {clean(saved.name)}, number {saved.number}.")


@workflow.command()
@click.argument("template", required=False)
@json_option
def templates(template: str | None, as_json: bool) -> None:
    """List workflow templates, or print one.

    For example: forge workflow templates NAME > my.yaml
    """
    with connect() as client:
        found = client.get("/workflows/templates", list[WorkflowTemplate])
    if template is not None:
        one = next((one for one in found if one.id == template), None)
        if one is None:
            raise NotFound(
                f"There is no template {template!r}.",
                hint=f"There are: {', '.join(one.id for one in found)}.",
            )
        print_json(one) if as_json else click.echo(one.source, nl=not one.source.endswith("\n"))
    else:
        print_result(found, templates_table, as_json=as_json)


@workflow.command()
def schema() -> None:
    """Print the JSON Schema of workflow definitions, for editors."""
    with connect() as client:
        print_json(client.get("/workflows/schema", dict[str, Any]))


def _read(client: Client, source: str) -> Reading:
    return client.post("/workflows/read", Reading, {"source": source})


def _wish(client: Client, source: str, file: str, bot: str | None) -> tuple[dict[str, Any], str]:
    """Return what to save, and its name."""
    found = _read(client, source)
    if not found.is_usable or found.definition is None:
        _print_places(found.problems, file, err=True)
        raise Invalid(f"{_name(file)} is not a valid workflow.")
    wish: dict[str, Any] = {"source": source}
    if bot is not None:
        owner = {"type": "bot", "slug": find_bot(client, bot).slug}
        wish["definition"] = found.definition | {"owner": owner}
    return wish, str(found.definition["name"])


def _find(client: Client, name: str) -> WorkflowDetail | None:
    try:
        return client.get(workflow_path(name), WorkflowDetail)
    except NotFound:
        return None


def _save(client: Client, wish: dict[str, Any], before: WorkflowDetail | None) -> WorkflowDetail:
    if before is None:
        return client.post("/workflows", WorkflowDetail, wish)
    if wish == {"source": before.source}:
        return before
    return client.put(workflow_path(before.id), WorkflowDetail, wish | {"expected_number": before.number})


def _edit(client: Client, found: WorkflowDetail) -> str | None:
    """Open the editor until the text is a valid workflow or the user gives up."""
    text = found.source
    while True:
        written = click.edit(text, extension=".yaml")
        if written is None or written == text:
            return written if text is found.source else _give_up(found.name, text)
        reading = _read(client, written)
        if reading.is_usable:
            return written
        _print_places(reading.problems, "", err=True)
        if not (sys.stdin.isatty() and click.confirm("Edit again?", default=True, err=True)):
            return _give_up(found.name, written)
        text = written


def _give_up(name: str, written: str) -> str:
    _keep(name, written)
    raise Invalid("It is not a valid workflow; nothing was saved.")


def _keep(name: str, written: str) -> None:
    """Keep the text in a temporary file, since it could not be saved."""
    with tempfile.NamedTemporaryFile(
        "w", prefix=f"{name}-", suffix=".yaml", delete=False, encoding="utf-8"
    ) as kept:
        kept.write(written)
    click.echo(f"What you wrote is in {kept.name}.", err=True)


def _name(file: str) -> str:
    return "Standard input" if file == PIPE else clean(file)


def _print_places(places: list[Place], file: str, *, err: bool) -> None:
    if not places:
        return
    out = console(stderr=err)
    for place in places:
        out.print(place_line(place, "" if file == PIPE else file))


for command in (*(trigger, runs, status, logs, approve, reject, cancel, retry, rerun),):
    workflow.add_command(command)
