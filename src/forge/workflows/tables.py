"""Tables of workflows, versions, runs, steps and triggers."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

workflows = sa.Table(
    "workflows",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("owner", sa.Text),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("is_enabled", sa.Boolean, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
    sa.Column("deleted_at", Utc),
    sa.Index(
        "uq_workflows_account_id_name",
        "account_id",
        "name",
        unique=True,
        sqlite_where=sa.text("deleted_at IS NULL"),
        postgresql_where=sa.text("deleted_at IS NULL"),
    ),
)
"""Deleted workflows are kept until their last run is gone, because runs show the definition they were started with."""

workflow_versions = sa.Table(
    "workflow_versions",
    METADATA,
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.Text, nullable=False),
    sa.Column("definition", Json, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("by", sa.Text, nullable=False),
    sa.Column("at", Utc, nullable=False),
)

workflow_runs = sa.Table(
    "workflow_runs",
    METADATA,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("workflow_id", sa.Text, nullable=False),
    sa.Column("workflow_name", sa.Text, nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("trigger", sa.Text, nullable=False),
    sa.Column("source", sa.Text, nullable=False),
    sa.Column("payload", Json, nullable=False),
    sa.Column("inputs", Json, nullable=False),
    sa.Column("about", Json, nullable=False),
    sa.Column("dedupe_key", sa.Text),
    sa.Column("depth", sa.Integer, nullable=False),
    sa.Column("retry_of", sa.Text),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("failure", Json),
    sa.Index("ix_workflow_runs_workflow_id_created_at", "workflow_id", "created_at", "run_id"),
    sa.Index("ix_workflow_runs_created_at", "created_at", "run_id"),
    sa.UniqueConstraint("workflow_id", "dedupe_key"),
)
"""`about`: the value of `workflow.trigger` in templates. `dedupe_key`: makes a delivery or occurrence start only one run.
`failure`: why the steps failed; set while steps under `finally` may still be running."""

workflow_steps = sa.Table(
    "workflow_steps",
    METADATA,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("summary", Json, nullable=False),
    sa.Column("input", Json),
    sa.Column("output", Json),
    sa.Column("attempts", Json, nullable=False),
    sa.Column("logs", Json, nullable=False),
    sa.Column("ticket", Json),
)
"""The journal of a run, by step key. `ticket`: identifies what the current attempt started."""

workflow_triggers = sa.Table(
    "workflow_triggers",
    METADATA,
    sa.Column("workflow_id", sa.Text, sa.ForeignKey("workflows.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("position", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("type", sa.Text, nullable=False),
    sa.Column("config", Json, nullable=False),
    sa.Column("path", sa.Text, unique=True),
    sa.Column("next_at", Utc, index=True),
    sa.Column("last_fired_at", Utc),
    sa.Column("error", sa.Text),
)
"""`path` is set for webhooks, `next_at` for schedules."""

workflow_cursors = sa.Table(
    "workflow_cursors",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
)
"""The last event of each account's stream that was processed for event triggers."""
