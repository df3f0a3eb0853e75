"""Table of workspaces."""

import sqlalchemy as sa

from forge.store.types import METADATA, Utc

workspaces = sa.Table(
    "workspaces",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("path", sa.Text),
    sa.Column("created_at", Utc, nullable=False),
    sa.UniqueConstraint("account_id", "name"),
)
"""`path` is set for adopted directories only; directories created by Forge are found by id."""
