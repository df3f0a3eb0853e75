"""Agents: results that outlive a kill between the log and the journal, and messages of people to a running agent."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json, Utc

revision = "0004"
down_revision = "0003"


def upgrade():
    op.create_table(
        "run_outcomes",
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("step", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("attempt", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", Json),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_run_outcomes_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("run_id", "step", "attempt", name=op.f("pk_run_outcomes")),
    )
    op.create_table(
        "agent_messages",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sent_by", sa.Text(), nullable=False),
        sa.Column("sent_at", Utc(), nullable=False),
        sa.Column("heard_turn", sa.Integer()),
        sa.ForeignKeyConstraint(
            ["run_id"], ["runs.id"], name=op.f("fk_agent_messages_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_agent_messages")),
    )
    op.create_index(op.f("ix_agent_messages_run_id"), "agent_messages", ["run_id"])
