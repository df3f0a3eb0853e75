"""`forge bots files`."""

import click

from forge.bots.choice import find_bot
from forge.bots.models import BotFile, FileProblem
from forge.bots.problems import errors_of
from forge.bots.versions.drafts import Draft, base_of
from forge.bots.versions.models import FileDiff, FileState, FileVersion, FileVersionDetail
from forge.bots.versions.naming import FILES, typed
from forge.bots.versions.show import diff_text, history_table, place_of
from forge.terminal.asking import be_sure
from forge.terminal.client import Client, connect
from forge.terminal.given import read_source
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean

FILE = click.Choice(list(FILES))
MESSAGE = click.option("--message", default="", help="What changed and why, for the history.")


@click.group()
def files() -> None:
    """Read and change the files of a bot: soul, identity, user, skills; with their history."""


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.option("--version", type=click.IntRange(min=1), help="As it was then, instead of as it is on disk.")
@json_option
def show(bot: str, file: str, version: int | None, as_json: bool) -> None:
    """Print a file; what is wrong with it goes to standard error."""
    with connect() as client:
        where = _place(client, bot, FILES[file])
        if version:
            found = client.get(f"{where}/versions/{version}", FileVersionDetail)
        else:
            found = client.get(where, FileState)
    if as_json:
        print_json(found)
        return
    click.echo(clean(found.content or ""), nl=False)
    if isinstance(found, FileState):
        _print_problems(found.problems, err=True)
        if not found.is_accepted and found.content is not None:
            click.echo(f"This is not version {found.version}: forge bots files diff {bot} {file}", err=True)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@MESSAGE
@json_option
def edit(bot: str, file: str, message: str, as_json: bool) -> None:
    """Open a file in your editor, and save it when you close it."""
    with connect() as client:
        slug = find_bot(client, bot).slug
        where = _place(client, slug, FILES[file])
        state = client.get(where, FileState)
        with Draft(state, typed(slug, FILES[file])) as draft:
            content = draft.edit()
            if content is None:
                click.echo("Nothing was changed.", err=True)
                return
            saved = _save(client, where, content, draft.base, message)
    _print_saved(saved, as_json=as_json)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.argument("source", metavar="PATH", default="-")
@click.option("--base", help="Hash of what you edited: refused when the file is another by now.")
@MESSAGE
@json_option
def save(bot: str, file: str, source: str, base: str | None, message: str, as_json: bool) -> None:
    """Save what is in PATH, or comes on standard input, as a new version of a file."""
    content = read_source(source)
    with connect() as client:
        where = _place(client, bot, FILES[file])
        known = base or base_of(client.get(where, FileState), typed(bot, FILES[file]))
        saved = _save(client, where, content, known, message)
    _print_saved(saved, as_json=as_json)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE, required=False)
@click.argument("source", metavar="[PATH]", required=False)
@json_option
@click.pass_context
def check(context: click.Context, bot: str, file: str | None, source: str | None, as_json: bool) -> None:
    """Say what is wrong with a file, with all of them, or with what is in PATH (- for standard input)."""
    with connect() as client:
        if file and source:
            where = _place(client, bot, FILES[file])
            found = client.post(f"{where}/check", list[FileProblem], {"content": read_source(source)})
        else:
            chosen = [FILES[file]] if file else list(BotFile)
            states = [client.get(_place(client, bot, one), FileState) for one in chosen]
            found = [problem for state in states for problem in state.problems]
    if as_json:
        print_json(found)
    else:
        _print_problems(found, err=False)
    context.exit(1 if errors_of(found) else 0)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@limit_option
@json_option
def history(bot: str, file: str, limit: int, as_json: bool) -> None:
    """List the versions of a file, newest first."""
    with connect() as client:
        found = list(client.pages(f"{_place(client, bot, FILES[file])}/versions", FileVersion, limit))
    if as_json:
        print_json(found)
    else:
        console().print(history_table(found))


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.argument("left", type=click.IntRange(min=1), required=False)
@click.argument("right", type=click.IntRange(min=1), required=False)
@json_option
def diff(bot: str, file: str, left: int | None, right: int | None, as_json: bool) -> None:
    """Compare version LEFT with version RIGHT, or with the file; the newest one when none is named."""
    with connect() as client:
        where = _place(client, bot, FILES[file])
        number = left or client.get(where, FileState).version
        found = client.get(f"{where}/diff", FileDiff, {"left": number, "right": right})
    if as_json:
        print_json(found)
    else:
        console().print(diff_text(found))


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.argument("version", type=click.IntRange(min=1), required=False)
@MESSAGE
@json_option
def rollback(bot: str, file: str, version: int | None, message: str, as_json: bool) -> None:
    """Make VERSION the newest again; the last one when none is named. What is in the file now is kept."""
    with connect() as client:
        where = _place(client, bot, FILES[file])
        number = version or client.get(where, FileState).version
        body = {"version": number, "message": message}
        saved = client.post(f"{where}/rollback", FileState, body)
    _print_saved(saved, as_json=as_json)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.option("--yes", is_flag=True, help="Do not show the difference and ask.")
@MESSAGE
@json_option
def accept(bot: str, file: str, yes: bool, message: str, as_json: bool) -> None:
    """Take an edit that was made outside of Forge as the next version. Shows it and asks first."""
    with connect() as client:
        where = _place(client, bot, FILES[file])
        state = client.get(where, FileState)
        if state.diff and not yes:
            console(stderr=True).print(diff_text(state.diff))
            be_sure("Accept this?")
        if not state.is_accepted:
            state = client.post(f"{where}/accept", FileState, {"hash": state.hash, "message": message})
    _print_saved(state, as_json=as_json)


def _place(client: Client, bot: str, file: BotFile) -> str:
    return f"/bots/{find_bot(client, bot).id}/{file.value}"


def _save(client: Client, where: str, content: str, base: str, message: str) -> FileState:
    body = {"content": content, "base_hash": base, "message": message}
    return client.put(where, FileState, body)


def _print_saved(state: FileState, *, as_json: bool) -> None:
    if as_json:
        print_json(state)
        return
    _print_problems(state.problems, err=True)
    click.echo(f"{state.file.file_name} is version {state.version}.")


def _print_problems(problems: list[FileProblem], *, err: bool) -> None:
    for problem in problems:
        click.echo(f"{place_of(problem)} {clean(problem.message)}", err=err)
