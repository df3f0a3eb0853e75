"""`forge message`: send and read messages, and manage channels."""

import json
from collections.abc import Iterable
from contextlib import suppress
from typing import Any
from urllib.parse import quote

import click
from rich.console import Group
from rich.text import Text

from forge.bots.lookup import find_bot
from forge.errors import Invalid
from forge.kernel.clock import now
from forge.messages.models import (
    MAX_WAIT_S,
    BotMessage,
    BotSender,
    Channel,
    ChannelRecipient,
    Delivery,
    DirectRecipient,
    Sent,
    as_text,
)
from forge.terminal.client import TIMEOUT_S, Client, Params
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import PIPE, read_pipe
from forge.terminal.lookup import find_id
from forge.terminal.options import limit_option
from forge.terminal.output import FAINT, Columns, Fields, dot, indented, words, working
from forge.terminal.text import ago


def _sender(message: BotMessage) -> str:
    sender = message.sender
    if isinstance(sender, BotSender):
        by = f", sent by {sender.spoken_by}" if sender.spoken_by else ""
        return f"{sender.name} ({sender.slug}{by})"
    return sender.name if sender.type == "person" else f"workflow {sender.name}"


def _recipient(message: BotMessage) -> str:
    match message.recipient:
        case DirectRecipient(bot=bot):
            return bot
        case ChannelRecipient(name=name):
            return f"#{name}"
        case recipient:
            return recipient.name


def _deliveries(message: BotMessage) -> Group:
    return Group(*map(_delivery, message.deliveries))


def _delivery(delivery: Delivery) -> Text:
    line = dot(delivery.status.value).append_text(words(f"  {delivery.bot}"))
    return line.append_text(words(f"  {delivery.error.message}", "red")) if delivery.error else line


_message_fields = Fields[BotMessage](
    {"id": "id", "from": _sender, "to": _recipient, "type": "message_type"},
    "reply_to",
    {"conversation": "conversation_id", "sent": "created_at"},
)
_channels_table = Columns[Channel](
    {"CHANNEL": "name", "BOTS": lambda channel: channel.bots or "none", "MESSAGES": "messages"},
    {"LAST": lambda channel: channel.last_at or "never"},
)


def _message_page(message: BotMessage) -> Group:
    return Group(_message_fields(message), Text(), words(as_text(message.body)), Text(), _deliveries(message))


def _history(messages: Iterable[BotMessage]) -> Group:
    return Group(*map(_entry, messages))


def _entry(message: BotMessage) -> Group:
    facts = f"{message.message_type}  {ago(message.created_at, now())}  {message.id}"
    head = words(_sender(message), "bold").append_text(words(f" → {_recipient(message)}  {facts}", FAINT))
    failed = [_delivery(one) for one in message.deliveries if one.error]
    return Group(head, indented(words(as_text(message.body))), *failed, Text())


@click.group()
def message() -> None:
    """Send messages to bots and channels, and read their messages."""


@message.command()
@click.option("--to", metavar="BOT", help="Bot to send to.")
@click.option("--channel", metavar="NAME", help="Send to all bots subscribed to this channel.")
@click.option("--from", "speak_as", metavar="BOT", help="Send as one of your bots.")
@click.option(
    "--type",
    "message_type",
    default="text",
    show_default=True,
    help="Type of message: text, question, delegation, information, status_update or a custom type.",
)
@click.option("--reply-to", metavar="ID", help="Id of the message to reply to.")
@click.option("--wait", is_flag=True, help="Wait for the reply and print it.")
@click.option(
    "--timeout",
    type=click.FloatRange(1, MAX_WAIT_S),
    default=30,
    show_default=True,
    help="Maximum time to wait, in seconds.",
)
@api_command
def send(
    client: Client, text: str, /, *, to: str | None, wait: bool, timeout: float, **options: Any
) -> Result[Sent]:
    """Send TEXT to a bot or a channel. `-` reads standard input; a JSON object or list is sent as data.

    Exit code 0: sent (with --wait: answered), 1: no reply.
    """
    if (to is None) == (options["channel"] is None):
        raise click.UsageError("Choose one of --to and --channel.")
    if wait and to is None:
        raise click.UsageError("--wait needs --to: only the reply of one bot can be waited for.")
    body = {"body": _body(read_pipe() if text == PIPE else text), "wait": wait, "timeout_secs": timeout}
    fields = {**options, "to": to and find_bot(client, to).slug}
    if speak_as := fields.pop("speak_as"):
        fields["from"] = find_bot(client, speak_as).slug
    if reply_to := fields["reply_to"]:
        fields["reply_to"] = _find_id(client, reply_to)
    body |= {name: value for name, value in fields.items() if value is not None}
    with working("Waiting for the reply" if wait else "Sending"):
        sent = client.post("/messages", Sent, body, within_s=TIMEOUT_S + (timeout if wait else 0))
    return _sent(sent, wait=wait)


def _sent(sent: Sent, *, wait: bool) -> Result[Sent]:
    if sent.reply is not None:
        return Result(sent, as_text(sent.reply.body))
    if sent.is_late:
        note = f"No reply yet. Check later with: forge message show {sent.message.id}"
    elif wait:
        note = "\n".join(_delivery(one).plain for one in sent.message.deliveries)
    else:
        count = len(sent.message.deliveries)
        return Result(sent, f"Sent to {count} bot{'' if count == 1 else 's'}. {sent.message.id}")
    return Result(sent, "", note=note, exit_code=1 if wait else 0)


@message.command()
@limit_option
@api_command
def history(client: Client, bot: str, other: str | None = None, /, *, limit: int) -> Result[list[BotMessage]]:
    """Show the messages of BOT, or between BOT and OTHER, oldest first."""
    query = {"bot": find_bot(client, bot).slug, "with": find_bot(client, other).slug if other else None}
    return _read_history(client, query, limit)


@message.command("channel-history")
@limit_option
@api_command
def channel_history(client: Client, name: str, /, *, limit: int) -> Result[list[BotMessage]]:
    """Show the messages in the channel NAME, oldest first."""
    return _read_history(client, {"channel": name}, limit)


def _read_history(client: Client, query: Params, limit: int) -> Result[list[BotMessage]]:
    found = list(client.pages("/messages", BotMessage, limit, query))[::-1]
    return Result(found, _history, empty='No messages. Send one with: forge message send --to BOT "…"')


@message.command()
@api_command
def show(client: Client, id: str, /) -> Result[BotMessage]:
    """Show a message and its deliveries."""
    return Result(client.get(f"/messages/{_find_id(client, id)}", BotMessage), _message_page)


@message.command()
@api_command
def channels(client: Client) -> Result[list[Channel]]:
    """List channels and their subscribers."""
    empty = "No channels. Create one with: forge message subscribe BOT NAME"
    return Result(client.get("/message-channels", list[Channel]), _channels_table, empty=empty)


@message.command()
@api_command
def subscribe(client: Client, bot: str, channel: str, /) -> Result[Channel]:
    """Subscribe BOT to CHANNEL, creating the channel if needed."""
    return Result(client.put(_path(client, channel, bot), Channel, {}), _subscribers)


@message.command()
@api_command
def unsubscribe(client: Client, bot: str, channel: str, /) -> Result[Channel]:
    """Unsubscribe BOT from CHANNEL."""
    return Result(client.delete(_path(client, channel, bot), Channel), _subscribers)


def _subscribers(channel: Channel) -> str:
    return f"Subscribers of {channel.name}: {', '.join(channel.bots) or 'none'}."


def _find_id(client: Client, prefix: str) -> str:
    return find_id(client, prefix, "message", "/messages", listed_by="message history BOT")


def _path(client: Client, channel: str, bot: str) -> str:
    return f"/message-channels/{quote(channel, safe='')}/bots/{find_bot(client, bot).slug}"


def _body(text: str) -> Any:
    """Parse a JSON object or list. Anything else is text, including numbers."""
    if not text.strip():
        raise Invalid("The message is empty.")
    if text.lstrip()[0] in "{[":
        with suppress(ValueError):
            return json.loads(text)
    return text
