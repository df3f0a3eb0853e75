"""Tables of messages, deliveries, channels and subscriptions."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

bot_messages = sa.Table(
    "bot_messages",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("sender", Json, nullable=False),
    sa.Column("sender_bot_id", sa.Text),
    sa.Column("recipient_bot_id", sa.Text),
    sa.Column("channel", sa.Text),
    sa.Column("message_type", sa.Text, nullable=False),
    sa.Column("body", Json, nullable=False),
    sa.Column("reply_to", sa.Text),
    sa.Column("conversation_id", sa.Text, nullable=False),
    sa.Column("depth", sa.Integer, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Index("ix_bot_messages_account_id_created_at", "account_id", "created_at", "id"),
    sa.Index("ix_bot_messages_channel_created_at", "account_id", "channel", "created_at"),
    sa.Index("ix_bot_messages_pair", "sender_bot_id", "recipient_bot_id", "created_at"),
    sa.Index("ix_bot_messages_conversation_id", "conversation_id"),
)
"""`sender`: a person, a bot or a workflow, set by the server."""

bot_deliveries = sa.Table(
    "bot_deliveries",
    METADATA,
    sa.Column("message_id", sa.Text, sa.ForeignKey("bot_messages.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("bot_id", sa.Text, primary_key=True),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text),
    sa.Column("session_id", sa.Text),
    sa.Column("reply_id", sa.Text),
    sa.Column("error", Json),
    sa.Column("cost_micros", sa.BigInteger, nullable=False),
    sa.Column("finished_at", Utc),
)
"""One row per message and recipient."""

bot_channels = sa.Table(
    "bot_channels",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("created_at", Utc, nullable=False),
)

bot_subscriptions = sa.Table(
    "bot_subscriptions",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("channel", sa.Text, primary_key=True),
    sa.Column("bot_id", sa.Text, sa.ForeignKey("bots.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("created_at", Utc, nullable=False),
)
