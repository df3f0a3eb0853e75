"""The GitHub identities of accounts. Their tokens are in the vault."""

from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa

from forge.accounts.models import Account, GithubIdentity
from forge.accounts.tables import accounts, github_identities
from forge.store.database import Tx


@dataclass(frozen=True)
class IdentityRow:
    """A GitHub identity with its account; `is_removed`: the member was removed."""

    identity: GithubIdentity
    account: Account
    token_kind: str | None
    is_removed: bool


async def find_identity(
    tx: Tx, *, github_id: int | None = None, account_id: str | None = None
) -> IdentityRow | None:
    column, value = (
        (github_identities.c.account_id, account_id)
        if github_id is None
        else (github_identities.c.github_id, github_id)
    )
    statement = (
        sa.select(
            *(github_identities.c[name] for name in GithubIdentity.model_fields),
            github_identities.c.token_kind,
            accounts.c.removed_at,
            *(accounts.c[name].label(f"account_{name}") for name in Account.model_fields),
        )
        .join(accounts, accounts.c.id == github_identities.c.account_id)
        .where(column == value)
    )
    row = (await tx.execute(statement)).mappings().one_or_none()
    if row is None:
        return None
    identity = GithubIdentity.model_validate({name: row[name] for name in GithubIdentity.model_fields})
    account = Account.model_validate({name: row[f"account_{name}"] for name in Account.model_fields})
    return IdentityRow(identity, account, row["token_kind"], row["removed_at"] is not None)


async def upsert_identity(
    tx: Tx, account_id: str, identity: GithubIdentity, token_kind: str | None, at: datetime
) -> None:
    changing = {**identity.model_dump(), "token_kind": token_kind, "updated_at": at}
    statement = tx.insert(github_identities).values(account_id=account_id, created_at=at, **changing)
    await tx.execute(statement.on_conflict_do_update(index_elements=["account_id"], set_=changing))
