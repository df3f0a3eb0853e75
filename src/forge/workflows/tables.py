"""Tables of workflows: definitions and their versions, runs and their steps, triggers."""

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
"""A deleted one stays until its last run is gone: runs show the definition they were started with."""

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
"""`about`: what `workflow.trigger` is in templates. `dedupe_key`: the same delivery or occurrence starts one run.
`failure`: that its steps have failed, and with what, while those under `finally` may still be under way."""

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
"""The journal of a run, by the names of its steps. `ticket`: what an attempt under way has begun."""

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
"""What may start a workflow without a person. `path` of webhooks, `next_at` of schedules."""

workflow_cursors = sa.Table(
    "workflow_cursors",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("seq", sa.BigInteger, nullable=False),
)
"""How far the account's stream was looked at for triggers by events."""
