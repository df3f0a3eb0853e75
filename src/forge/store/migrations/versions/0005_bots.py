"""Bots: their files' versions, conversations and memories; and calls to models know whose they are."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json, Utc

revision = "0005"
down_revision = "0004"


def upgrade():
    _bots()
    _chats()
    _memories()
    op.add_column("model_calls", sa.Column("scope", sa.Text(), nullable=False, server_default=""))
    with op.batch_alter_table("model_calls") as table:
        table.alter_column("scope", server_default=None)
    op.create_index(op.f("ix_model_calls_scope"), "model_calls", ["scope"])


def _bots():
    op.create_table(
        "bots",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("slug", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("identity", Json, nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("updated_at", Utc(), nullable=False),
        sa.Column("last_active_at", Utc()),
        sa.Column("deleted_at", Utc()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bots")),
        sa.UniqueConstraint("slug", name=op.f("uq_bots_slug")),
    )
    op.create_index(op.f("ix_bots_account_id_created_at"), "bots", ["account_id", "created_at"])
    op.create_table(
        "bot_versions",
        sa.Column("bot_id", sa.Text(), nullable=False),
        sa.Column("file", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("content", sa.Text(), nullable=False),
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("is_written", sa.Boolean(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bots.id"], name=op.f("fk_bot_versions_bot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("bot_id", "file", "number", name=op.f("pk_bot_versions")),
    )


def _chats():
    op.create_table(
        "chat_sessions",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("bot_id", sa.Text(), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("is_titled", sa.Boolean(), nullable=False),
        sa.Column("head_id", sa.Text()),
        sa.Column("standing", Json, nullable=False),
        sa.Column("remembered_id", sa.Text()),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("updated_at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bots.id"], name=op.f("fk_chat_sessions_bot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chat_sessions")),
    )
    op.create_index(op.f("ix_chat_sessions_bot_id_updated_at"), "chat_sessions", ["bot_id", "updated_at"])
    op.create_table(
        "chat_messages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("parent_id", sa.Text()),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("error", Json),
        sa.Column("answer", Json),
        sa.Column("run_id", sa.Text()),
        sa.Column("tries", sa.Integer(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("finished_at", Utc()),
        sa.ForeignKeyConstraint(
            ["session_id"], ["chat_sessions.id"], name=op.f("fk_chat_messages_session_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chat_messages")),
    )
    op.create_index(op.f("ix_chat_messages_session_id_id"), "chat_messages", ["session_id", "id"])
    op.create_index(op.f("ix_chat_messages_run_id"), "chat_messages", ["run_id"])
    op.create_table(
        "chat_summaries",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("upto_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["chat_sessions.id"],
            name=op.f("fk_chat_summaries_session_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_chat_summaries")),
    )
    op.create_index(op.f("ix_chat_summaries_session_id"), "chat_summaries", ["session_id"])


def _memories():
    op.create_table(
        "bot_memories",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("bot_id", sa.Text(), nullable=False),
        sa.Column("fact", sa.Text(), nullable=False),
        sa.Column("category", sa.Text(), nullable=False),
        sa.Column("importance", sa.Integer(), nullable=False),
        sa.Column("is_pinned", sa.Boolean(), nullable=False),
        sa.Column("author", sa.Text(), nullable=False),
        sa.Column("session_id", sa.Text()),
        sa.Column("recalled", sa.Integer(), nullable=False),
        sa.Column("last_recalled_at", Utc()),
        sa.Column("embedder", sa.Text()),
        sa.Column("embedding", sa.LargeBinary()),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("updated_at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bots.id"], name=op.f("fk_bot_memories_bot_id"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["session_id"],
            ["chat_sessions.id"],
            name=op.f("fk_bot_memories_session_id"),
            ondelete="SET NULL",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_memories")),
    )
    op.create_index(op.f("ix_bot_memories_bot_id_created_at"), "bot_memories", ["bot_id", "created_at"])
    op.create_index(op.f("ix_bot_memories_session_id"), "bot_memories", ["session_id"])
