"""`forge github`: connect this account to GitHub, or serve a GitHub double on this machine."""

import sys
import time
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import click

from forge.errors import ConfigError, Conflict, Invalid
from forge.github.models import (
    DeviceCode,
    DeviceProgress,
    GithubConfiguration,
    GithubConnection,
    Grant,
)
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.entry import wait_for_signal
from forge.terminal.inputs import confirm
from forge.terminal.options import yes_option
from forge.terminal.output import working
from forge.terminal.text import clean

TOKEN_PAGE = "/settings/personal-access-tokens/new"  # noqa: S105  # a path
_MARKS = {True: "yes", False: "no", None: "unknown: the token reaches no repository you may push to"}


READY = """\
The GitHub double is running at {url}
Nothing leaves this machine. When it stops, everything but the folder of repositories is gone.

It has the user octo, the organization acme, and the repositories octo/hello (public) and acme/shop (private).
To use it in Forge, start the server with

    FORGE_GITHUB_URL={url}
    GITHUB_CLIENT_ID={client_id}
    GITHUB_CLIENT_SECRET={client_secret}

A token of octo for the API and for git: {token}
docs/guides/github-double.md describes how to add users, repositories and faults. Press Ctrl-C to stop.
"""


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


@github.command()
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8020, help="Port (default 8020; 0 for any free port)."
)
@click.option(
    "--folder",
    type=click.Path(path_type=Path, file_okay=False),
    help="An empty folder for the git repositories (default: a temporary one).",
)
def serve(port: int, folder: Path | None) -> None:
    """Start a GitHub double: sign-in pages, REST API, webhooks and git on one local address."""
    from forge.demo.github.server import CLIENT_ID, CLIENT_SECRET, create_default_world, open_github_double

    if folder and folder.exists() and any(folder.iterdir()):
        raise ConfigError([f"{folder} is not empty."], hint="Choose another folder: --folder.")
    with ExitStack() as stack:
        path = folder or Path(stack.enter_context(TemporaryDirectory(prefix="github-")))
        try:
            path.mkdir(parents=True, exist_ok=True)
            double = stack.enter_context(open_github_double(path, port=port))
        except OSError as error:
            hint = "Choose another port or folder: --port, --folder."
            raise ConfigError([f"cannot start: {error}"], hint=hint) from error
        token = create_default_world(double)
        click.echo(
            READY.format(url=double.url, client_id=CLIENT_ID, client_secret=CLIENT_SECRET, token=token)
        )
        wait_for_signal()


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
