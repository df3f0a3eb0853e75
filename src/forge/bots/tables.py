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
"""A slug is a folder's name, so there is one of each on a server; a deleted bot keeps its own until it is gone."""

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
"""`is_written`: the file got it. A version is kept first and written then; what was killed in between is finished by
whoever looks at the file next."""

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
"""`is_titled`: a model or a person chose the title, it is not just the first words. `standing`: ids of memories that
go along with every question of this conversation. `remembered_id`: the last message that facts were taken from.
`origin`: the workflow or the bot that began it; nothing for a person."""

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
"""A tree: `parent_id` is what a message follows. `tries`: how often a model was begun to be asked for this answer, so
that an attempt whose process died is recognised. Ids sort by time."""

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
"""A summary holds for every branch that contains the message `upto_id`."""

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
"""`embedding`: little-endian 32-bit floats, made by the model `embedder`; other models' are made anew."""
