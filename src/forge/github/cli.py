"""`forge github`: connect this account to GitHub."""

import sys
import time

import click

from forge.errors import Conflict, Invalid
from forge.github.models import (
    DeviceCode,
    DeviceProgress,
    GithubConfiguration,
    GithubConnection,
    Grant,
)
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.options import yes_option
from forge.terminal.output import working
from forge.terminal.text import clean

TOKEN_PAGE = "/settings/personal-access-tokens/new"  # noqa: S105  # a path
_MARKS = {True: "yes", False: "no", None: "unknown: the token reaches no repository you may push to"}


@click.group()
def github() -> None:
    """Connect Forge to GitHub."""


@github.command()
@click.option(
    "--token", "use_token", is_flag=True, help="Use a token you created, even if an OAuth app is configured."
)
@click.option("--token-stdin", is_flag=True, help="Read the token from standard input.")
@api_command
def login(client: Client, use_token: bool, token_stdin: bool) -> Result[GithubConnection]:
    """Connect your account to GitHub, and show what GitHub allows.

    With an OAuth app (GITHUB_CLIENT_ID) you confirm a code in the browser. Without one you are asked for a fine-grained
    personal access token.
    """
    configuration = client.get("/auth/configuration", GithubConfiguration)
    if token_stdin or use_token or not configuration.can_use_device_flow:
        token = sys.stdin.readline() if token_stdin else _ask_for_token(configuration.url)
        if not token.strip():
            raise Invalid("No token was given.")
        with working("Checking the token at GitHub"):
            connection = client.put("/github/token", GithubConnection, {"token": token.strip()})
    else:
        connection = _by_device(client)
    return Result(connection, _described(connection))


@github.command()
@api_command
def status(client: Client) -> Result[GithubConnection]:
    """Show the GitHub user you are connected as, and what GitHub allows."""
    connection = client.get("/github", GithubConnection)
    return Result(connection, _described(connection), exit_code=0 if connection.token_kind else 5)


@github.command()
@yes_option
@api_command
def logout(client: Client, yes: bool) -> Result[GithubConnection]:
    """Delete the stored GitHub token. Revoke it at GitHub as well if it may be known to others."""
    confirm("Disconnect from GitHub?", yes=yes)
    connection = client.delete("/github/token", GithubConnection)
    return Result(connection, "Disconnected from GitHub.")


def _ask_for_token(url: str) -> str:
    click.echo(f"Create a fine-grained token at {clean(url)}{TOKEN_PAGE}", err=True)
    click.echo(
        "with the repository permissions Contents, Commit statuses and Webhooks (read and write).", err=True
    )
    return click.prompt("Token", hide_input=True, err=True)


def _by_device(client: Client) -> GithubConnection:
    code = client.post("/github/device", DeviceCode)
    click.echo(f"Open {clean(code.verification_uri)} and enter {clean(code.user_code)}", err=True)
    deadline = time.monotonic() + code.expires_in_s
    wait = code.interval_s
    with working("Waiting for your confirmation at GitHub"):
        while time.monotonic() < deadline:
            time.sleep(wait)
            progress = client.post("/github/device/poll", DeviceProgress, {"device_code": code.device_code})
            if progress.connection is not None:
                return progress.connection
            wait = max(wait, progress.interval_s)
    raise Conflict("The code has expired.", hint="Start again: forge github login")


def _described(connection: GithubConnection) -> str:
    if connection.identity is None or connection.token_kind is None:
        return "Not connected to GitHub. Connect: forge github login"
    lines = [f"Connected to {connection.configuration.url} as {connection.identity.login}."]
    if connection.problem is not None:
        return "\n".join([*lines, f"The token cannot be used: {connection.problem}"])
    return clean("\n".join([*lines, *map(_line, connection.grants)]))


def _line(grant: Grant) -> str:
    return f"  {grant.text}: {_MARKS[grant.granted]}"
