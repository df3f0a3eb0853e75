"""Tables of skills: records, grants, invocations, stored values and registries."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

skill_records = sa.Table(
    "skill_records",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("source", Json, nullable=False),
    sa.Column("tier", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("folder_hash", sa.Text, nullable=False),
    sa.Column("installed_at", Utc, nullable=False),
    sa.Column("changed_at", Utc, nullable=False),
)
"""`folder_hash` is that of the installed or saved folder, which may have changed since."""

skill_grants = sa.Table(
    "skill_grants",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("skill", sa.Text, primary_key=True),
    sa.Column("capability", sa.Text, primary_key=True),
    sa.Column("scope", Json, nullable=False),
    sa.Column("folder_hash", sa.Text, nullable=False),
    sa.Column("granted_at", Utc, nullable=False),
    sa.Column("granted_by", sa.Text, nullable=False),
)

skill_invocations = sa.Table(
    "skill_invocations",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("skill", sa.Text, nullable=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("folder_hash", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("tier", sa.Text, nullable=False),
    sa.Column("purpose", sa.Text, nullable=False),
    sa.Column("bot_id", sa.Text),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("end", sa.Text, nullable=False),
    sa.Column("error", sa.Text, nullable=False),
    sa.Column("capabilities_used", Json, nullable=False),
    sa.Column("input_hash", sa.Text, nullable=False),
    sa.Column("output_hash", sa.Text),
    sa.Column("fuel", sa.BigInteger),
    sa.Column("memory_bytes", sa.BigInteger),
    sa.Column("duration_ms", sa.Float, nullable=False),
    sa.Column("logs", Json, nullable=False),
    sa.Column("at", Utc, nullable=False),
    sa.Index("ix_skill_invocations_account_id_skill_at", "account_id", "skill", "at"),
    sa.Index("ix_skill_invocations_at", "at"),
)

skill_kv = sa.Table(
    "skill_kv",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("skill", sa.Text, primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    sa.Column("changed_at", Utc, nullable=False),
)
"""`value` is the JSON the skill stored."""

skill_registries = sa.Table(
    "skill_registries",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("url", sa.Text, nullable=False),
    sa.Column("fetched_at", Utc),
    sa.Column("problem", sa.Text),
)
"""The index of a registry is cached in the data directory."""
