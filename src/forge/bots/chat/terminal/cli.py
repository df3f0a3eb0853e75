"""`forge chat` and `forge bots sessions`."""

import os
import sys
from pathlib import Path

import click

from forge.bots.chat.models import Message, SearchHit, Session
from forge.bots.chat.terminal.answer_stream import AnswerView
from forge.bots.chat.terminal.chat_output import (
    LiveView,
    PlainView,
    QuietView,
    conversation_page,
    footer_page,
    search_results,
    sessions_table,
)
from forge.bots.chat.terminal.chat_prompt import ChatPrompt
from forge.bots.chat.terminal.conversation import Conversation, ConversationView
from forge.bots.chat.terminal.session_lookup import fetch_export, find_session, latest_sessions, save_export
from forge.bots.lookup import find_bot
from forge.bots.models import MessageStatus
from forge.errors import Invalid
from forge.terminal.client import Client
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import confirm
from forge.terminal.options import limit_option, yes_option
from forge.terminal.output import console, print_json
from forge.terminal.text import clean


@click.command()
@click.option("--session", metavar="ID", help="Continue this conversation (id or id prefix).")
@click.option("--last", "which", flag_value="last", help="Continue the latest conversation.")
@click.option("--new", "which", flag_value="new", help="Start a new conversation. This is the default.")
@click.option("--quiet", is_flag=True, help="Print only the answer, without model, cost and time.")
@api_command
def chat(
    client: Client,
    bot: str,
    message: str | None = None,
    /,
    *,
    session: str | None,
    which: str | None,
    as_json: bool,
    quiet: bool,
) -> int:
    """Chat with BOT. With a MESSAGE or piped input: ask once, print the answer and exit.

    Piped input is appended to the MESSAGE. Exit code 0: answered, 1: failed. Ctrl-C stops the answer; the part
    written so far is kept.
    """
    if session is not None and which is not None:
        raise click.UsageError(f"--session and --{which} cannot be used together.")
    question = _read_question(message)
    if question is None and as_json:
        raise click.UsageError("--json requires a MESSAGE or piped input.")
    found = find_bot(client, bot)
    conversation = Conversation(client, found, lambda: _answer_view(as_json=as_json))
    chosen = find_session(client, found, session) if session is not None else None
    if which == "last":
        chosen = next(iter(latest_sessions(client, found, 1)), None)
    if question is None:
        ChatPrompt(ConversationView(conversation, console(), is_quiet=quiet)).run(chosen)
        return 0
    try:
        return _ask_once(conversation, chosen, question, as_json=as_json, is_quiet=quiet)
    except BrokenPipeError:  # the reader of the answer closed the pipe, as `head` does
        # Python flushes standard output again when it exits, which would print an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


def _read_question(message: str | None) -> str | None:
    """Return the message with piped input appended; None in an interactive terminal."""
    is_piped = not sys.stdin.isatty()
    if message is None and not is_piped and sys.stdout.isatty():
        return None
    try:
        piped = sys.stdin.read() if is_piped or message is None else ""
        text = "\n\n".join(part for part in (message or "", piped.rstrip()) if part.strip())
        text.encode()
    except UnicodeError as error:
        raise Invalid("The input is not valid UTF-8.") from error
    if not text:
        raise Invalid("The message is empty.", hint='Pass a message: forge chat BOT "…", or pipe it in.')
    return text


def _answer_view(*, as_json: bool) -> AnswerView:
    if as_json:
        return QuietView()
    return LiveView(console()) if sys.stdout.isatty() else PlainView()


def _ask_once(
    conversation: Conversation, session: Session | None, text: str, *, as_json: bool, is_quiet: bool
) -> int:
    """Ask, print the answer, and return the exit code."""
    conversation.session = session
    try:
        answer = conversation.ask(text)
    finally:
        conversation.leave()
    if as_json:
        print_json(answer)
    elif answer.error or not is_quiet:
        console(stderr=True).print(footer_page(answer))
    if not as_json and not is_quiet:
        click.echo(f"Continue with: --session {answer.session_id}", err=True)
    sys.stdout.flush()
    return {MessageStatus.DONE: 0, MessageStatus.STOPPED: 130}.get(answer.status, 1)


@click.group()
def sessions() -> None:
    """List, read, search, rename, export and delete conversations with a bot."""


@sessions.command("list")
@limit_option
@api_command
def list_sessions(client: Client, bot: str, /, *, limit: int) -> Result[list[Session]]:
    """List conversations with BOT, latest first."""
    found = latest_sessions(client, find_bot(client, bot), limit)
    return Result(
        found, sessions_table, empty=f"No conversations yet. Start one with: forge chat {clean(bot)}"
    )


@sessions.command()
@api_command
def show(client: Client, bot: str, session: str, /) -> Result[list[Message]]:
    """Show the messages of a conversation, on its current branch."""
    found = find_bot(client, bot)
    chosen = find_session(client, found, session)
    messages = client.get(f"/sessions/{chosen.id}/messages", list[Message])
    page = conversation_page(chosen, messages, found.identity.display_name)
    return Result(messages, lambda _: page)


@sessions.command()
@click.option(
    "--limit", type=click.IntRange(1, 200), default=20, show_default=True, help="Maximum number of results."
)
@api_command
def search(client: Client, bot: str, text: str, /, *, limit: int) -> Result[list[SearchHit]]:
    """Find messages that contain all words of TEXT; the last word may be a prefix."""
    path = f"/bots/{find_bot(client, bot).slug}/search"
    hits = client.get(path, list[SearchHit], {"q": text, "limit": limit})
    return Result(hits, search_results, empty="No matching messages.")


@sessions.command()
@api_command
def rename(client: Client, bot: str, session: str, title: str, /) -> Result[Session]:
    """Change the title of a conversation."""
    chosen = find_session(client, find_bot(client, bot), session)
    renamed = client.patch(f"/sessions/{chosen.id}", Session, {"title": title})
    return Result(renamed, f"Renamed to {renamed.title}.")


@sessions.command()
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="Write to this new file.")
@api_command
def export(client: Client, bot: str, session: str, /, *, output: Path | None, as_json: bool) -> int:
    """Print a conversation as Markdown (with --json as JSON), or write it to a file."""
    chosen = find_session(client, find_bot(client, bot), session)
    text = fetch_export(client, chosen.id, as_json=as_json)
    if output is not None:
        save_export(output, text)
    else:
        click.echo(clean(text) if sys.stdout.isatty() else text, nl=False)
    return 0


@sessions.command()
@yes_option
@api_command
def delete(client: Client, bot: str, session: str, /, *, yes: bool) -> Result[Session]:
    """Delete a conversation permanently. Facts the bot has already remembered are kept."""
    chosen = find_session(client, find_bot(client, bot), session)
    confirm(f"Delete {clean(chosen.title)!r} with {chosen.messages} messages permanently?", yes=yes)
    return Result(client.delete(f"/sessions/{chosen.id}", Session), f"Deleted {chosen.title}.")
