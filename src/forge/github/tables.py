"""The table of sign-ins that were started."""

import sqlalchemy as sa

from forge.store.types import METADATA, Utc

oauth_states = sa.Table(
    "oauth_states",
    METADATA,
    sa.Column("hash", sa.Text, primary_key=True),
    sa.Column("browser_hash", sa.Text, nullable=False),
    sa.Column("verifier_sealed", sa.LargeBinary, nullable=False),
    sa.Column("account_id", sa.Text),
    sa.Column("invitation_hash", sa.Text),
    sa.Column("created_at", Utc, nullable=False),
    sa.Column("expires_at", Utc, nullable=False),
    sa.Column("used_at", Utc),
)
"""`browser_hash`: only the browser that started may finish. `account_id`: connects GitHub to this account, which is
signed in already."""
