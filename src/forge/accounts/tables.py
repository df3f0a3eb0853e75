"""Tables of accounts. Tokens and keys are stored as SHA-256 hashes, secrets as ciphertext."""

import sqlalchemy as sa

from forge.store.types import METADATA, Json, Utc


def _account_id() -> sa.Column[str]:
    return sa.Column(
        "account_id", sa.Text, sa.ForeignKey("accounts.id", ondelete="CASCADE"), nullable=False, index=True
    )


accounts = sa.Table(
    "accounts",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("role", sa.Text, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("removed_at", Utc),
)
"""A removed member cannot sign in; the data is kept until the member is invited again or purged."""

invitations = sa.Table(
    "invitations",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("token_hash", sa.Text, nullable=False, unique=True),
    sa.Column("github_login", sa.Text),
    sa.Column("organizations", Json, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("expires_at", Utc, nullable=False),
    sa.Column("used_at", Utc),
    sa.Column("revoked_at", Utc),
)
"""Bound to a GitHub login, which can use it once, or open to the members of organizations until it expires."""

github_identities = sa.Table(
    "github_identities",
    METADATA,
    sa.Column("account_id", sa.Text, sa.ForeignKey("accounts.id", ondelete="CASCADE"), primary_key=True),
    sa.Column("github_id", sa.BigInteger, nullable=False, unique=True),
    sa.Column("login", sa.Text, nullable=False),
    sa.Column("avatar_url", sa.Text, nullable=False),
    sa.Column("token_kind", sa.Text),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
)
"""Accounts are recognized by `github_id`: a login can be renamed and taken by another user. The token is in the vault."""

login_links = sa.Table(
    "login_links",
    METADATA,
    sa.Column("token_hash", sa.Text, primary_key=True),
    _account_id(),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("expires_at", Utc, nullable=False),
    sa.Column("used_at", Utc),
)

sessions = sa.Table(
    "sessions",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    sa.Column("token_hash", sa.Text, nullable=False, unique=True),
    sa.Column("previous_hash", sa.Text, index=True),
    sa.Column("salt", sa.LargeBinary, nullable=False),
    _account_id(),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("rotated_at", Utc, nullable=False),
    sa.Column("seen_at", Utc, nullable=False),
    sa.Column("expires_at", Utc, nullable=False),
)
"""`salt` and the previous token derive the current token, see `sessions.successor`."""

api_keys = sa.Table(
    "api_keys",
    METADATA,
    sa.Column("id", sa.Text, primary_key=True),
    _account_id(),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("kind", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False, unique=True),
    sa.Column("hint", sa.Text, nullable=False),
    sa.Column("scopes", Json, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("last_used_at", Utc),
    sa.Column("revoked_at", Utc),
)

secrets = sa.Table(
    "secrets",
    METADATA,
    sa.Column("account_id", sa.Text, primary_key=True),
    sa.Column("scope", sa.Text, primary_key=True),
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("nonce", sa.LargeBinary, nullable=False),
    sa.Column("ciphertext", sa.LargeBinary, nullable=False),
    sa.Column("last_four", sa.Text, nullable=False),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("updated_at", Utc, nullable=False),
)
"""`account_id` is empty for the canary that checks the vault key."""
