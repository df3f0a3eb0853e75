"""How messages and channels look in a terminal."""

from collections.abc import Iterable

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from forge.kernel.clock import now
from forge.messages.models import (
    BotMessage,
    BotSender,
    Channel,
    ChannelRecipient,
    Delivery,
    DirectRecipient,
    Recipient,
    Sender,
    as_text,
)
from forge.terminal.output import dot, key_values, table, words
from forge.terminal.text import ago

FAINT = "bright_black"
INDENT = (0, 0, 0, 2)


def history_page(messages: Iterable[BotMessage]) -> Group:
    """The oldest first, as a conversation is read."""
    return Group(*(_line(message) for message in messages))


def message_page(message: BotMessage) -> RenderableType:
    pairs: list[tuple[str, Text | str | None]] = [
        ("id", message.id),
        ("from", _sender(message.sender)),
        ("to", _recipient(message.recipient)),
        ("type", message.message_type),
        ("reply to", message.reply_to),
        ("conversation", message.conversation_id),
        ("sent", ago(message.created_at, now())),
    ]
    return Group(
        key_values(pairs), Text(), words(as_text(message.body)), Text(), *map(_delivery, message.deliveries)
    )


def channels_table(channels: Iterable[Channel]) -> Table:
    rows = table("CHANNEL", "BOTS", "MESSAGES", "LAST", wrapped={"BOTS"})
    for channel in channels:
        last = ago(channel.last_at, now()) if channel.last_at else "never"
        rows.add_row(
            words(channel.name), words(", ".join(channel.bots) or "none"), str(channel.messages), last
        )
    return rows


def outcome(message: BotMessage) -> Group:
    """What became of it, a line for each bot."""
    return Group(*map(_delivery, message.deliveries))


def _line(message: BotMessage) -> RenderableType:
    head = Text()
    head.append_text(words(_sender(message.sender), "bold"))
    head.append_text(words(f" → {_recipient(message.recipient)}  {message.message_type}  ", FAINT))
    head.append_text(words(f"{ago(message.created_at, now())}  {message.id}", FAINT))
    failed = [one for one in message.deliveries if one.error]
    return Group(
        head, Padding(words(as_text(message.body)), INDENT, expand=False), *map(_delivery, failed), Text()
    )


def _delivery(delivery: Delivery) -> Text:
    line = Text()
    line.append_text(dot(delivery.status.value))
    line.append_text(words(f"  {delivery.bot}"))
    if delivery.error is not None:
        line.append_text(words(f"  {delivery.error.message}", "red"))
    return line


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
