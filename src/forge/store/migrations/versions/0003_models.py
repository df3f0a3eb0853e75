"""Models: providers, roles, prices, budgets, and every call in the books."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json, Utc

revision = "0003"
down_revision = "0002"


def upgrade():
    op.create_table(
        "model_providers",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("base_url", sa.Text()),
        sa.Column("key_name", sa.Text()),
        sa.PrimaryKeyConstraint("account_id", "name", name=op.f("pk_model_providers")),
    )
    op.create_table(
        "model_roles",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("chain", Json, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "scope", "role", name=op.f("pk_model_roles")),
    )
    op.create_table(
        "model_prices",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("price", Json, nullable=False),
        sa.PrimaryKeyConstraint("account_id", "model", name=op.f("pk_model_prices")),
    )
    op.create_table(
        "model_budgets",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("budget", sa.Text(), nullable=False),
        sa.Column("limit_micros", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "budget", name=op.f("pk_model_budgets")),
    )
    op.create_table(
        "ledgers",
        sa.Column("key", sa.Text(), nullable=False),
        sa.Column("spent_micros", sa.BigInteger(), nullable=False),
        sa.Column("reserved_micros", sa.BigInteger(), nullable=False),
        sa.Column("raised_micros", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key", name=op.f("pk_ledgers")),
    )
    op.create_table(
        "model_calls",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("run_id", sa.Text()),
        sa.Column("step_key", sa.Text(), nullable=False),
        sa.Column("role", sa.Text(), nullable=False),
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("model", sa.Text(), nullable=False),
        sa.Column("status", sa.Text(), nullable=False),
        sa.Column("stop", sa.Text()),
        sa.Column("input_tokens", sa.BigInteger(), nullable=False),
        sa.Column("output_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_read_tokens", sa.BigInteger(), nullable=False),
        sa.Column("cache_write_tokens", sa.BigInteger(), nullable=False),
        sa.Column("reserved_micros", sa.BigInteger(), nullable=False),
        sa.Column("cost_micros", sa.BigInteger(), nullable=False),
        sa.Column("first_token_ms", sa.Integer()),
        sa.Column("latency_ms", sa.Integer()),
        sa.Column("prompt_hash", sa.Text(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("ledgers", Json, nullable=False),
        sa.Column("started_at", Utc(), nullable=False),
        sa.Column("finished_at", Utc()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_model_calls")),
    )
    op.create_index("ix_model_calls_account_id_started_at", "model_calls", ["account_id", "started_at"])
    op.create_index("ix_model_calls_run_id", "model_calls", ["run_id"])
    op.create_index("ix_model_calls_step_key", "model_calls", ["step_key"])
