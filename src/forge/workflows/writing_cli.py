"""`forge workflow create`, `validate`, `edit`, `templates` and `schema`: definitions as files."""

import sys
import tempfile
from typing import Any

import click

from forge.bots.choice import find_bot
from forge.errors import Conflict, ForgeError, Invalid, NotFound
from forge.terminal.client import Client, connect
from forge.terminal.given import PIPE, read_source
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean
from forge.workflows.choice import find_workflow, workflow_path
from forge.workflows.definition.place import Place
from forge.workflows.models import Reading, WorkflowDetail
from forge.workflows.templates import WorkflowTemplate


@click.command()
@click.argument("file")
@click.option("--bot", metavar="SLUG", help="Whose it is, instead of what the file says.")
@click.option("--update", is_flag=True, help="Replace the workflow of that name, if there is one.")
@json_option
def create(file: str, bot: str | None, update: bool, as_json: bool) -> None:
    """Make a workflow from a file.

    FILE is YAML or JSON, - for standard input. Its triggers are live at once. With --update the same command may be given again and again.
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
    _tell_places(saved.warnings, file, err=True)
    done = "Made" if before is None else "Saved" if saved.number != before.number else "Nothing to change in"
    start = f"Start it: forge workflow trigger {saved.name}"
    click.echo(clean(f"{done} {saved.name}, number {saved.number}. {start}"))


@click.command()
@click.argument("file")
@json_option
@click.pass_context
def validate(ctx: click.Context, file: str, as_json: bool) -> None:
    """Say what is wrong with a definition, and where.

    FILE is YAML or JSON, - for standard input. Nothing is saved. Exits with 1 when it is no workflow.
    """
    source = read_source(file)
    with connect() as client:
        found = _read(client, source)
    if as_json:
        print_json(found)
    else:
        _tell_places(found.problems, file, err=False)
        told = "is a workflow." if found.is_usable else "is no workflow as it is."
        click.echo(f"{_name(file)} {told}", err=not found.is_usable)
    ctx.exit(0 if found.is_usable else 1)


@click.command()
@click.argument("name")
@json_option
def edit(name: str, as_json: bool) -> None:
    """Open the definition of a workflow in $EDITOR.

    Runs under way keep the one they were started with.
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
    _tell_places(saved.warnings, "", err=True)
    click.echo(f"Saved {clean(saved.name)}, number {saved.number}.")


@click.command()
@click.argument("template", required=False)
@json_option
def templates(template: str | None, as_json: bool) -> None:
    """List workflows to begin with, or print one.

    Such as: forge workflow templates NAME > my.yaml
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
    elif as_json:
        print_json(found)
    else:
        from forge.workflows.show import templates_table

        console().print(templates_table(found))


@click.command()
def schema() -> None:
    """Print the JSON Schema of definitions, for editors."""
    with connect() as client:
        print_json(client.get("/workflows/schema", dict[str, Any]))


def _read(client: Client, source: str) -> Reading:
    return client.post("/workflows/read", Reading, {"source": source})


def _wish(client: Client, source: str, file: str, bot: str | None) -> tuple[dict[str, Any], str]:
    """What is to be saved, and under which name."""
    found = _read(client, source)
    if not found.is_usable or found.definition is None:
        _tell_places(found.problems, file, err=True)
        raise Invalid(f"{_name(file)} is no workflow as it is.")
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
    """What somebody wrote, once it is a workflow; while it is none, they may go on."""
    text = found.source
    while True:
        written = click.edit(text, extension=".yaml")
        if written is None or written == text:
            return written if text is found.source else _give_up(found.name, text)
        reading = _read(client, written)
        if reading.is_usable:
            return written
        _tell_places(reading.problems, "", err=True)
        if not (sys.stdin.isatty() and click.confirm("Edit again?", default=True, err=True)):
            return _give_up(found.name, written)
        text = written


def _give_up(name: str, written: str) -> str:
    _keep(name, written)
    raise Invalid("It is no workflow as it is; nothing was saved.")


def _keep(name: str, written: str) -> None:
    """What somebody wrote is not lost because it cannot be saved."""
    with tempfile.NamedTemporaryFile(
        "w", prefix=f"{name}-", suffix=".yaml", delete=False, encoding="utf-8"
    ) as kept:
        kept.write(written)
    click.echo(f"What you wrote is in {kept.name}.", err=True)


def _name(file: str) -> str:
    return "Standard input" if file == PIPE else clean(file)


def _tell_places(places: list[Place], file: str, *, err: bool) -> None:
    if not places:
        return
    from forge.workflows.show import place_line

    out = console(stderr=err)
    for place in places:
        out.print(place_line(place, "" if file == PIPE else file))
