"""Secrets per account, members and their invitations, GitHub identities, shared model providers."""

import sqlalchemy as sa
from alembic import op

from forge.store.types import Json, Utc

revision = "0012"
down_revision = "0011"

OWNER = "157e9eaf-0192-596c-ae24-5d00df6f9bfa"
"""The fixed id of the owner, to whom all earlier secrets belong."""
CANARY_SCOPE = "forge:vault"


def upgrade():
    _give_secrets_an_account()
    op.add_column("accounts", sa.Column("removed_at", Utc()))
    op.create_table(
        "invitations",
        sa.Column("id", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.Text(), nullable=False),
        sa.Column("github_login", sa.Text()),
        sa.Column("organizations", Json, nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("expires_at", Utc(), nullable=False),
        sa.Column("used_at", Utc()),
        sa.Column("revoked_at", Utc()),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_invitations")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_invitations_token_hash")),
    )
    op.create_table(
        "github_identities",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("github_id", sa.BigInteger(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("avatar_url", sa.Text(), nullable=False),
        sa.Column("token_kind", sa.Text()),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("updated_at", Utc(), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["accounts.id"],
            name=op.f("fk_github_identities_account_id_accounts"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("account_id", name=op.f("pk_github_identities")),
        sa.UniqueConstraint("github_id", name=op.f("uq_github_identities_github_id")),
    )
    op.create_table(
        "oauth_states",
        sa.Column("hash", sa.Text(), nullable=False),
        sa.Column("browser_hash", sa.Text(), nullable=False),
        sa.Column("verifier_sealed", sa.LargeBinary(), nullable=False),
        sa.Column("account_id", sa.Text()),
        sa.Column("invitation_hash", sa.Text()),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("expires_at", Utc(), nullable=False),
        sa.Column("used_at", Utc()),
        sa.PrimaryKeyConstraint("hash", name=op.f("pk_oauth_states")),
    )
    op.create_table(
        "model_shares",
        sa.Column("provider", sa.Text(), nullable=False),
        sa.Column("day_micros", sa.BigInteger(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("provider", name=op.f("pk_model_shares")),
    )


def _give_secrets_an_account():
    """Copy the table: SQLite cannot change a primary key. A ciphertext of the owner's is bound to no account."""
    op.rename_table("secrets", "owner_secrets")
    if op.get_bind().dialect.name == "postgresql":  # there, names of constraints are unique per schema
        op.execute("ALTER TABLE owner_secrets RENAME CONSTRAINT pk_secrets TO pk_owner_secrets")
    op.create_table(
        "secrets",
        sa.Column("account_id", sa.Text(), nullable=False),
        sa.Column("scope", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("nonce", sa.LargeBinary(), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.Column("last_four", sa.Text(), nullable=False),
        sa.Column("created_at", Utc(), nullable=False),
        sa.Column("updated_at", Utc(), nullable=False),
        sa.PrimaryKeyConstraint("account_id", "scope", "name", name=op.f("pk_secrets")),
    )
    op.execute(
        sa.text(
            "INSERT INTO secrets (account_id, scope, name, nonce, ciphertext, last_four, created_at, updated_at) "
            "SELECT CASE WHEN scope = :canary THEN '' ELSE :owner END, "
            "scope, name, nonce, ciphertext, last_four, created_at, updated_at FROM owner_secrets"
        ).bindparams(canary=CANARY_SCOPE, owner=OWNER)
    )
    op.drop_table("owner_secrets")
