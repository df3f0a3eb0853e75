"""Tables of interviews (finished ones are kept for replays) and of what is remembered of them."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

builder_drafts = sa.Table(
    "builder_drafts",
    METADATA,
    sa.Column("session_id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("state_json", sa.Text, nullable=False),
    sa.Column("schema_version", sa.Integer, nullable=False),
    sa.Column("revision", sa.Integer, nullable=False),
    sa.Column("run_id", sa.Text),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Column("finished_at", Utc),
    sa.Index("ix_builder_drafts_account_id_updated_at", "account_id", "updated_at"),
)
"""`revision` counts the changes, for optimistic locking. `run_id` is the run that does what is due."""

builder_memory = sa.Table(
    "builder_memory",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("purpose_category", sa.Text, nullable=False),
    sa.Column("initial_description", sa.Text, nullable=False),
    sa.Column("chosen_tone", sa.Text),
    sa.Column("chosen_model", sa.Text),
    sa.Column("chosen_skills", Json, nullable=False),
    sa.Column("bot_slug", sa.Text),
    sa.Column("created_at", Utc, nullable=False),
    sa.Index("ix_builder_memory_account_id_purpose_category", "account_id", "purpose_category"),
)
