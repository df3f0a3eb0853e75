"""Workflows: definitions, versions, runs, steps, triggers; messages between bots; where a conversation comes from."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json, Utc

revision = "0009"
down_revision = "0008"


def upgrade():
    op.create_table(
        "bot_channels",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "name", name=op.f("pk_bot_channels")),
    )
    op.create_table(
        "bot_messages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("sender", Json, nullable=False),
        sa.Column("sender_bot_id", sa.Text()),
        sa.Column("recipient_bot_id", sa.Text()),
        sa.Column("channel", sa.Text()),
        sa.Column("message_type", sa.Text(), nullable=False),
        sa.Column("body", Json, nullable=False),
        sa.Column("reply_to", sa.Text()),
        sa.Column("conversation_id", sa.Text(), nullable=False),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_bot_messages")),
    )
    op.create_index(
        "ix_bot_messages_account_id_created_at",
        "bot_messages",
        ["account_id", "created_at", "id"],
        unique=False,
    )
    op.create_index(
        "ix_bot_messages_channel_created_at",
        "bot_messages",
        ["account_id", "channel", "created_at"],
        unique=False,
    )
    op.create_index("ix_bot_messages_conversation_id", "bot_messages", ["conversation_id"], unique=False)
    op.create_index(
        "ix_bot_messages_pair",
        "bot_messages",
        ["sender_bot_id", "recipient_bot_id", "created_at"],
        unique=False,
    )
    op.create_table(
        "workflow_cursors",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_workflow_cursors")),
    )
    op.create_table(
        "workflows",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("owner", sa.Text()),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("is_enabled", sa.Boolean(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("updated_at", Utc(), nullable=False),
        sa.Column("deleted_at", Utc()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workflows")),
    )
    op.create_index(
        "uq_workflows_account_id_name",
        "workflows",
        ["account_id", "name"],
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    )
    op.create_table(
        "bot_deliveries",
        sa.Column("message_id", sa.Text(), nullable=False),
        sa.Column("bot_id", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text()),
        sa.Column("session_id", sa.Text()),
        sa.Column("reply_id", sa.Text()),
        sa.Column("error", Json),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", Utc()),
        sa.ForeignKeyConstraint(
            ["message_id"], ["bot_messages.id"], name=op.f("fk_bot_deliveries_message_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("message_id", "bot_id", name=op.f("pk_bot_deliveries")),
    )
    op.create_table(
        "bot_subscriptions",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("channel", sa.Text(), nullable=False),
        sa.Column("bot_id", sa.Text(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["bot_id"], ["bots.id"], name=op.f("fk_bot_subscriptions_bot_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("account_id", "channel", "bot_id", name=op.f("pk_bot_subscriptions")),
    )
    op.create_table(
        "workflow_runs",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("workflow_name", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("trigger", sa.Text(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("payload", Json, nullable=False),
        sa.Column("inputs", Json, nullable=False),
        sa.Column("about", Json, nullable=False),
        sa.Column("dedupe_key", sa.Text()),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("retry_of", sa.Text()),
        sa.Column("created_at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_workflow_runs_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_workflow_runs")),
        sa.UniqueConstraint(
            "workflow_id", "dedupe_key", name=op.f("uq_workflow_runs_workflow_id_dedupe_key")
        ),
    )
    op.create_index(
        "ix_workflow_runs_workflow_id_created_at",
        "workflow_runs",
        ["workflow_id", "created_at", "run_id"],
        unique=False,
    )
    op.create_table(
        "workflow_steps",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("summary", Json, nullable=False),
        sa.Column("input", Json),
        sa.Column("output", Json),
        sa.Column("attempts", Json, nullable=False),
        sa.Column("logs", Json, nullable=False),
        sa.Column("ticket", Json),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_workflow_steps_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "key", name=op.f("pk_workflow_steps")),
    )
    op.create_table(
        "workflow_triggers",
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("type", sa.Text(), nullable=False),
        sa.Column("config", Json, nullable=False),
        sa.Column("path", sa.Text()),
        sa.Column("next_at", Utc()),
        sa.Column("last_fired_at", Utc()),
        sa.Column("error", sa.Text()),
        sa.ForeignKeyConstraint(
            ["workflow_id"],
            ["workflows.id"],
            name=op.f("fk_workflow_triggers_workflow_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workflow_id", "position", name=op.f("pk_workflow_triggers")),
        sa.UniqueConstraint("path", name=op.f("uq_workflow_triggers_path")),
    )
    op.create_index(op.f("ix_workflow_triggers_next_at"), "workflow_triggers", ["next_at"], unique=False)
    op.create_table(
        "workflow_versions",
        sa.Column("workflow_id", sa.Text(), nullable=False),
        sa.Column("number", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("definition", Json, nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["workflow_id"],
            ["workflows.id"],
            name=op.f("fk_workflow_versions_workflow_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("workflow_id", "number", name=op.f("pk_workflow_versions")),
    )
    op.add_column("chat_sessions", sa.Column("origin", Json))
