"""`forge skill attach`, `detach`, `enable` and `disable`: which bots have a skill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from forge.skills.cli.arguments import bot_path, read_capabilities, read_settings, skill_path
from forge.skills.models import Capability
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.options import json_option
from forge.terminal.output import print_result
from forge.terminal.text import clean

Entry = dict[str, Any]
"""A skill of a bot, as the API returns it."""


@dataclass(frozen=True)
class Attachment:
    """What to change about a skill of a bot; None and empty values leave it as it is."""

    version: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    only: Sequence[Capability] | None = None
    """Capabilities of this bot; an empty list means everything that was granted."""


@dataclass(frozen=True)
class Attached:
    entry: Entry
    message: str


@click.command()
@click.argument("name")
@click.argument("bot")
@click.option("--version", metavar="RANGE", help="Version requirement, such as 1.2.3 or ^1.2.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Setting for the skill in this bot; an empty value removes it. Repeatable.",
)
@click.option(
    "--only",
    metavar="CAPABILITY,…",
    help="Limit this bot to these granted capabilities; all removes the limit.",
)
@json_option
def attach(
    name: str, bot: str, version: str | None, settings: tuple[str, ...], only: str | None, as_json: bool
) -> None:
    """Attach a skill to a bot.

    The bot can use it from its next answer on. If it is attached already, the given version, settings and capabilities are changed.
    """
    change = Attachment(version, read_settings(settings), None if only is None else read_capabilities(only))
    with connect() as client:
        attached = attach_to(client, name, bot, change)
    print_result(attached.entry, attached.message, as_json=as_json)
    if not attached.entry["enabled"]:
        click.echo(f"It is disabled for it: forge skill enable {name} {bot}", err=True)
    elif not attached.entry["is_offered"]:
        click.echo(f"It cannot use it yet: {clean(str(attached.entry['problem']))}", err=True)


@click.command()
@click.argument("name")
@click.argument("bot")
@api_command
def detach(client: Client, name: str, bot: str) -> Result[object]:
    """Detach a skill from a bot. It stays in the library."""
    return Result(client.delete(_entry(name, bot), object), f"{bot} does not have {name} any more.")


@click.command()
@click.argument("name")
@click.argument("bot")
@api_command
def enable(client: Client, name: str, bot: str) -> Result[object]:
    """Enable a skill for a bot."""
    enabled = client.patch(_entry(name, bot), object, {"enabled": True})
    return Result(enabled, f"{bot} uses {name} from now on.")


@click.command()
@click.argument("name")
@click.argument("bot")
@api_command
def disable(client: Client, name: str, bot: str) -> Result[object]:
    """Disable a skill for a bot. Its settings are kept."""
    disabled = client.patch(_entry(name, bot), object, {"enabled": False})
    return Result(disabled, f"{bot} does not use {name} from now on.")


def attach_to(client: Client, name: str, bot: str, change: Attachment | None = None) -> Attached:
    """Attach a skill to a bot, or change how the bot has it."""
    change = change or Attachment()
    entry = _entry(name, bot)
    had = next((one for one in client.get(bot_path(bot), list[Entry]) if one["name"] == name), None)
    body = _body(change, had["overrides"] if had else {})
    if had is None:
        made = client.post(bot_path(bot), Entry, {"skill_name": name, **body})
        return Attached(made, f"{clean(bot)} has {name} now.")
    if not body:
        return Attached(had, f"{clean(bot)} has {name} already.")
    return Attached(client.patch(entry, Entry, body), f"{clean(bot)} has {name} as you said now.")


def _body(change: Attachment, overrides: Mapping[str, str]) -> Entry:
    body: Entry = {}
    if change.version is not None:
        body["version"] = change.version
    if change.settings:
        body["overrides"] = {key: value for key, value in {**overrides, **change.settings}.items() if value}
    if change.only is not None:
        body["capabilities"] = change.only
    return body


def _entry(name: str, bot: str) -> str:
    return f"{bot_path(bot)}{skill_path(name).removeprefix('/skills')}"
