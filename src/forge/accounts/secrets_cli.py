"""`forge secrets`. A value comes from a hidden prompt or from standard input, never from an argument: arguments are
seen by everybody on the machine and stay in the shell's history."""

import sys
from collections.abc import Iterable

import click

from forge.accounts.models import MAX_SECRET_LENGTH, SecretView, check_secret_name, check_secret_value
from forge.errors import Invalid
from forge.kernel.clock import now
from forge.terminal.asking import be_sure
from forge.terminal.choice import scope_of_bot
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, print_json, table, words
from forge.terminal.text import ago, clean

_bot_option = click.option("--bot", metavar="BOT", help="For this bot only: its slug or its id.")
_scope_option = click.option(
    "--scope", default="", help="Whose it is, as `forge secrets list` shows it; everyone's if left out."
)


@click.group()
def secrets() -> None:
    """Save, list and remove secrets."""


@secrets.command("set")
@click.argument("name")
@click.argument("value", nargs=-1, metavar="")
@_bot_option
@_scope_option
@click.option(
    "--stdin", "from_stdin", is_flag=True, help="Read the value from standard input, without asking."
)
@json_option
def set_secret(
    name: str, value: tuple[str, ...], bot: str | None, scope: str, from_stdin: bool, as_json: bool
) -> None:
    """Save the secret NAME, or replace it. Asks for the value without showing it.

    Where standard input is no terminal, the value is read from it: all of it, but for one line break at the end.
    """
    if value:  # not repeated by a message, which may well end in a log
        raise click.UsageError(
            "A value is never an argument: leave it out and it is asked for, or use --stdin."
        )
    path = _path(name)
    whose = _whose(bot, scope)
    secret = _read_value(name, from_stdin=from_stdin)
    with connect() as client:
        saved = client.put(path, SecretView, {"value": secret, "scope": _scope(client, bot, scope)})
    if as_json:
        print_json(saved)
    else:
        click.echo(f"Saved the secret {_described(saved, whose)}.")


@secrets.command("list")
@json_option
def list_secrets(as_json: bool) -> None:
    """List what is saved, and the well-known names the server's environment has; never the values."""
    with connect() as client:
        found = client.get("/secrets", list[SecretView])
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no secrets. Save one: forge secrets set NAME", err=True)
    else:
        _print_secrets(found)


def _print_secrets(found: Iterable[SecretView]) -> None:
    rows = table("NAME", "SCOPE", "VALUE", "SOURCE", "SAVED", wrapped={"NAME", "SCOPE"})
    for secret in found:
        rows.add_row(
            words(secret.name),
            words(secret.scope or "everyone"),
            words(f"…{secret.last_four}"),
            secret.source,
            ago(secret.updated_at, now()) if secret.updated_at else "",
        )
    console().print(rows)


@secrets.command()
@click.argument("name")
@_bot_option
@_scope_option
@yes_option
@json_option
def remove(name: str, bot: str | None, scope: str, yes: bool, as_json: bool) -> None:
    """Remove the secret NAME. Cannot be undone."""
    path = _path(name)
    whose = _whose(bot, scope)
    if not yes:
        be_sure(f"Remove the secret {name}{whose}?")
    with connect() as client:
        removed = client.delete(path, SecretView, {"scope": _scope(client, bot, scope)})
    if as_json:
        print_json(removed)
    else:
        click.echo(f"Removed the secret {_described(removed, whose)}.")


def _path(name: str) -> str:
    """Checked here as well, since it becomes part of an address."""
    check_secret_name(name)
    return f"/secrets/{name}"


def _whose(bot: str | None, scope: str) -> str:
    if bot and scope:
        raise click.UsageError("--bot and --scope exclude each other.")
    return f" of {bot or scope}" if bot or scope else ""


def _scope(client: Client, bot: str | None, scope: str) -> str:
    return scope_of_bot(client, bot) if bot is not None else scope


def _read_value(name: str, *, from_stdin: bool) -> str:
    is_piped = from_stdin or not sys.stdin.isatty()
    value = _read_stdin() if is_piped else click.prompt(f"Value of {name}", hide_input=True, err=True)
    check_secret_value(value)
    return value


def _read_stdin() -> str:
    try:
        text = sys.stdin.read(MAX_SECRET_LENGTH + 3)
    except UnicodeDecodeError as error:
        raise Invalid("A secret is text, which standard input is not.", field="value") from error
    return text.removesuffix("\n").removesuffix("\r")


def _described(secret: SecretView, whose: str) -> str:
    shown = f" (…{secret.last_four})" if secret.last_four else ""
    return clean(f"{secret.name}{whose}{shown}")
