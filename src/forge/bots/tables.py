"""Tables of bots, their versions, conversations and memories."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

bots = sa.Table(
    "bots",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("slug", sa.Text, nullable=False, unique=True),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("identity", Json, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Column("last_active_at", Utc),
    sa.Column("deleted_at", Utc),
    sa.Index("ix_bots_account_id_created_at", "account_id", "created_at"),
)
"""Slugs are folder names, so they are unique per server. A deleted bot keeps its slug until it is purged."""

bot_versions = sa.Table(
    "bot_versions",
    METADATA,
    sa.Column("bot_id", sa.Text, sa.ForeignKey("bots.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("file", sa.Text, primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("message", sa.Text, nullable=False),
    sa.Column("is_written", sa.Boolean, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
)
"""`is_written`: the file has this content. A version is inserted before the file is written; an interrupted save is finished
the next time the file is used."""

chat_sessions = sa.Table(
    "chat_sessions",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("bot_id", sa.Text, sa.ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("is_titled", sa.Boolean, nullable=False),
    sa.Column("head_id", sa.Text),
    sa.Column("standing", Json, nullable=False),
    sa.Column("remembered_id", sa.Text),
    sa.Column("origin", Json),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Index("ix_chat_sessions_bot_id_updated_at", "bot_id", "updated_at"),
)
"""`is_titled`: the title was generated or set by a person, not copied from the first words. `standing`: ids of memories
sent with every question of this conversation. `remembered_id`: the last message facts were extracted from. `origin`: the
workflow or bot that started it; null for a person."""

chat_messages = sa.Table(
    "chat_messages",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("session_id", sa.Text, sa.ForeignKey("chat_sessions.id", ondelete="CASCADE"), nullable=False),
    sa.Column("parent_id", sa.Text),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("error", Json),
    sa.Column("answer", Json),
    sa.Column("run_id", sa.Text),
    sa.Column("tries", sa.Integer, nullable=False),
    sa.Column("cost_micros", sa.BigInteger, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("finished_at", Utc),
    sa.Index("ix_chat_messages_session_id_id", "session_id", "id"),
    sa.Index("ix_chat_messages_run_id", "run_id"),
)
"""A tree: `parent_id` is the previous message. `tries`: number of the last attempt to call a model for this answer, to detect
an attempt whose process died. Ids sort by time."""

chat_summaries = sa.Table(
    "chat_summaries",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column(
        "session_id",
        sa.Text,
        sa.ForeignKey("chat_sessions.id", ondelete="CASCADE"),
        nullable=False,
        index=True,
    ),
    sa.Column("upto_id", sa.Text, nullable=False),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
)
"""A summary is valid for every branch that contains the message `upto_id`."""

bot_memories = sa.Table(
    "bot_memories",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("bot_id", sa.Text, sa.ForeignKey("bots.id", ondelete="CASCADE"), nullable=False),
    sa.Column("fact", sa.Text, nullable=False),
    sa.Column("category", sa.Text, nullable=False),
    sa.Column("importance", sa.Integer, nullable=False),
    sa.Column("is_pinned", sa.Boolean, nullable=False),
    sa.Column("author", sa.Text, nullable=False),
    sa.Column("session_id", sa.Text, sa.ForeignKey("chat_sessions.id", ondelete="SET NULL")),
    sa.Column("recalled", sa.Integer, nullable=False),
    sa.Column("last_recalled_at", Utc),
    sa.Column("embedder", sa.Text),
    sa.Column("embedding", sa.LargeBinary),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Index("ix_bot_memories_bot_id_created_at", "bot_id", "created_at"),
    sa.Index("ix_bot_memories_session_id", "session_id"),
)
"""`embedding`: little-endian 32-bit floats from the model `embedder`; vectors of other models are recomputed."""
