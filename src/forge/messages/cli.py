"""`forge message`."""

import json
from typing import Any
from urllib.parse import quote

import click

from forge.bots.choice import find_bot
from forge.errors import Invalid
from forge.messages.models import LONGEST_WAIT_S, BotMessage, Channel, Sent, as_text
from forge.messages.show import channels_table, history_page, message_page, outcome
from forge.terminal.choice import find_id
from forge.terminal.client import TIMEOUT_S, Client, connect
from forge.terminal.given import PIPE, read_pipe
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import console, print_json, words, working


@click.group()
def message() -> None:
    """Send messages to bots and channels, and read what they wrote to each other."""


@message.command()
@click.argument("text")
@click.option("--to", metavar="BOT", help="The bot it goes to.")
@click.option("--channel", metavar="NAME", help="Instead: all bots that listen to this channel.")
@click.option("--from", "speak_as", metavar="BOT", help="Speak as one of your bots.")
@click.option(
    "--type",
    "message_type",
    default="text",
    show_default=True,
    help="What kind of message: text, question, delegation, information, status_update or a word of yours.",
)
@click.option("--reply-to", metavar="ID", help="The message this one answers.")
@click.option("--wait", is_flag=True, help="Wait for the reply and print it.")
@click.option(
    "--timeout",
    type=click.FloatRange(1, LONGEST_WAIT_S),
    default=30,
    show_default=True,
    help="How many seconds to wait.",
)
@json_option
@click.pass_context
def send(ctx: click.Context, text: str, wait: bool, timeout: float, as_json: bool, **given: Any) -> None:
    """Send TEXT to a bot or a channel. `-` reads it from standard input; a JSON object or list is sent as such.

    Exit code 0 when it was sent, and with --wait when there is a reply; 1 when there is none.
    """
    if (given["to"] is None) == (given["channel"] is None):
        raise click.UsageError("Say where it goes: --to BOT or --channel NAME.")
    if wait and given["to"] is None:
        raise click.UsageError("--wait needs --to: only the reply of one bot can be waited for.")
    body = _body(read_pipe() if text == PIPE else text)
    with connect() as client:
        new = {"body": body, "wait": wait, "timeout_secs": timeout, **_named(client, given)}
        with working("Waiting for the reply" if wait else "Sending"):
            sent = client.post("/messages", Sent, new, within_s=TIMEOUT_S + (timeout if wait else 0))
    _print(sent, wait=wait, as_json=as_json)
    ctx.exit(1 if wait and sent.reply is None else 0)


@message.command()
@click.argument("bot")
@click.argument("other", required=False)
@limit_option
@json_option
def history(bot: str, other: str | None, limit: int, as_json: bool) -> None:
    """Show what BOT sent and got, or what it and OTHER wrote to each other, the oldest first."""
    with connect() as client:
        which = {"bot": find_bot(client, bot).slug, "with": find_bot(client, other).slug if other else None}
        _print_history(list(client.pages("/messages", BotMessage, limit, which)), as_json=as_json)


@message.command("channel-history")
@click.argument("name")
@limit_option
@json_option
def channel_history(name: str, limit: int, as_json: bool) -> None:
    """Show what was said in the channel NAME, the oldest first."""
    with connect() as client:
        found = list(client.pages("/messages", BotMessage, limit, {"channel": name}))
    _print_history(found, as_json=as_json)


@message.command()
@click.argument("id")
@json_option
def show(id: str, as_json: bool) -> None:
    """Show a message and what became of it."""
    with connect() as client:
        found = client.get(f"/messages/{_find(client, id)}", BotMessage)
    if as_json:
        print_json(found)
    else:
        console().print(message_page(found))


@message.command()
@json_option
def channels(as_json: bool) -> None:
    """List the channels, and the bots that listen to them."""
    with connect() as client:
        found = client.get("/message-channels", list[Channel])
    if as_json:
        print_json(found)
    elif not found:
        click.echo("There are no channels. Make one: forge message subscribe BOT NAME", err=True)
    else:
        console().print(channels_table(found))


@message.command()
@click.argument("bot")
@click.argument("channel")
@json_option
def subscribe(bot: str, channel: str, as_json: bool) -> None:
    """Let BOT listen to CHANNEL; it is made if there is none."""
    with connect() as client:
        found = client.put(_place(client, channel, bot), Channel, {})
    _print_channel(found, as_json=as_json)


@message.command()
@click.argument("bot")
@click.argument("channel")
@json_option
def unsubscribe(bot: str, channel: str, as_json: bool) -> None:
    """Let BOT listen to CHANNEL no more."""
    with connect() as client:
        found = client.delete(_place(client, channel, bot), Channel)
    _print_channel(found, as_json=as_json)


def _find(client: Client, given: str) -> str:
    return find_id(client, given, "message", "/messages", listed_by="message history BOT")


def _place(client: Client, channel: str, bot: str) -> str:
    return f"/message-channels/{quote(channel, safe='')}/bots/{find_bot(client, bot).slug}"


def _body(text: str) -> Any:
    """An object or a list is meant as JSON; everything else is text, numbers too."""
    if not text.strip():
        raise Invalid("There is nothing to say.")
    if text.lstrip()[0] in "{[":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


def _named(client: Client, given: dict[str, Any]) -> dict[str, Any]:
    bots = {"to": given.pop("to"), "from": given.pop("speak_as")}
    found = {name: find_bot(client, bot).slug for name, bot in bots.items() if bot is not None}
    if given["reply_to"] is not None:
        found["reply_to"] = _find(client, given["reply_to"])
    return {**{name: value for name, value in given.items() if value is not None}, **found}


def _print(sent: Sent, *, wait: bool, as_json: bool) -> None:
    if as_json:
        print_json(sent)
    elif sent.reply is not None:
        console().print(words(as_text(sent.reply.body)))
    elif sent.is_late:
        click.echo(f"There is no reply yet. Look later: forge message show {sent.message.id}", err=True)
    elif wait:
        console(stderr=True).print(outcome(sent.message))
    else:
        count = len(sent.message.deliveries)
        console().print(words(f"Sent to {count} bot{'' if count == 1 else 's'}. {sent.message.id}"))


def _print_history(newest_first: list[BotMessage], *, as_json: bool) -> None:
    found = newest_first[::-1]
    if as_json:
        print_json(found)
    elif not found:
        click.echo('There are no messages. Send one: forge message send --to BOT "…"', err=True)
    else:
        console().print(history_page(found))


def _print_channel(channel: Channel, *, as_json: bool) -> None:
    if as_json:
        print_json(channel)
    else:
        listening = ", ".join(channel.bots) or "nobody"
        console().print(words(f"{channel.name}: {listening} listens."))
