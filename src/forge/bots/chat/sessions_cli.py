"""`forge bots sessions`."""

import sys
from pathlib import Path

import click

from forge.bots.chat.choice import find_session, latest_sessions
from forge.bots.chat.export_file import fetch_export, save_export
from forge.bots.chat.models import Message, SearchHit, Session
from forge.bots.chat.show import hits_page, print_conversation, sessions_table
from forge.bots.choice import find_bot
from forge.terminal.asking import be_sure
from forge.terminal.client import connect
from forge.terminal.options import json_option, limit_option, yes_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean


@click.group()
def sessions() -> None:
    """List, read, search, name, export and delete conversations with a bot."""


@sessions.command("list")
@click.argument("bot")
@limit_option
@json_option
def list_sessions(bot: str, limit: int, as_json: bool) -> None:
    """List the conversations with a BOT, the latest first."""
    with connect() as client:
        found = latest_sessions(client, find_bot(client, bot), limit)
    if as_json:
        print_json(found)
    elif not found:
        click.echo(f"There are no conversations. Begin one: forge chat {clean(bot)}", err=True)
    else:
        console().print(sessions_table(found))


@sessions.command()
@click.argument("bot")
@click.argument("session")
@json_option
def show(bot: str, session: str, as_json: bool) -> None:
    """Show what was said in a conversation: the branch that is shown elsewhere, too."""
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
@click.option("--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="How many at most.")
@json_option
def search(bot: str, text: str, limit: int, as_json: bool) -> None:
    """Find messages that have all words of TEXT; the last word may be only begun."""
    with connect() as client:
        asked = {"q": text, "limit": limit}
        hits = client.get(f"/bots/{find_bot(client, bot).slug}/search", list[SearchHit], asked)
    if as_json:
        print_json(hits)
    elif not hits:
        click.echo("Nothing was found.", err=True)
    else:
        console().print(hits_page(hits))


@sessions.command()
@click.argument("bot")
@click.argument("session")
@click.argument("title")
@json_option
def rename(bot: str, session: str, title: str, as_json: bool) -> None:
    """Give a conversation a TITLE."""
    with connect() as client:
        chosen = find_session(client, find_bot(client, bot), session)
        named = client.patch(f"/sessions/{chosen.id}", Session, {"title": title})
    if as_json:
        print_json(named)
    else:
        click.echo(f"It is called {clean(named.title)}.")


@sessions.command()
@click.argument("bot")
@click.argument("session")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="A new file for it.")
@json_option
def export(bot: str, session: str, output: Path | None, as_json: bool) -> None:
    """Print a conversation as Markdown, with --json as JSON; or save it."""
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
@json_option
def delete(bot: str, session: str, yes: bool, as_json: bool) -> None:
    """Delete a conversation for good. What the bot has taken into its memory stays there."""
    with connect() as client:
        chosen = find_session(client, find_bot(client, bot), session)
        if not yes:
            what = f"{clean(chosen.title)!r} with {chosen.messages} messages"
            be_sure(f"Delete {what} for good?")
        deleted = client.delete(f"/sessions/{chosen.id}", Session)
    if as_json:
        print_json(deleted)
    else:
        click.echo(f"Deleted {clean(deleted.title)}.")
