"""Table of messages to running agents."""

import sqlalchemy as sa

from forge.store.types import METADATA, Utc

agent_messages = sa.Table(
    "agent_messages",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("text", sa.Text, nullable=False),
    sa.Column("sent_by", sa.Text, nullable=False),
    sa.Column("sent_at", Utc, nullable=False),
    sa.Column("heard_turn", sa.Integer),
)
"""Ids sort by time, so their order is the sending order."""
