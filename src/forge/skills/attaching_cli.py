"""`forge skill attach`, `detach`, `enable` and `disable`: which bots have a skill."""

from typing import Any

import click

from forge.skills.command_words import bot_path, skill_path
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option
from forge.terminal.output import print_json
from forge.terminal.text import clean


@click.command()
@click.argument("name")
@click.argument("bot")
@click.option("--version", metavar="RANGE", help="Only such a version of it, as 1.2.3 or ^1.2.")
@json_option
def attach(name: str, bot: str, version: str | None, as_json: bool) -> None:
    """Give a skill to a bot, which uses it from its next answer on."""
    with connect() as client:
        told = attach_to(client, name, bot, version)
    _say(told, f"{clean(bot)} has {name} now.", as_json=as_json)
    if not told.get("is_offered"):
        click.echo(f"It cannot use it yet: {clean(str(told.get('problem')))}", err=True)


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


def attach_to(client: Client, name: str, bot: str, version: str | None = None) -> dict[str, Any]:
    body: dict[str, Any] = {"skill_name": name}
    if version is not None:
        body["version"] = version
    return client.post(bot_path(bot), dict[str, Any], body)


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
