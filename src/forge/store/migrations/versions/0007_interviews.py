"""Interviews and what they left behind."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json, Utc

revision = "0007"
down_revision = "0006"


def upgrade():
    op.create_table(
        "builder_drafts",
        sa.Column("session_id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("state_json", sa.Text(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("run_id", sa.Text()),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("updated_at", Utc(), nullable=False),
        sa.Column("finished_at", Utc()),
        sa.PrimaryKeyConstraint("session_id", name=op.f("pk_builder_drafts")),
    )
    op.create_index(
        op.f("ix_builder_drafts_account_id_updated_at"), "builder_drafts", ["account_id", "updated_at"]
    )
    op.create_table(
        "builder_memory",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("purpose_category", sa.Text(), nullable=False),
        sa.Column("initial_description", sa.Text(), nullable=False),
        sa.Column("chosen_tone", sa.Text()),
        sa.Column("chosen_model", sa.Text()),
        sa.Column("chosen_skills", Json, nullable=False),
        sa.Column("bot_slug", sa.Text()),
        sa.Column("created_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_builder_memory")),
    )
    op.create_index(
        op.f("ix_builder_memory_account_id_purpose_category"),
        "builder_memory",
        ["account_id", "purpose_category"],
    )
