"""`forge bots files`."""

import tempfile
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType

import click
from rich.text import Text

from forge.bots.files.problems import errors_of
from forge.bots.lookup import find_bot
from forge.bots.models import BotFile, FileProblem
from forge.bots.versions.models import (
    FILES_BY_ARGUMENT,
    DiffRow,
    FileConflict,
    FileDiff,
    FileState,
    FileVersion,
    FileVersionDetail,
    file_arguments,
)
from forge.errors import Conflict, Invalid
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm, read_file, read_source
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import FAINT, Columns, console, print_json
from forge.terminal.text import clean, size


def position(problem: FileProblem) -> str:
    """Format the position of a problem as compilers do, `SOUL.md:4:7:`, so that editors find it."""
    numbers = "".join(f":{number}" for number in (problem.line, problem.column) if number is not None)
    return f"{problem.file.file_name}{numbers}:{' warning:' if problem.is_warning else ''}"


history_table = Columns[FileVersion](
    {
        "VERSION": "number",
        "WHEN": "created_at",
        "AUTHOR": "author",
        "SIZE": lambda version: size(version.bytes),
        "MESSAGE": "message",
        "HASH": lambda version: version.hash[:12],
    },
    wrap={"MESSAGE"},
)


def diff_text(diff: FileDiff) -> Text:
    """Show removed and added lines below each other, as git does."""
    text = Text(f"{clean(diff.left)} → {clean(diff.right)}: ", FAINT)
    text.append(f"{diff.added} added, {diff.removed} removed" if diff.rows else "no differences")
    added: list[Text] = []  # shown after the removed lines of the same change
    for row in diff.rows:
        if row.kind not in ("changed", "added"):
            _append(text, added)
            added = []
        for line in _lines(row):
            if row.kind in ("changed", "added") and line.plain.startswith("+"):
                added.append(line)
            else:
                _append(text, [line])
    _append(text, added)
    if diff.is_cut:
        text.append("\nThe rest of the diff is not shown.", FAINT)
    return text


def _append(text: Text, lines: Iterable[Text]) -> None:
    for line in lines:
        text.append("\n").append_text(line)


def _lines(row: DiffRow) -> list[Text]:
    match row.kind:
        case "skipped":
            return [Text(f"  … {row.left} unchanged lines", FAINT)]
        case "same":
            return [Text(f"  {clean(row.left)}")]
        case "removed":
            return [Text(f"- {clean(row.left)}", "red")]
        case "added":
            return [Text(f"+ {clean(row.right)}", "green")]
        case "changed":
            return [Text(f"- {clean(row.left)}", "red"), Text(f"+ {clean(row.right)}", "green")]


FILE = click.Choice(list(FILES_BY_ARGUMENT))
MESSAGE = click.option("--message", default="", help="Describe the change, for the history.")


@click.group()
def files() -> None:
    """Read and change a bot's files (soul, identity, user, skills) and their history."""


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.option("--version", type=click.IntRange(min=1), help="Print this version instead of the file on disk.")
@json_option
def show(bot: str, file: str, version: int | None, as_json: bool) -> None:
    """Print a file. Problems in it are printed to standard error."""
    with connect() as client:
        where = _path(client, bot, FILES_BY_ARGUMENT[file])
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
            click.echo(
                f"The file differs from version {found.version}: forge bots files diff {bot} {file}", err=True
            )


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@MESSAGE
@json_option
def edit(bot: str, file: str, message: str, as_json: bool) -> None:
    """Open a file in your editor and save it when the editor is closed."""
    with connect() as client:
        slug = find_bot(client, bot).slug
        where = _path(client, slug, FILES_BY_ARGUMENT[file])
        state = client.get(where, FileState)
        with Draft(state, file_arguments(slug, FILES_BY_ARGUMENT[file])) as draft:
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
@click.option(
    "--base", help="Hash of the content you edited; the save is rejected if the file changed since."
)
@MESSAGE
@json_option
def save(bot: str, file: str, source: str, base: str | None, message: str, as_json: bool) -> None:
    """Save PATH, or standard input, as a new version of a file."""
    content = read_source(source)
    with connect() as client:
        where = _path(client, bot, FILES_BY_ARGUMENT[file])
        known = base or base_of(client.get(where, FileState), file_arguments(bot, FILES_BY_ARGUMENT[file]))
        saved = _save(client, where, content, known, message)
    _print_saved(saved, as_json=as_json)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE, required=False)
@click.argument("source", metavar="[PATH]", required=False)
@json_option
@click.pass_context
def check(context: click.Context, bot: str, file: str | None, source: str | None, as_json: bool) -> None:
    """Validate one file, all files, or PATH (- for standard input)."""
    with connect() as client:
        if file and source:
            where = _path(client, bot, FILES_BY_ARGUMENT[file])
            found = client.post(f"{where}/check", list[FileProblem], {"content": read_source(source)})
        else:
            chosen = [FILES_BY_ARGUMENT[file]] if file else list(BotFile)
            states = [client.get(_path(client, bot, one), FileState) for one in chosen]
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
@api_command
def history(client: Client, bot: str, file: str, limit: int) -> Result[list[FileVersion]]:
    """List the versions of a file, newest first."""
    found = list(client.pages(f"{_path(client, bot, FILES_BY_ARGUMENT[file])}/versions", FileVersion, limit))
    return Result(found, history_table)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.argument("left", type=click.IntRange(min=1), required=False)
@click.argument("right", type=click.IntRange(min=1), required=False)
@api_command
def diff(client: Client, bot: str, file: str, left: int | None, right: int | None) -> Result[FileDiff]:
    """Compare version LEFT (default: the newest) with version RIGHT (default: the file on disk)."""
    where = _path(client, bot, FILES_BY_ARGUMENT[file])
    number = left or client.get(where, FileState).version
    return Result(client.get(f"{where}/diff", FileDiff, {"left": number, "right": right}), diff_text)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.argument("version", type=click.IntRange(min=1), required=False)
@MESSAGE
@json_option
def rollback(bot: str, file: str, version: int | None, message: str, as_json: bool) -> None:
    """Restore VERSION (default: the previous one) as the newest version. The current content stays in the history."""
    with connect() as client:
        where = _path(client, bot, FILES_BY_ARGUMENT[file])
        number = version or client.get(where, FileState).version
        body = {"version": number, "message": message}
        saved = client.post(f"{where}/rollback", FileState, body)
    _print_saved(saved, as_json=as_json)


@files.command()
@click.argument("bot")
@click.argument("file", type=FILE)
@click.option("--yes", is_flag=True, help="Accept without showing the difference.")
@MESSAGE
@json_option
def accept(bot: str, file: str, yes: bool, message: str, as_json: bool) -> None:
    """Accept an edit made outside of Forge as a new version, after showing it."""
    with connect() as client:
        where = _path(client, bot, FILES_BY_ARGUMENT[file])
        state = client.get(where, FileState)
        if state.diff and not yes:
            console(stderr=True).print(diff_text(state.diff))
            confirm("Accept this change?", yes=False)
        if not state.is_accepted:
            state = client.post(f"{where}/accept", FileState, {"hash": state.hash, "message": message})
    _print_saved(state, as_json=as_json)


def _path(client: Client, bot: str, file: BotFile) -> str:
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
        click.echo(f"{position(problem)} {clean(problem.message)}", err=err)


def base_of(state: FileState, arguments: str) -> str:
    """Return the hash of the file that is edited."""
    if state.hash is None:
        raise Conflict(
            f"{state.file.file_name} is missing or not a readable text file.",
            hint=f"Restore an older version: forge bots files rollback {arguments}",
        )
    return state.hash


class Draft:
    """A copy of a file for the editor. It is removed after a successful save and kept if saving fails."""

    def __init__(self, state: FileState, arguments: str) -> None:
        self.base = base_of(state, arguments)
        self._before = state.content or ""
        self._arguments = arguments
        self._path = Path(tempfile.mkdtemp(prefix="forge-")) / state.file.file_name

    def __enter__(self) -> "Draft":
        self._path.write_bytes(self._before.encode())
        return self

    def edit(self) -> str | None:
        """Open the editor and return the text; None if it is unchanged."""
        click.edit(filename=str(self._path))
        content = read_file(self._path)
        return None if content == self._before else content

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None:
            self._path.unlink()
            self._path.parent.rmdir()
            return
        base = self.base
        if isinstance(error, Conflict) and error.detail:
            base = self._show_conflict(FileConflict.model_validate(error.detail))
        elif isinstance(error, Invalid) and error.detail:
            self._show_problems(error.detail.get("problems", []))
        click.echo(f"Your text is in {self._path}", err=True)
        click.echo(f"Save it: forge bots files save {self._arguments} {self._path} --base {base}", err=True)

    def _show_conflict(self, conflict: FileConflict) -> str:
        """Show the other change and return the hash to pass to the next save."""
        console(stderr=True).print(diff_text(conflict.theirs or conflict.yours))
        return conflict.current.hash or self.base

    def _show_problems(self, problems: list[object]) -> None:
        for problem in map(FileProblem.model_validate, problems):
            click.echo(f"{position(problem)} {clean(problem.message)}", err=True)
