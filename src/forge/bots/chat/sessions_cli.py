"""`forge bots sessions`."""

import sys
from pathlib import Path

import click

from forge.bots.chat.lookup import fetch_export, find_session, latest_sessions, save_export
from forge.bots.chat.models import Message, SearchHit, Session
from forge.bots.chat.show import hits_page, print_conversation, sessions_table
from forge.bots.lookup import find_bot
from forge.terminal.client import Client, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.options import json_option, limit_option, yes_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean


@click.group()
def sessions() -> None:
    """List, read, search, rename, export and delete conversations with a bot."""


@sessions.command("list")
@click.argument("bot")
@limit_option
@api_command
def list_sessions(client: Client, bot: str, limit: int) -> Result[list[Session]]:
    """List conversations with BOT, latest first."""
    found = latest_sessions(client, find_bot(client, bot), limit)
    empty = f"There are no conversations. Begin one: forge chat {clean(bot)}"
    return Result(found, sessions_table, empty=empty)


@sessions.command()
@click.argument("bot")
@click.argument("session")
@json_option
def show(bot: str, session: str, as_json: bool) -> None:
    """Show the messages of a conversation, on its current branch."""
    with connect() as client:
        found = find_bot(client, bot)
        chosen = find_session(client, found, session)
        messages = client.get(f"/sessions/{chosen.id}/messages", list[Message])
    if as_json:
        print_json(messages)
    else:
        print_conversation(chosen, messages, found.identity.display_name, console())


@sessions.command()
@click.argument("bot")
@click.argument("text")
@click.option(
    "--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Maximum number of results."
)
@api_command
def search(client: Client, bot: str, text: str, limit: int) -> Result[list[SearchHit]]:
    """Find messages that contain all words of TEXT; the last word may be a prefix."""
    path = f"/bots/{find_bot(client, bot).slug}/search"
    hits = client.get(path, list[SearchHit], {"q": text, "limit": limit})
    return Result(hits, hits_page, empty="Nothing was found.")


@sessions.command()
@click.argument("bot")
@click.argument("session")
@click.argument("title")
@api_command
def rename(client: Client, bot: str, session: str, title: str) -> Result[Session]:
    """Change the title of a conversation."""
    chosen = find_session(client, find_bot(client, bot), session)
    named = client.patch(f"/sessions/{chosen.id}", Session, {"title": title})
    return Result(named, f"It is called {named.title}.")


@sessions.command()
@click.argument("bot")
@click.argument("session")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this new file.")
@json_option
def export(bot: str, session: str, output: Path | None, as_json: bool) -> None:
    """Print a conversation as Markdown (with --json as JSON), or write it to a file."""
    with connect() as client:
        chosen = find_session(client, find_bot(client, bot), session)
        text = fetch_export(client, chosen.id, as_json=as_json)
    if output is not None:
        save_export(output, text)
        click.echo(f"Saved as {output}.", err=True)
    else:
        click.echo(clean(text) if sys.stdout.isatty() else text, nl=False)


@sessions.command()
@click.argument("bot")
@click.argument("session")
@yes_option
@api_command
def delete(client: Client, bot: str, session: str, yes: bool) -> Result[Session]:
    """Delete a conversation permanently. Facts the bot has already remembered are kept."""
    chosen = find_session(client, find_bot(client, bot), session)
    confirm(f"Delete {clean(chosen.title)!r} with {chosen.messages} messages for good?", yes=yes)
    deleted = client.delete(f"/sessions/{chosen.id}", Session)
    return Result(deleted, f"Deleted {deleted.title}.")
