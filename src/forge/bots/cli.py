"""`forge bots`."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Group, RenderableType
from rich.text import Text

from forge.bots.chat.terminal.cli import sessions
from forge.bots.lookup import find_bot, find_deleted
from forge.bots.memory.cli import memories
from forge.bots.models import (
    MAX_SLUG,
    MAX_TEMPERATURE,
    MAX_TOKENS,
    BotFile,
    BotSort,
    BotStatus,
    BotView,
    Bundle,
    Category,
    FileProblem,
    Stats,
)
from forge.bots.versions.cli import files
from forge.errors import Invalid
from forge.kernel.clock import now
from forge.llm.models import dollars
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm, read_file, read_source, write_file
from forge.terminal.options import yes_option
from forge.terminal.output import FAINT, Columns, Fields, dot, marked, print_json, words
from forge.terminal.text import ago, clean


def _name(bot: BotView) -> Text:
    one_line = " ".join(bot.identity.display_name.split())
    return words(f"{bot.identity.avatar} {one_line}")


def _state(bot: BotView) -> Text:
    if bot.deleted_at is not None:
        return words(f"● deleted {ago(bot.deleted_at, now())}", FAINT)
    if bot.status is not BotStatus.ACTIVE:
        return dot(bot.status.value)
    if bot.blocked:
        return Text("● blocked", "red")
    return Text("● answering", "blue") if bot.answering else dot("active")


def _usage(bot: BotView) -> str:
    counts = f"{bot.sessions:,} conversations, {bot.messages:,} messages, {bot.tokens:,} tokens"
    return f"{counts}, {dollars(bot.spent_micros)}"


def _bot_counts(stats: Stats) -> str:
    bots = f"{stats.total_bots} ({stats.active_bots} active, {stats.disabled_bots} disabled, "
    return f"{bots}{stats.archived_bots} archived)"


_bots_table = Columns[BotView](
    {
        "BOT": "slug",
        "NAME": _name,
        "STATE": _state,
        "MODEL": "model",
        "LAST ACTIVE": lambda bot: bot.last_active_at or "never",
        "SPENT": lambda bot: dollars(bot.spent_micros),
    },
    wrap={"NAME", "MODEL"},
)
_bot_fields = Fields[BotView](
    {
        "name": _name,
        "slug": "slug",
        "id": "id",
        "state": _state,
        "blocked": lambda bot: words(bot.blocked, "red") if bot.blocked and not bot.deleted_at else None,
        "description": lambda bot: bot.identity.description,
        "category": lambda bot: bot.identity.category,
        "tags": lambda bot: bot.identity.tags,
        "model": lambda bot: bot.model if bot.identity.ref else f"{bot.model} (default for bots)",
        "temperature": lambda bot: f"{bot.identity.temperature:g}",
        "max tokens": lambda bot: bot.identity.max_tokens,
        "memory": lambda bot: "on" if bot.identity.memory else "off",
        "soul": lambda bot: f"version {bot.soul_version}",
        "usage": _usage,
        "folder": "folder",
        "created": "created_at",
    }
)
_stats_page = Fields[Stats](
    {
        "bots": _bot_counts,
        "conversations": lambda stats: f"{stats.total_sessions:,}, {stats.active_sessions} being answered",
        "messages": "total_messages",
        "memories": "total_memories",
        "tokens": "tokens",
        "spent": lambda stats: dollars(stats.spent_micros),
    }
)


def _bot_page(bot: BotView) -> RenderableType:
    return Group(_bot_fields(bot), *map(_problem_line, bot.problems))


def _problem_line(problem: FileProblem) -> Text:
    position = ":".join(str(part) for part in (problem.file.file_name, problem.line, problem.column) if part)
    text = Text.assemble((position, "bold"), " ", clean(problem.message))
    return marked("warn" if problem.is_warning else "bad", text, problem.hint)


Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, dir_okay=False)
_IDENTITY_OPTIONS = (
    click.option("--description", help="Purpose of the bot, in one sentence."),
    click.option("--category", type=click.Choice([one.value for one in Category]), help="Category."),
    click.option("--tag", "tags", multiple=True, help="Tag. Repeatable."),
    click.option("--provider", help="Provider of the model, such as anthropic."),
    click.option("--model", help="Model to use instead of the default model for bots."),
    click.option(
        "--temperature", type=click.FloatRange(0, MAX_TEMPERATURE), help="Sampling temperature, 0 to 2."
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1, MAX_TOKENS), help="Maximum length of an answer, in tokens."
    ),
    click.option("--avatar", help="Emoji shown as avatar."),
    click.option("--colour", help="Color, such as #e2703a."),
)


def identity_options(command: Command) -> Command:
    for option in reversed(_IDENTITY_OPTIONS):
        command = option(command)
    return command


@click.group()
def bots() -> None:
    """Create, change, export and delete bots."""


bots.add_command(files)
bots.add_command(memories)
bots.add_command(sessions)


@bots.command()
@click.argument("name")
@identity_options
@click.option("--soul", type=FILE, help="SOUL.md to use. Default: a generated one.")
@click.option("--user", type=FILE, help="USER.md to use.")
@api_command
def create(
    client: Client, name: str, soul: Path | None, user: Path | None, **options: Any
) -> Result[BotView]:
    """Create the bot NAME."""
    texts = {key: read_file(path) for key, path in (("soul", soul), ("user", user)) if path}
    return Result(client.post("/bots", BotView, {"name": name, **_set_options(options), **texts}), _bot_page)


@bots.command("list")
@click.option("--all", "every", is_flag=True, help="Include archived bots.")
@click.option("--deleted", is_flag=True, help="List deleted bots that can be restored.")
@click.option("--category", type=click.Choice([one.value for one in Category]), help="Only this category.")
@click.option("--search", metavar="WORDS", help="Search names, descriptions and tags.")
@click.option(
    "--sort",
    type=click.Choice([sort.value for sort in BotSort]),
    default=BotSort.ACTIVITY.value,
    show_default=True,
    help="Sort order.",
)
@api_command
def list_bots(
    client: Client, every: bool, deleted: bool, category: str | None, search: str | None, sort: str
) -> Result[list[BotView]]:
    """List bots with their state, model and spending."""
    filters: dict[str, Any] = {"category": category, "q": search, "sort": sort}
    if every:
        filters["status"] = [status.value for status in BotStatus]
    if deleted:
        filters["deleted"] = "true"
    found = client.get("/bots", list[BotView], filters)
    return Result(found, _bots_table, empty="No bots found. Create one with: forge bots create NAME")


@bots.command()
@click.argument("bot")
@api_command
def show(client: Client, bot: str) -> Result[BotView]:
    """Show a bot: its state, configuration, and problems in its files."""
    return Result(find_bot(client, bot), _bot_page)


@bots.command()
@click.argument("bot")
@click.option("--name", help="New display name. The slug does not change.")
@identity_options
@click.option("--memory", type=click.Choice(["on", "off"]), help="Whether the bot remembers facts.")
@api_command
def change(client: Client, bot: str, memory: str | None, **options: Any) -> Result[BotView]:
    """Change fields of IDENTITY.md. Other fields are left as they are.

    An empty --model selects the default model for bots.
    """
    changes = _set_options(options)
    if memory is not None:
        changes["memory"] = memory == "on"
    if not changes:
        raise click.UsageError("Nothing to change: pass an option such as --model or --description.")
    return Result(client.patch(f"/bots/{find_bot(client, bot).id}", BotView, changes), _bot_page)


@bots.command()
@click.argument("bot")
@click.option("--name", help="Name of the clone. Default: the same name with (Clone).")
@api_command
def clone(client: Client, bot: str, name: str | None) -> Result[BotView]:
    """Create a bot with the same files, without history, memories and conversations."""
    return Result(client.post(f"/bots/{find_bot(client, bot).id}/clone", BotView, {"name": name}), _bot_page)


@bots.command()
@click.argument("bot")
@api_command
def archive(client: Client, bot: str) -> Result[BotView]:
    """Archive a bot. It keeps its data and does not answer."""
    return _change_status(client, bot, BotStatus.ARCHIVED, "Archived")


@bots.command()
@click.argument("bot")
@api_command
def unarchive(client: Client, bot: str) -> Result[BotView]:
    """Move a bot out of the archive."""
    return _change_status(client, bot, BotStatus.ACTIVE, "Unarchived")


@bots.command()
@click.argument("bot")
@api_command
def disable(client: Client, bot: str) -> Result[BotView]:
    """Disable a bot, so that it does not answer."""
    return _change_status(client, bot, BotStatus.DISABLED, "Disabled")


@bots.command()
@click.argument("bot")
@api_command
def enable(client: Client, bot: str) -> Result[BotView]:
    """Enable a disabled bot."""
    return _change_status(client, bot, BotStatus.ACTIVE, "Enabled")


@bots.command()
@click.argument("bot")
@yes_option
@api_command
def delete(client: Client, bot: str, yes: bool) -> Result[BotView]:
    """Delete a bot with its conversations and memories. It can be restored for 30 days."""
    found = find_bot(client, bot)
    confirm(f"Delete {clean(found.slug)}?", yes=yes)
    deleted = client.delete(f"/bots/{found.id}", BotView)
    return Result(deleted, f"Deleted {deleted.slug}. For 30 days: forge bots restore {deleted.slug}")


@bots.command()
@click.argument("bot")
@api_command
def restore(client: Client, bot: str) -> Result[BotView]:
    """Restore a deleted bot."""
    restored = client.post(f"/bots/{find_deleted(client, bot).id}/restore", BotView)
    return Result(restored, f"Restored {restored.slug}.")


@bots.command()
@click.argument("bot")
@click.option("--output", type=FILE, metavar="FILE", help="Write to this file instead of standard output.")
def export(bot: str, output: Path | None) -> None:
    """Export a bot as one file, without memories, conversations and secrets."""
    with connect() as client:
        bundle = client.get(f"/bots/{find_bot(client, bot).id}/export", Bundle)
    if output is None:
        print_json(bundle)
        return
    write_file(output, f"{bundle.model_dump_json(indent=2)}\n")
    click.echo(f"Wrote {output}.", err=True)


@bots.command("import")
@click.argument("source", metavar="FILE")
@api_command
def import_bot(client: Client, source: str) -> Result[BotView]:
    """Create a bot from FILE: an exported file, - for standard input, or a folder with SOUL.md and IDENTITY.md."""
    return Result(client.post("/bots/import", BotView, read_bundle(source)), _bot_page)


@bots.command()
@click.argument("bot")
def folder(bot: str) -> None:
    """Print the path of the bot's files on the server."""
    with connect() as client:
        click.echo(find_bot(client, bot).folder)


@bots.command()
@api_command
def stats(client: Client) -> Result[Stats]:
    """Show statistics of all bots."""
    return Result(client.get("/stats", Stats), _stats_page)


def _set_options(options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that were set on the command line."""
    return {
        name: list(value) if name == "tags" else value
        for name, value in options.items()
        if value not in (None, ())
    }


def _change_status(client: Client, bot: str, status: BotStatus, done: str) -> Result[BotView]:
    changed = client.patch(f"/bots/{find_bot(client, bot).id}", BotView, {"status": status.value})
    return Result(changed, f"{done}: {changed.slug}.")


def read_bundle(source: str) -> dict[str, Any]:
    """Read an exported bot from a file or standard input, or a folder with its files."""
    path = Path(source)
    if source != "-" and path.is_dir():
        return _from_folder(path)
    text = read_source(source)
    try:
        found = json.loads(text)
    except ValueError as error:
        raise Invalid(
            f"{source} is not an exported bot: {error}", hint="Create one with: forge bots export BOT"
        ) from error
    if not isinstance(found, dict):
        raise Invalid(f"{source} is not an exported bot.", hint="Create one with: forge bots export BOT")
    return found  # pyright: ignore[reportUnknownVariableType]


def _from_folder(folder: Path) -> dict[str, Any]:
    """Read the files of a bot from a folder, and ignore others."""
    paths = {file.file_name: folder / file.file_name for file in BotFile}
    files = {name: read_file(path) for name, path in paths.items() if path.exists()}
    slug = folder.resolve().name[:MAX_SLUG]
    return {"forge_bot": 1, "slug": slug, "exported_at": now().isoformat(), "files": files}
