"""Runs of all workflows, the newest first."""

from alembic import op

revision = "0010"
down_revision = "0009"


def upgrade():
    op.create_index("ix_workflow_runs_created_at", "workflow_runs", ["created_at", "run_id"])
