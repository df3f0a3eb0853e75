"""Skills: where they came from, what they may do, what they did, what they keep."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json, Utc

revision = "0008"
down_revision = "0007"


def upgrade():
    op.create_table(
        "skill_records",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("source", Json, nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("folder_hash", sa.Text(), nullable=False),
        sa.Column("installed_at", Utc(), nullable=False),
        sa.Column("changed_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "name", name=op.f("pk_skill_records")),
    )
    op.create_table(
        "skill_grants",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("capability", sa.Text(), nullable=False),
        sa.Column("scope", Json, nullable=False),
        sa.Column("folder_hash", sa.Text(), nullable=False),
        sa.Column("granted_at", Utc(), nullable=False),
        sa.Column("granted_by", sa.Text(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "skill", "capability", name=op.f("pk_skill_grants")),
    )
    op.create_table(
        "skill_invocations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("version", sa.Text(), nullable=False),
        sa.Column("folder_hash", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("tier", sa.Text(), nullable=False),
        sa.Column("purpose", sa.Text(), nullable=False),
        sa.Column("bot_id", sa.Text()),
        sa.Column("by", sa.Text(), nullable=False),
        sa.Column("end", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("capabilities_used", Json, nullable=False),
        sa.Column("input_hash", sa.Text(), nullable=False),
        sa.Column("output_hash", sa.Text()),
        sa.Column("fuel", sa.BigInteger()),
        sa.Column("memory_bytes", sa.BigInteger()),
        sa.Column("duration_ms", sa.Float(), nullable=False),
        sa.Column("logs", Json, nullable=False),
        sa.Column("at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_skill_invocations")),
    )
    op.create_index(
        op.f("ix_skill_invocations_account_id_skill_at"), "skill_invocations", ["account_id", "skill", "at"]
    )
    op.create_index(op.f("ix_skill_invocations_at"), "skill_invocations", ["at"])
    op.create_table(
        "skill_kv",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("skill", sa.Text(), nullable=False),
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("value", sa.Text(), nullable=False),
        sa.Column("changed_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "skill", "key", name=op.f("pk_skill_kv")),
    )
    op.create_table(
        "skill_registries",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("fetched_at", Utc()),
        sa.Column("problem", sa.Text()),
        sa.PrimaryKeyConstraint("account_id", "name", name=op.f("pk_skill_registries")),
    )
