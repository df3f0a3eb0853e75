"""Workspaces: named directories that Forge may work in."""

revision = "0002"
down_revision = "0001"


def upgrade():
    """Filled in with the table of workspaces."""
