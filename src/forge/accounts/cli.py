"""`forge login` and `forge keys`."""

import sys
from collections.abc import Iterable

import click

from forge.accounts.models import ApiKey, CreatedKey, LoginLink, Me
from forge.config import ClientSettings
from forge.errors import Invalid, NotFound
from forge.http.scope import Scope
from forge.kernel.clock import now
from forge.terminal.asking import be_sure
from forge.terminal.choice import choose, only
from forge.terminal.client import connect, connect_to
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import console, dot, print_json, table, words
from forge.terminal.place import checked_url, is_loopback, save_keys, saved_keys
from forge.terminal.text import ago, clean


@click.command()
@click.argument("url", required=False)
@click.option(
    "--key-stdin", is_flag=True, help="Read the API key from standard input instead of asking for it."
)
@click.option("--link", is_flag=True, help="Print a new one-time link that signs a browser in.")
@click.option("--forget", is_flag=True, help="Delete the saved key of URL.")
@json_option
def login(url: str | None, key_stdin: bool, link: bool, forget: bool, as_json: bool) -> None:
    """Connect this terminal to the server at URL with an API key, which is saved for this user only.

    On the machine that runs the server, as the user who started it, there is nothing to log in to.
    """
    if link:
        _print_link(url, as_json=as_json)
    elif url is None:
        raise click.UsageError("Say where the server is (forge login URL), or ask for --link.")
    elif forget:
        _forget(checked_url(url))
    else:
        _log_in(checked_url(url), from_stdin=key_stdin, as_json=as_json)


def _print_link(url: str | None, *, as_json: bool) -> None:
    settings = ClientSettings() if url is None else ClientSettings(url=url)
    with connect(settings) as client:
        link = client.post("/login-links", LoginLink)
    if as_json:
        print_json(link)
    else:
        click.echo(clean(link.url))
        click.echo(f"Opens one session; good until {link.expires_at.astimezone():%H:%M}.", err=True)


def _forget(url: str) -> None:
    data_dir = ClientSettings().data_dir
    keys = saved_keys(data_dir)
    if keys.pop(url, None) is None:
        known = ", ".join(sorted(keys)) or "none"
        raise NotFound(f"There is no saved key for {url}.", hint=f"Saved are: {known}")
    save_keys(data_dir, keys)
    click.echo(f"Forgot the key for {url}. It still works; to end that: forge keys revoke NAME", err=True)


def _log_in(url: str, *, from_stdin: bool, as_json: bool) -> None:
    if url.startswith("http://") and not is_loopback(url):
        click.echo(f"warning: {url} is not encrypted; anybody on the way can read the key.", err=True)
    key = _read_key(url, from_stdin=from_stdin)
    with connect_to(url, key) as client:
        me = client.get("/me", Me)
    data_dir = ClientSettings().data_dir
    save_keys(data_dir, {**saved_keys(data_dir), url: key})
    if as_json:
        print_json({"url": url, **me.model_dump()})
    else:
        click.echo(f"Logged in to {url} as {clean(me.account.name)} ({', '.join(me.scopes)}).")
        click.echo(f"To use it while a Forge runs on this machine: export FORGE_URL={url}", err=True)


def _read_key(url: str, *, from_stdin: bool) -> str:
    key = (
        sys.stdin.readline() if from_stdin else click.prompt(f"API key for {url}", hide_input=True, err=True)
    )
    if not key.strip().isascii() or not key.strip():
        raise Invalid(
            "That is not an API key.", hint="Make one where the server runs: forge keys create NAME"
        )
    return key.strip()


@click.group()
def keys() -> None:
    """Create, list and revoke API keys."""


@keys.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice([scope.value for scope in Scope]),
    default=[Scope.WRITE.value],
    show_default=True,
    help="What the key may do; write includes read, admin includes both.",
)
@json_option
def create(name: str, scopes: tuple[str, ...], as_json: bool) -> None:
    """Make a key called NAME. It is shown this once only."""
    with connect() as client:
        created = client.post("/keys", CreatedKey, {"name": name, "scopes": list(scopes)})
    if as_json:
        print_json(created)
    else:
        click.echo(created.key)
        click.echo(
            "This is the only time it is shown. Revoke it: forge keys revoke " + created.api_key.id, err=True
        )


@keys.command("list")
@click.option("--all", "show_all", is_flag=True, help="Also those that were revoked.")
@json_option
def list_keys(show_all: bool, as_json: bool) -> None:
    """List your keys; never the keys themselves."""
    with connect() as client:
        found = client.get("/keys", list[ApiKey])
    shown = [key for key in found if show_all or key.revoked_at is None]
    if as_json:
        print_json(shown)
    elif not shown:
        click.echo("There are no keys. Make one: forge keys create NAME", err=True)
    else:
        _print_keys(shown)


def _print_keys(shown: Iterable[ApiKey]) -> None:
    rows = table("NAME", "STATUS", "SCOPES", "KEY", "USED", "ID", wrapped={"NAME", "SCOPES"})
    for key in shown:
        rows.add_row(
            words(key.name),
            dot("revoked" if key.revoked_at else "active"),
            ", ".join(key.scopes),
            words(key.hint),
            ago(key.last_used_at, now()) if key.last_used_at else "never",
            words(key.id),
        )
    console().print(rows)


@keys.command()
@click.argument("key")
@yes_option
@json_option
def revoke(key: str, yes: bool, as_json: bool) -> None:
    """End a key, named by its id, the beginning of its id, or its name. Cannot be undone."""
    with connect() as client:
        chosen = _choose(key, client.get("/keys", list[ApiKey]))
        if not yes:
            be_sure(f"Revoke the key {chosen.name!r} ({chosen.hint})?")
        revoked = client.delete(f"/keys/{chosen.id}", ApiKey)
    if as_json:
        print_json(revoked)
    else:
        click.echo(f"Revoked the key {clean(revoked.name)}.")


def _choose(given: str, found: list[ApiKey]) -> ApiKey:
    """A name means the key that still works; an id means that key and no other."""
    if named := [key for key in found if key.name == given and key.revoked_at is None]:
        return only(named, given, "key", lambda key: key.id)
    return choose(given, "key", found, lambda key: key.id)
