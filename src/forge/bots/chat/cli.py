"""`forge chat`."""

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager

import click

from forge.bots.chat.lookup import find_session, latest_sessions
from forge.bots.chat.models import Message, Session
from forge.bots.chat.prompting import Prompting
from forge.bots.chat.show import LiveView, NoView, PlainView, View, print_end
from forge.bots.chat.talk import ChatView, Talk
from forge.bots.lookup import find_bot
from forge.bots.models import BotView, MessageStatus
from forge.errors import Invalid
from forge.terminal.client import Client, connect
from forge.terminal.options import json_option
from forge.terminal.output import console, print_json


@click.command()
@click.argument("bot")
@click.argument("message", required=False)
@click.option("--session", metavar="ID", help="Continue this conversation (id or id prefix).")
@click.option("--last", "which", flag_value="last", help="Continue the latest conversation.")
@click.option("--new", "which", flag_value="new", help="Start a new conversation. This is the default.")
@json_option
@click.option("--quiet", is_flag=True, help="Print only the answer, without model, cost and time.")
@click.pass_context
def chat(
    ctx: click.Context,
    bot: str,
    message: str | None,
    session: str | None,
    which: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Chat with BOT. With a MESSAGE or piped input: ask once, print the answer and exit.

    Piped input is appended to the MESSAGE. Exit code 0: answered, 1: failed. Ctrl-C stops the answer; the part
    written so far is kept.
    """
    if session is not None and which is not None:
        raise click.UsageError(f"--session and --{which} exclude each other.")
    asked = _question(message)
    if asked is None and as_json:
        raise click.UsageError("--json needs a MESSAGE, or one that is piped in.")
    with connect() as client:
        found = find_bot(client, bot)
        talk = Talk(client, found, lambda: _view(as_json=as_json))
        chosen = _choose(client, found, session, is_last=which == "last")
        if asked is None:
            Prompting(ChatView(talk, console(), is_quiet=quiet)).go_on(chosen)
        else:
            with _reader_may_leave(ctx):
                answer = _ask_once(talk, chosen, asked)
                _print(answer, as_json=as_json, is_quiet=quiet)
            ctx.exit(_exit_code(answer))


def _question(message: str | None) -> str | None:
    """None when somebody sits in front of it."""
    is_piped = not sys.stdin.isatty()
    if message is None and not is_piped and sys.stdout.isatty():
        return None
    try:
        piped = sys.stdin.read() if is_piped or message is None else ""
        text = "\n\n".join(part for part in (message or "", piped.rstrip()) if part.strip())
        text.encode()
    except UnicodeError as error:
        raise Invalid("This is not text in UTF-8.") from error
    if not text:
        raise Invalid("There is nothing to say.", hint='Say it: forge chat BOT "…", or pipe it in.')
    return text


def _view(*, as_json: bool) -> View:
    if as_json:
        return NoView()
    return LiveView(console()) if sys.stdout.isatty() else PlainView()


def _choose(client: Client, bot: BotView, session: str | None, *, is_last: bool) -> Session | None:
    if session is not None:
        return find_session(client, bot, session)
    return next(iter(latest_sessions(client, bot, 1)), None) if is_last else None


def _ask_once(talk: Talk, session: Session | None, text: str) -> Message:
    talk.session = session
    try:
        return talk.ask(text)
    finally:
        talk.leave()


def _print(answer: Message, *, as_json: bool, is_quiet: bool) -> None:
    if as_json:
        print_json(answer)
    elif answer.error or not is_quiet:
        print_end(answer, console(stderr=True))
    if not as_json and not is_quiet:
        click.echo(f"Go on with it: --session {answer.session_id}", err=True)


def _exit_code(answer: Message) -> int:
    return {MessageStatus.DONE: 0, MessageStatus.STOPPED: 130}.get(answer.status, 1)


@contextmanager
def _reader_may_leave(ctx: click.Context) -> Generator[None]:
    """Whoever reads the answer through a pipe may have enough of it, as `head` does."""
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # Python flushes once more at its end, and would complain then.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        ctx.exit(1)
