"""Tables of runs, gates and workers. The journal of finished steps is in the tables of DBOS."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

runs = sa.Table(
    "runs",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("parent_id", sa.Text),
    sa.Column("input", Json, nullable=False),
    sa.Column("attempt", sa.Integer, nullable=False),
    sa.Column("progress", Json),
    sa.Column("output", Json),
    sa.Column("outcome", sa.Text),
    sa.Column("error", Json),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("started_at", Utc),
    sa.Column("finished_at", Utc),
    sa.Index("ix_runs_account_id_created_at", "account_id", "created_at", "id"),
    sa.Index("ix_runs_parent_id", "parent_id"),
    sa.Index("ix_runs_status_finished_at", "status", "finished_at"),
)

gates = sa.Table(
    "gates",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), nullable=False, index=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("title", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("payload", Json, nullable=False),
    sa.Column("options", Json, nullable=False),
    sa.Column("shown_hash", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("answer", Json),
    sa.Column("opened_at", Utc, nullable=False),
    sa.Column("expires_at", Utc),
    sa.Index("ix_gates_account_id_status_opened_at", "account_id", "status", "opened_at", "id"),
)

effects = sa.Table(
    "run_effects",
    METADATA,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("step", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("result", Json),
)
"""Database effects of a run that have been applied, recorded in the same transaction, so each happens
once."""

outcomes = sa.Table(
    "run_outcomes",
    METADATA,
    sa.Column("run_id", sa.Text, sa.ForeignKey("runs.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("step", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("attempt", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("value", Json),
)
"""Results published in the event log that may be missing in the journal of the engine after a crash."""

workers = sa.Table(
    "workers",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("host", sa.Text, nullable=False),
    sa.Column("pid", sa.Integer, nullable=False),
    sa.Column("started_at", Utc, nullable=False),
    sa.Column("seen_at", Utc, nullable=False),
)
