"""Workspaces: the directories Forge may work in."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Utc

revision = "0002"
down_revision = "0001"


def upgrade():
    op.create_table(
        "workspaces",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("path", sa.Text(), nullable=True),
        sa.Column("created_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_workspaces")),
        sa.UniqueConstraint("account_id", "name", name=op.f("uq_workspaces_account_id_name")),
    )
