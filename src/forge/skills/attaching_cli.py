"""`forge skill attach`, `detach`, `enable` and `disable`: which bots have a skill."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click

from forge.skills.command_words import bot_path, read_capabilities, read_settings, skill_path
from forge.skills.models import Capability
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option
from forge.terminal.output import print_json
from forge.terminal.text import clean

Entry = dict[str, Any]
"""Of the skills of a bot."""


@dataclass(frozen=True)
class AttachWish:
    """How a bot is to have a skill; what is not said stays."""

    version: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict[str, str])
    only: Sequence[Capability] | None = None
    """None of them: all that was granted."""


@dataclass(frozen=True)
class Attached:
    entry: Entry
    told: str


@click.command()
@click.argument("name")
@click.argument("bot")
@click.option("--version", metavar="RANGE", help="Only such a version of it, as 1.2.3 or ^1.2.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="A setting the skill gets from this bot; without a value, none any more. Repeatable.",
)
@click.option(
    "--only", metavar="CAPABILITY,…", help="Of what it was granted, only these for this bot; all for all."
)
@json_option
def attach(
    name: str, bot: str, version: str | None, settings: tuple[str, ...], only: str | None, as_json: bool
) -> None:
    """Give a skill to a bot, which uses it from its next answer on.

    For a bot that has it already, what is said of version, settings and capabilities is changed.
    """
    wish = AttachWish(version, read_settings(settings), None if only is None else read_capabilities(only))
    with connect() as client:
        attached = attach_to(client, name, bot, wish)
    _say(attached.entry, attached.told, as_json=as_json)
    if not attached.entry["enabled"]:
        click.echo(f"It is disabled for it: forge skill enable {name} {bot}", err=True)
    elif not attached.entry["is_offered"]:
        click.echo(f"It cannot use it yet: {clean(str(attached.entry['problem']))}", err=True)


@click.command()
@click.argument("name")
@click.argument("bot")
@json_option
def detach(name: str, bot: str, as_json: bool) -> None:
    """Take a skill from a bot. It stays in the library."""
    with connect() as client:
        told = client.delete(_entry(name, bot), object)
    _say(told, f"{clean(bot)} does not have {name} any more.", as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("bot")
@json_option
def enable(name: str, bot: str, as_json: bool) -> None:
    """Let a bot use a skill again."""
    _switch(name, bot, is_on=True, as_json=as_json)


@click.command()
@click.argument("name")
@click.argument("bot")
@json_option
def disable(name: str, bot: str, as_json: bool) -> None:
    """Let a bot not use a skill for now; its settings for it stay."""
    _switch(name, bot, is_on=False, as_json=as_json)


def attach_to(client: Client, name: str, bot: str, wish: AttachWish | None = None) -> Attached:
    """What the bot has already stays, but for what is wished otherwise."""
    wish = wish or AttachWish()
    entry = _entry(name, bot)
    had = next((one for one in client.get(bot_path(bot), list[Entry]) if one["name"] == name), None)
    body = _body(wish, had["overrides"] if had else {})
    if had is None:
        made = client.post(bot_path(bot), Entry, {"skill_name": name, **body})
        return Attached(made, f"{clean(bot)} has {name} now.")
    if not body:
        return Attached(had, f"{clean(bot)} has {name} already.")
    return Attached(client.patch(entry, Entry, body), f"{clean(bot)} has {name} as you said now.")


def _body(wish: AttachWish, overrides: Mapping[str, str]) -> Entry:
    body: Entry = {}
    if wish.version is not None:
        body["version"] = wish.version
    if wish.settings:
        body["overrides"] = {key: value for key, value in {**overrides, **wish.settings}.items() if value}
    if wish.only is not None:
        body["capabilities"] = wish.only
    return body


def _switch(name: str, bot: str, *, is_on: bool, as_json: bool) -> None:
    with connect() as client:
        told = client.patch(_entry(name, bot), object, {"enabled": is_on})
    verb = "uses" if is_on else "does not use"
    _say(told, f"{clean(bot)} {verb} {name} from now on.", as_json=as_json)


def _entry(name: str, bot: str) -> str:
    return f"{bot_path(bot)}{skill_path(name).removeprefix('/skills')}"


def _say(told: object, text: str, *, as_json: bool) -> None:
    if as_json:
        print_json(told)
    else:
        click.echo(text)
