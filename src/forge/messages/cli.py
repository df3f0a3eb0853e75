"""`forge message`."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import click
from rich.console import Group, RenderableType
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
    Recipient,
    Sender,
    Sent,
    as_text,
)
from forge.terminal.client import TIMEOUT_S, Client, Params, connect
from forge.terminal.commands import Result, api_command
from forge.terminal.inputs import PIPE, read_pipe
from forge.terminal.lookup import find_id
from forge.terminal.options import json_option, limit_option
from forge.terminal.output import FAINT, Columns, Fields, console, dot, indented, print_json, words, working
from forge.terminal.text import ago


def _sender(sender: Sender) -> str:
    if isinstance(sender, BotSender):
        by = f", spoken by {sender.spoken_by}" if sender.spoken_by else ""
        return f"{sender.name} ({sender.slug}{by})"
    return sender.name if sender.type == "person" else f"workflow {sender.name}"


def _recipient(recipient: Recipient) -> str:
    match recipient:
        case DirectRecipient():
            return recipient.bot
        case ChannelRecipient():
            return f"#{recipient.name}"
        case _:
            return recipient.name


def _delivery(delivery: Delivery) -> Text:
    line = Text.assemble(dot(delivery.status.value), words(f"  {delivery.bot}"))
    return line if delivery.error is None else line.append_text(words(f"  {delivery.error.message}", "red"))


_message_fields = Fields[BotMessage](
    {
        "id": "id",
        "from": lambda message: _sender(message.sender),
        "to": lambda message: _recipient(message.recipient),
        "type": "message_type",
        "reply to": "reply_to",
        "conversation": "conversation_id",
        "sent": "created_at",
    }
)
_channels_table = Columns[Channel](
    {
        "CHANNEL": "name",
        "BOTS": lambda channel: channel.bots or "none",
        "MESSAGES": "messages",
        "LAST": lambda channel: channel.last_at or "never",
    },
    wrap={"BOTS"},
)


def _message_page(message: BotMessage) -> RenderableType:
    return Group(_message_fields(message), Text(), words(as_text(message.body)), Text(), _deliveries(message))


def _deliveries(message: BotMessage) -> Group:
    return Group(*map(_delivery, message.deliveries))


def _history(messages: Sequence[BotMessage]) -> Group:
    return Group(*map(_entry, messages))


def _entry(message: BotMessage) -> RenderableType:
    facts = f"{message.message_type}  {ago(message.created_at, now())}  {message.id}"
    head = Text.assemble(
        words(_sender(message.sender), "bold"), words(f" → {_recipient(message.recipient)}  {facts}", FAINT)
    )
    failed = [_delivery(one) for one in message.deliveries if one.error]
    return Group(head, indented(words(as_text(message.body))), *failed, Text())


@click.group()
def message() -> None:
    """Send messages to bots and channels, and read their messages."""


@message.command()
@click.argument("text")
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
@json_option
@click.pass_context
def send(ctx: click.Context, text: str, wait: bool, timeout: float, as_json: bool, **given: Any) -> None:
    """Send TEXT to a bot or a channel. `-` reads standard input; a JSON object or list is sent as data.

    Exit code 0: sent (with --wait: answered), 1: no reply.
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
@api_command
def history(client: Client, bot: str, other: str | None, limit: int) -> Result[list[BotMessage]]:
    """Show the messages of BOT, or between BOT and OTHER, oldest first."""
    which = {"bot": find_bot(client, bot).slug, "with": find_bot(client, other).slug if other else None}
    return _read_history(client, which, limit)


@message.command("channel-history")
@click.argument("name")
@limit_option
@api_command
def channel_history(client: Client, name: str, limit: int) -> Result[list[BotMessage]]:
    """Show the messages in the channel NAME, oldest first."""
    return _read_history(client, {"channel": name}, limit)


def _read_history(client: Client, which: Params, limit: int) -> Result[list[BotMessage]]:
    found = list(client.pages("/messages", BotMessage, limit, which))[::-1]
    return Result(found, _history, empty='There are no messages. Send one: forge message send --to BOT "…"')


@message.command()
@click.argument("id")
@api_command
def show(client: Client, id: str) -> Result[BotMessage]:
    """Show a message and its deliveries."""
    return Result(client.get(f"/messages/{_find(client, id)}", BotMessage), _message_page)


@message.command()
@api_command
def channels(client: Client) -> Result[list[Channel]]:
    """List channels and their subscribers."""
    found = client.get("/message-channels", list[Channel])
    return Result(
        found, _channels_table, empty="There are no channels. Make one: forge message subscribe BOT NAME"
    )


@message.command()
@click.argument("bot")
@click.argument("channel")
@api_command
def subscribe(client: Client, bot: str, channel: str) -> Result[Channel]:
    """Subscribe BOT to CHANNEL, creating the channel if needed."""
    return Result(client.put(_path(client, channel, bot), Channel, {}), _subscribers)


@message.command()
@click.argument("bot")
@click.argument("channel")
@api_command
def unsubscribe(client: Client, bot: str, channel: str) -> Result[Channel]:
    """Unsubscribe BOT from CHANNEL."""
    return Result(client.delete(_path(client, channel, bot), Channel), _subscribers)


def _subscribers(channel: Channel) -> str:
    return f"Bots that listen to {channel.name}: {', '.join(channel.bots) or 'none'}."


def _find(client: Client, given: str) -> str:
    return find_id(client, given, "message", "/messages", listed_by="message history BOT")


def _path(client: Client, channel: str, bot: str) -> str:
    return f"/message-channels/{quote(channel, safe='')}/bots/{find_bot(client, bot).slug}"


def _body(text: str) -> Any:
    """Parse a JSON object or list; everything else is text, numbers too."""
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
        console(stderr=True).print(_deliveries(sent.message))
    else:
        count = len(sent.message.deliveries)
        console().print(words(f"Sent to {count} bot{'' if count == 1 else 's'}. {sent.message.id}"))
