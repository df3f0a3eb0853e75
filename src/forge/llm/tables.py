"""Tables of providers, chosen models, prices, budgets and calls. Amounts are in millionths of a dollar."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc

model_providers = sa.Table(
    "model_providers",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("base_url", sa.Text),
    sa.Column("key_name", sa.Text),
    sa.Column("server", sa.Text),
    sa.Column("parallel", sa.Integer),
)

model_roles = sa.Table(
    "model_roles",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("role", sa.Text, primary_key=True),
    sa.Column("chain", Json, nullable=False),
)
"""`scope` is that of a bot, or empty for the whole account."""

model_prices = sa.Table(
    "model_prices",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("model", sa.Text, primary_key=True),
    sa.Column("price", Json, nullable=False),
)

model_budgets = sa.Table(
    "model_budgets",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("budget", sa.Text, primary_key=True),
    sa.Column("limit_micros", sa.BigInteger, nullable=False),
)

model_shares = sa.Table(
    "model_shares",
    METADATA,
    sa.Column("provider", sa.Text, primary_key=True),
    sa.Column("day_micros", sa.BigInteger, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
)
"""Providers of the owner that members may use, each with a budget per member and day."""

ledgers = sa.Table(
    "ledgers",
    METADATA,
    sa.Column("key", sa.Text, primary_key=True),
    sa.Column("spent_micros", sa.BigInteger, nullable=False),
    sa.Column("reserved_micros", sa.BigInteger, nullable=False),
    sa.Column("raised_micros", sa.BigInteger, nullable=False),
)
"""One row per budget: a run, an account's day, a member's day with a shared provider, the server's day. `raised` is what a user granted on top."""

model_calls = sa.Table(
    "model_calls",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("account_id", sa.Text, nullable=False),
    sa.Column("run_id", sa.Text),
    sa.Column("step_key", sa.Text, nullable=False),
    sa.Column("scope", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("provider", sa.Text, nullable=False),
    sa.Column("model", sa.Text, nullable=False),
    sa.Column("status", sa.Text, nullable=False),
    sa.Column("stop", sa.Text),
    sa.Column("input_tokens", sa.BigInteger, nullable=False),
    sa.Column("output_tokens", sa.BigInteger, nullable=False),
    sa.Column("cache_read_tokens", sa.BigInteger, nullable=False),
    sa.Column("cache_write_tokens", sa.BigInteger, nullable=False),
    sa.Column("reserved_micros", sa.BigInteger, nullable=False),
    sa.Column("cost_micros", sa.BigInteger, nullable=False),
    sa.Column("first_token_ms", sa.Integer),
    sa.Column("latency_ms", sa.Integer),
    sa.Column("prompt_hash", sa.Text, nullable=False),
    sa.Column("error", sa.Text),
    sa.Column("ledgers", Json, nullable=False),
    sa.Column("started_at", Utc, nullable=False),
    sa.Column("finished_at", Utc),
    sa.Index("ix_model_calls_account_id_started_at", "account_id", "started_at"),
    sa.Index("ix_model_calls_run_id", "run_id"),
    sa.Index("ix_model_calls_step_key", "step_key"),
    sa.Index("ix_model_calls_scope", "scope"),
)
