"""`forge bots`."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from forge.bots.bundle_file import read_bundle
from forge.bots.chat.sessions_cli import sessions
from forge.bots.choice import find_bot, find_deleted
from forge.bots.memory.cli import memories
from forge.bots.models import (
    MAX_TEMPERATURE,
    MAX_TOKENS,
    BotSort,
    BotStatus,
    BotView,
    Bundle,
    Category,
    Stats,
)
from forge.bots.versions.cli import files
from forge.terminal.asking import be_sure
from forge.terminal.client import connect
from forge.terminal.given import read_file, write_file
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean

Command = TypeVar("Command", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, dir_okay=False)
_IDENTITY_OPTIONS = (
    click.option("--description", help="What it is for, in a sentence."),
    click.option("--category", type=click.Choice([one.value for one in Category]), help="What kind it is."),
    click.option("--tag", "tags", multiple=True, help="May be given several times."),
    click.option("--provider", help="Where its model is called, such as anthropic."),
    click.option("--model", help="Its model, instead of the one chosen for bots."),
    click.option(
        "--temperature", type=click.FloatRange(0, MAX_TEMPERATURE), help="How freely it answers: 0 to 2."
    ),
    click.option("--max-tokens", type=click.IntRange(1, MAX_TOKENS), help="How long an answer can be."),
    click.option("--avatar", help="An emoji."),
    click.option("--colour", help="Such as #e2703a."),
)


def identity_options(command: Command) -> Command:
    for option in reversed(_IDENTITY_OPTIONS):
        command = option(command)
    return command


@click.group()
def bots() -> None:
    """Make bots, change them, carry them around."""


bots.add_command(files)
bots.add_command(memories)
bots.add_command(sessions)


@bots.command()
@click.argument("name")
@identity_options
@click.option("--soul", type=FILE, help="Its SOUL.md; without it one is written.")
@click.option("--user", type=FILE, help="Its USER.md.")
@json_option
def create(name: str, soul: Path | None, user: Path | None, as_json: bool, **given: Any) -> None:
    """Make a bot called NAME."""
    files = {key: read_file(path) for key, path in (("soul", soul), ("user", user)) if path}
    with connect() as client:
        made = client.post("/bots", BotView, {"name": name, **_given(given), **files})
    _print(made, as_json=as_json)


@bots.command("list")
@click.option("--all", "every", is_flag=True, help="The archived ones, too.")
@click.option("--deleted", is_flag=True, help="Those that can still be restored, instead.")
@click.option("--category", type=click.Choice([one.value for one in Category]), help="Only these.")
@click.option("--search", metavar="WORDS", help="Words in the name, description or tags.")
@click.option(
    "--sort",
    type=click.Choice([sort.value for sort in BotSort]),
    default=BotSort.ACTIVITY.value,
    show_default=True,
    help="Which come first.",
)
@json_option
def list_bots(
    every: bool, deleted: bool, category: str | None, search: str | None, sort: str, as_json: bool
) -> None:
    """List bots with their state, model and spend."""
    asked: dict[str, Any] = {"category": category, "q": search, "sort": sort}
    if every:
        asked["status"] = [status.value for status in BotStatus]
    if deleted:
        asked["deleted"] = "true"
    with connect() as client:
        found = client.get("/bots", list[BotView], asked)
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no such bots. Make one: forge bots create NAME", err=True)
    else:
        from forge.bots.show import bots_table

        console().print(bots_table(found))


@bots.command()
@click.argument("bot")
@json_option
def show(bot: str, as_json: bool) -> None:
    """Show a bot: its state, what is wrong with its files, what it runs on."""
    with connect() as client:
        found = find_bot(client, bot)
    _print(found, as_json=as_json)


@bots.command()
@click.argument("bot")
@click.option("--name", help="Another name; the slug stays.")
@identity_options
@click.option("--memory", type=click.Choice(["on", "off"]), help="Whether it remembers facts.")
@json_option
def change(bot: str, memory: str | None, as_json: bool, **given: Any) -> None:
    """Change what IDENTITY.md says, and nothing in it that is not named.

    An empty --model goes back to the one that is chosen for bots.
    """
    changes = _given(given)
    if memory is not None:
        changes["memory"] = memory == "on"
    if not changes:
        raise click.UsageError("Say what to change, such as --model or --description.")
    with connect() as client:
        changed = client.patch(f"/bots/{find_bot(client, bot).id}", BotView, changes)
    _print(changed, as_json=as_json)


@bots.command()
@click.argument("bot")
@click.option("--name", help="Its name; without it the same, and (Clone).")
@json_option
def clone(bot: str, name: str | None, as_json: bool) -> None:
    """Make a bot with the same files: no history, no memory, no conversations."""
    with connect() as client:
        made = client.post(f"/bots/{find_bot(client, bot).id}/clone", BotView, {"name": name})
    _print(made, as_json=as_json)


@bots.command()
@click.argument("bot")
@json_option
def archive(bot: str, as_json: bool) -> None:
    """Put a bot out of sight. It keeps everything and answers nobody."""
    _change_status(bot, BotStatus.ARCHIVED, "Archived", as_json=as_json)


@bots.command()
@click.argument("bot")
@json_option
def unarchive(bot: str, as_json: bool) -> None:
    """Take a bot out of the archive."""
    _change_status(bot, BotStatus.ACTIVE, "Took out of the archive", as_json=as_json)


@bots.command()
@click.argument("bot")
@json_option
def disable(bot: str, as_json: bool) -> None:
    """Let a bot answer nobody for now."""
    _change_status(bot, BotStatus.DISABLED, "Disabled", as_json=as_json)


@bots.command()
@click.argument("bot")
@json_option
def enable(bot: str, as_json: bool) -> None:
    """Let a bot answer again."""
    _change_status(bot, BotStatus.ACTIVE, "Enabled", as_json=as_json)


@bots.command()
@click.argument("bot")
@yes_option
@json_option
def delete(bot: str, yes: bool, as_json: bool) -> None:
    """Delete a bot with its conversations and memories. It can be restored for 30 days."""
    with connect() as client:
        found = find_bot(client, bot)
        if not yes:
            be_sure(f"Delete {clean(found.slug)}?")
        deleted = client.delete(f"/bots/{found.id}", BotView)
    if as_json:
        print_json(deleted)
    else:
        click.echo(f"Deleted {deleted.slug}. For 30 days: forge bots restore {deleted.slug}")


@bots.command()
@click.argument("bot")
@json_option
def restore(bot: str, as_json: bool) -> None:
    """Take a deletion back."""
    with connect() as client:
        restored = client.post(f"/bots/{find_deleted(client, bot).id}/restore", BotView)
    if as_json:
        print_json(restored)
    else:
        click.echo(f"Restored {restored.slug}.")


@bots.command()
@click.argument("bot")
@click.option("--output", type=FILE, metavar="FILE", help="Write it here instead of printing it.")
def export(bot: str, output: Path | None) -> None:
    """Print a bot as one file: no memory, no conversations, no secrets."""
    with connect() as client:
        bundle = client.get(f"/bots/{find_bot(client, bot).id}/export", Bundle)
    if output is None:
        print_json(bundle)
        return
    write_file(output, f"{bundle.model_dump_json(indent=2)}\n")
    click.echo(f"Wrote {output}.", err=True)


@bots.command("import")
@click.argument("source", metavar="FILE")
@json_option
def import_bot(source: str, as_json: bool) -> None:
    """Make a bot from FILE: an exported one, - for standard input, or a folder with SOUL.md and IDENTITY.md."""
    body = read_bundle(source)
    with connect() as client:
        made = client.post("/bots/import", BotView, body)
    _print(made, as_json=as_json)


@bots.command()
@click.argument("bot")
def folder(bot: str) -> None:
    """Print where the files of a bot are, on the machine of the server."""
    with connect() as client:
        click.echo(find_bot(client, bot).folder)


@bots.command()
@json_option
def stats(as_json: bool) -> None:
    """Show numbers over all bots."""
    with connect() as client:
        found = client.get("/stats", Stats)
    if as_json:
        print_json(found)
    else:
        from forge.bots.show import stats_page

        console().print(stats_page(found))


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """What was said; nothing else is sent."""
    return {
        name: list(value) if name == "tags" else value
        for name, value in options.items()
        if value not in (None, ())
    }


def _change_status(bot: str, status: BotStatus, done: str, *, as_json: bool) -> None:
    with connect() as client:
        changed = client.patch(f"/bots/{find_bot(client, bot).id}", BotView, {"status": status.value})
    if as_json:
        print_json(changed)
    else:
        click.echo(f"{done}: {changed.slug}.")


def _print(bot: BotView, *, as_json: bool) -> None:
    if as_json:
        print_json(bot)
        return
    from forge.bots.show import bot_page

    console().print(bot_page(bot))
