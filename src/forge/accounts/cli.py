"""`forge login`, `forge keys`, `forge secrets` and `forge members`."""

import sys

import click

from forge.accounts.models import (
    MAX_SECRET_LENGTH,
    ApiKey,
    CreatedInvitation,
    CreatedKey,
    Invitation,
    LoginLink,
    Me,
    Member,
    SecretView,
    check_secret_name,
    check_secret_value,
)
from forge.config import ClientSettings
from forge.errors import Invalid, NotFound
from forge.http.scope import Scope
from forge.kernel.clock import now
from forge.terminal.client import Client, connect, connect_to
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.location import checked_url, is_loopback, save_keys, saved_keys
from forge.terminal.lookup import choose, scope_of_bot
from forge.terminal.options import json_option, yes_option
from forge.terminal.output import Columns, dot, print_json
from forge.terminal.text import clean

_bot_option = click.option("--bot", metavar="BOT", help="Only for this bot (slug or id).")
_scope_option = click.option(
    "--scope", default="", help="Scope, as shown by `forge secrets list`. Default: shared by all."
)
_keys_table = Columns[ApiKey](
    {
        "NAME": "name",
        "STATUS": lambda key: dot("revoked" if key.revoked_at else "active"),
        "SCOPES": "scopes",
        "KEY": "hint",
        "USED": lambda key: key.last_used_at or "never",
        "ID": "id",
    },
    wrap={"NAME", "SCOPES"},
)
_secrets_table = Columns[SecretView](
    {
        "NAME": "name",
        "SCOPE": lambda secret: secret.scope or "everyone",
        "VALUE": lambda secret: f"…{secret.last_four}",
        "SOURCE": "source",
        "SAVED": "updated_at",
    },
    wrap={"NAME", "SCOPE"},
)


@click.command()
@click.argument("url", required=False)
@click.option("--key-stdin", is_flag=True, help="Read the API key from standard input instead of prompting.")
@click.option("--link", is_flag=True, help="Print a new one-time link for signing in with a browser.")
@click.option("--forget", is_flag=True, help="Delete the saved key for URL.")
@json_option
def login(url: str | None, key_stdin: bool, link: bool, forget: bool, as_json: bool) -> None:
    """Save an API key for the server at URL, so that commands on this machine use that server.

    Not needed for the user who started the server, on the machine where it runs.
    """
    if link:
        _print_link(url, as_json=as_json)
    elif url is None:
        raise click.UsageError("Pass the URL of the server (forge login URL), or --link.")
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
        click.echo(f"The link works once, until {link.expires_at.astimezone():%H:%M}.", err=True)


def _forget(url: str) -> None:
    data_dir = ClientSettings().data_dir
    keys = saved_keys(data_dir)
    if keys.pop(url, None) is None:
        known = ", ".join(sorted(keys)) or "none"
        raise NotFound(f"No API key is saved for {url}.", hint=f"Saved keys: {known}")
    save_keys(data_dir, keys)
    click.echo(
        f"Deleted the saved key for {url}. The key is still valid; to revoke it: forge keys revoke NAME",
        err=True,
    )


def _log_in(url: str, *, from_stdin: bool, as_json: bool) -> None:
    if url.startswith("http://") and not is_loopback(url):
        click.echo(
            f"warning: the connection to {url} is not encrypted; others on the network can read the key.",
            err=True,
        )
    key = _read_key(url, from_stdin=from_stdin)
    with connect_to(url, key) as client:
        me = client.get("/me", Me)
    data_dir = ClientSettings().data_dir
    save_keys(data_dir, {**saved_keys(data_dir), url: key})
    if as_json:
        print_json({"url": url, **me.model_dump()})
    else:
        click.echo(f"Logged in to {url} as {clean(me.account.name)} ({', '.join(me.scopes)}).")
        click.echo(f"If a Forge server also runs on this machine: export FORGE_URL={url}", err=True)


def _read_key(url: str, *, from_stdin: bool) -> str:
    key = (
        sys.stdin.readline() if from_stdin else click.prompt(f"API key for {url}", hide_input=True, err=True)
    )
    if not key.strip().isascii() or not key.strip():
        raise Invalid(
            "This is not an API key.", hint="Create one on the machine of the server: forge keys create NAME"
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
    help="Scope of the key; write includes read, admin includes both.",
)
@api_command
def create(client: Client, name: str, scopes: tuple[str, ...]) -> Result[CreatedKey]:
    """Create the API key NAME. It is shown only once."""
    created = client.post("/keys", CreatedKey, {"name": name, "scopes": list(scopes)})
    note = f"Save it now: it is not shown again. To revoke it: forge keys revoke {created.api_key.id}"
    return Result(created, created.key, note=note)


@keys.command("list")
@click.option("--all", "show_all", is_flag=True, help="Include revoked keys.")
@api_command
def list_keys(client: Client, show_all: bool) -> Result[list[ApiKey]]:
    """List API keys. The keys themselves are never shown."""
    found = [key for key in client.get("/keys", list[ApiKey]) if show_all or key.revoked_at is None]
    return Result(found, _keys_table, empty="No API keys. Create one: forge keys create NAME")


@keys.command()
@click.argument("key")
@yes_option
@api_command
def revoke(client: Client, key: str, yes: bool) -> Result[ApiKey]:
    """Revoke an API key, given by name, id or id prefix. Cannot be undone."""
    found = client.get("/keys", list[ApiKey])
    # A name refers to the key that is not revoked.
    chosen = choose(
        key, "key", found, lambda one: one.id, name_of=lambda one: "" if one.revoked_at else one.name
    )
    confirm(f"Revoke the key {chosen.name!r} ({chosen.hint})?", yes=yes)
    revoked = client.delete(f"/keys/{chosen.id}", ApiKey)
    return Result(revoked, f"Revoked the key {revoked.name}.")


@click.group()
def secrets() -> None:
    """Save, list and remove secrets."""


@secrets.command("set")
@click.argument("name")
@click.argument("value", nargs=-1, metavar="")
@_bot_option
@_scope_option
@click.option(
    "--stdin", "from_stdin", is_flag=True, help="Read the value from standard input without prompting."
)
@api_command
def set_secret(
    client: Client, name: str, value: tuple[str, ...], bot: str | None, scope: str, from_stdin: bool
) -> Result[SecretView]:
    """Save or replace the secret NAME. Prompts for the value without echoing it.

    If standard input is not a terminal, the value is read from it; a trailing line break is removed.
    """
    if value:  # arguments stay in the shell history; not repeated in the error, which may be logged
        raise click.UsageError(
            "Do not pass the value as an argument: omit it to be prompted, or use --stdin."
        )
    path, owner = _secret_path(name), _owner(bot, scope)
    secret = _read_value(name, from_stdin=from_stdin)
    saved = client.put(path, SecretView, {"value": secret, "scope": _scope(client, bot, scope)})
    return Result(saved, f"Saved the secret {_described(saved, owner)}.")


@secrets.command("list")
@api_command
def list_secrets(client: Client) -> Result[list[SecretView]]:
    """List saved secrets and the well-known ones from the server's environment. Values are never shown."""
    found = client.get("/secrets", list[SecretView])
    return Result(found, _secrets_table, empty="No secrets. Save one: forge secrets set NAME")


@secrets.command()
@click.argument("name")
@_bot_option
@_scope_option
@yes_option
@api_command
def remove(client: Client, name: str, bot: str | None, scope: str, yes: bool) -> Result[SecretView]:
    """Remove the secret NAME. Cannot be undone."""
    path, owner = _secret_path(name), _owner(bot, scope)
    confirm(f"Remove the secret {name}{owner}?", yes=yes)
    removed = client.delete(path, SecretView, {"scope": _scope(client, bot, scope)})
    return Result(removed, f"Removed the secret {_described(removed, owner)}.")


def _secret_path(name: str) -> str:
    check_secret_name(name)  # it becomes part of a URL
    return f"/secrets/{name}"


def _owner(bot: str | None, scope: str) -> str:
    if bot and scope:
        raise click.UsageError("Pass either --bot or --scope, not both.")
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
        raise Invalid("Standard input is not UTF-8 text.", field="value") from error
    return text.removesuffix("\n").removesuffix("\r")


def _described(secret: SecretView, owner: str) -> str:
    return f"{secret.name}{owner}{f' (…{secret.last_four})' if secret.last_four else ''}"


_members_table = Columns[Member](
    {
        "NAME": lambda member: member.account.name,
        "GITHUB": lambda member: member.github_login or "",
        "ROLE": lambda member: member.account.role,
        "STATUS": lambda member: dot("removed" if member.removed_at else "active"),
        "SINCE": lambda member: member.account.created_at,
        "ID": lambda member: member.account.id,
    },
    wrap={"NAME"},
)
_invitations_table = Columns[Invitation](
    {
        "FOR": lambda one: one.github_login or f"members of {', '.join(one.organizations)}",
        "STATUS": lambda one: dot(_invitation_status(one)),
        "EXPIRES": "expires_at",
        "ID": "id",
    },
    wrap={"FOR"},
)


@click.group()
def members() -> None:
    """Invite, list and remove the members of this server. Only for its owner."""


@members.command("list")
@api_command
def list_members(client: Client) -> Result[list[Member]]:
    """List the accounts of this server."""
    return Result(client.get("/members", list[Member]), _members_table)


@members.command()
@click.argument("login", required=False)
@click.option("--org", "organizations", multiple=True, help="Invite the members of a GitHub organization.")
@api_command
def invite(client: Client, login: str | None, organizations: tuple[str, ...]) -> Result[CreatedInvitation]:
    """Create an invitation link for the GitHub user LOGIN, or for organizations. It is valid for seven days."""
    wanted = {"github_login": login, "organizations": list(organizations)}
    created = client.post("/invitations", CreatedInvitation, wanted)
    note = "Send this link to the invited person: it is not shown again."
    return Result(created, created.url, note=note)


@members.command()
@api_command
def invitations(client: Client) -> Result[list[Invitation]]:
    """List invitations."""
    found = client.get("/invitations", list[Invitation])
    return Result(found, _invitations_table, empty="No invitations. Create one: forge members invite LOGIN")


@members.command("revoke")
@click.argument("invitation")
@api_command
def revoke_invitation(client: Client, invitation: str) -> Result[Invitation]:
    """Revoke an invitation, given by id or id prefix."""
    found = client.get("/invitations", list[Invitation])
    chosen = choose(
        invitation, "invitation", found, lambda one: one.id, name_of=lambda one: one.github_login or ""
    )
    return Result(client.delete(f"/invitations/{chosen.id}", Invitation), "Revoked the invitation.")


@members.command("remove")
@click.argument("member")
@yes_option
@api_command
def remove_member(client: Client, member: str, yes: bool) -> Result[Member]:
    """Remove a member, given by name, GitHub login, id or id prefix. The data is kept."""
    found = client.get("/members", list[Member])
    chosen = choose(
        member,
        "member",
        found,
        lambda one: one.account.id,
        name_of=lambda one: one.github_login or one.account.name,
    )
    confirm(f"Remove {chosen.account.name}? Sessions, keys and runs end at once.", yes=yes)
    removed = client.delete(f"/members/{chosen.account.id}", Member)
    return Result(removed, f"Removed {removed.account.name}.")


def _invitation_status(invitation: Invitation) -> str:
    if invitation.revoked_at is not None:
        return "revoked"
    if invitation.github_login is not None and invitation.used_at is not None:
        return "used"
    return "expired" if invitation.expires_at <= now() else "open"
