"""SQL for accounts, login links, sessions, keys and secrets."""

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from forge.accounts.models import Account, ApiKey, Invitation, Member, SecretView
from forge.accounts.tables import (
    accounts,
    api_keys,
    github_identities,
    invitations,
    login_links,
    secrets,
    sessions,
)
from forge.store.database import Tx


class KeyKind(StrEnum):
    USER = "user"
    LOCAL = "local"
    """Created by the server for the commands on its own machine; not shown to users."""


@dataclass(frozen=True)
class LinkRow:
    account_id: str
    expires_at: datetime
    used_at: datetime | None


@dataclass(frozen=True)
class SessionRow:
    """A session with its account; `salt` derives the current token from the previous one."""

    id: str
    token_hash: str
    previous_hash: str | None
    salt: bytes = field(repr=False)
    rotated_at: datetime
    seen_at: datetime
    expires_at: datetime
    account: Account

    @property
    def is_confirmed(self) -> bool:
        """Whether the current token was used since the rotation."""
        return self.seen_at > self.rotated_at


@dataclass(frozen=True)
class KeyRow:
    key: ApiKey
    account: Account


@dataclass(frozen=True)
class SecretRow:
    """A secret as stored in the database."""

    account_id: str
    scope: str
    name: str
    nonce: bytes
    ciphertext: bytes
    last_four: str
    updated_at: datetime

    def view(self) -> SecretView:
        return SecretView(
            name=self.name,
            scope=self.scope,
            last_four=self.last_four,
            updated_at=self.updated_at,
            source="vault",
        )


async def insert_account_once(tx: Tx, account: Account) -> None:
    """Insert the account unless it exists: of several concurrent first starts, one creates it."""
    await tx.execute(tx.insert(accounts).values(account.model_dump()).on_conflict_do_nothing())


async def find_account(tx: Tx, account_id: str) -> Account | None:
    row = (await tx.execute(sa.select(accounts).where(accounts.c.id == account_id))).mappings().one_or_none()
    return Account.model_validate(dict(row)) if row else None


async def rename_account(tx: Tx, account_id: str, name: str) -> Account | None:
    statement = (
        sa.update(accounts).where(accounts.c.id == account_id).values(name=name).returning(*accounts.c)
    )
    row = (await tx.execute(statement)).mappings().one_or_none()
    return Account.model_validate(dict(row)) if row else None


async def list_members(tx: Tx) -> list[Member]:
    """Return all accounts, the owner first."""
    statement = (
        sa.select(*_account_columns(), accounts.c.removed_at, github_identities.c.login)
        .outerjoin(github_identities, github_identities.c.account_id == accounts.c.id)
        .order_by(accounts.c.created_at, accounts.c.id)
    )
    return [
        Member(account=_account(row), github_login=row["login"], removed_at=row["removed_at"])
        for row in (await tx.execute(statement)).mappings()
    ]


async def is_removed(tx: Tx, account_id: str) -> bool:
    statement = sa.select(accounts.c.removed_at).where(accounts.c.id == account_id)
    return (await tx.execute(statement)).scalar_one_or_none() is not None


async def set_removed(tx: Tx, account_id: str, at: datetime | None) -> None:
    await tx.execute(sa.update(accounts).where(accounts.c.id == account_id).values(removed_at=at))


async def revoke_credentials(tx: Tx, account_id: str, at: datetime) -> None:
    """End all sessions of an account, and revoke its keys and login links."""
    await tx.execute(sa.delete(sessions).where(sessions.c.account_id == account_id))
    await tx.execute(sa.delete(login_links).where(login_links.c.account_id == account_id))
    keys = sa.update(api_keys).where(api_keys.c.account_id == account_id, api_keys.c.revoked_at.is_(None))
    await tx.execute(keys.values(revoked_at=at))


async def insert_invitation(tx: Tx, invitation: Invitation, token_hash: str) -> None:
    await tx.execute(sa.insert(invitations).values(**invitation.model_dump(), token_hash=token_hash))


async def list_invitations(tx: Tx) -> list[Invitation]:
    statement = sa.select(*_invitation_columns()).order_by(invitations.c.created_at.desc())
    return [Invitation.model_validate(dict(row)) for row in (await tx.execute(statement)).mappings()]


async def find_invitation(
    tx: Tx, *, token_hash: str | None = None, invitation_id: str | None = None
) -> Invitation | None:
    column, value = (
        (invitations.c.id, invitation_id) if token_hash is None else (invitations.c.token_hash, token_hash)
    )
    row = (
        (await tx.execute(sa.select(*_invitation_columns()).where(column == value))).mappings().one_or_none()
    )
    return Invitation.model_validate(dict(row)) if row else None


async def use_invitation(tx: Tx, invitation_id: str, at: datetime) -> bool:
    """Record the use. Return False when another request used it first."""
    statement = (
        sa.update(invitations)
        .where(invitations.c.id == invitation_id, invitations.c.used_at.is_(None))
        .values(used_at=at)
    )
    return (await tx.execute(statement)).rowcount == 1


async def revoke_invitation(tx: Tx, invitation_id: str, at: datetime) -> bool:
    statement = (
        sa.update(invitations)
        .where(invitations.c.id == invitation_id, invitations.c.revoked_at.is_(None))
        .values(revoked_at=at)
    )
    return (await tx.execute(statement)).rowcount == 1


async def insert_link(
    tx: Tx, token_hash: str, account_id: str, *, created_at: datetime, expires_at: datetime
) -> None:
    values = {"account_id": account_id, "created_at": created_at, "expires_at": expires_at}
    await tx.execute(sa.insert(login_links).values(token_hash=token_hash, **values))


async def use_link(tx: Tx, token_hash: str, at: datetime) -> str | None:
    """Mark a valid link as used and return its account id; None for every other caller."""
    statement = (
        sa.update(login_links)
        .where(
            login_links.c.token_hash == token_hash,
            login_links.c.used_at.is_(None),
            login_links.c.expires_at > at,
        )
        .values(used_at=at)
        .returning(login_links.c.account_id)
    )
    return (await tx.execute(statement)).scalar_one_or_none()


async def find_link(tx: Tx, token_hash: str) -> LinkRow | None:
    columns = (login_links.c.account_id, login_links.c.expires_at, login_links.c.used_at)
    row = (await tx.execute(sa.select(*columns).where(login_links.c.token_hash == token_hash))).one_or_none()
    return LinkRow(*row) if row else None


async def delete_links_expired_before(tx: Tx, moment: datetime) -> None:
    await tx.execute(sa.delete(login_links).where(login_links.c.expires_at < moment))


async def insert_session(tx: Tx, session: SessionRow, *, created_at: datetime) -> None:
    values = {name: getattr(session, name) for name in _SESSION_COLUMNS}
    await tx.execute(
        sa.insert(sessions).values(**values, account_id=session.account.id, created_at=created_at)
    )


async def find_session(
    tx: Tx, token_hash: str | None = None, *, session_id: str | None = None
) -> SessionRow | None:
    """Find a session by its id, or by its current or previous token."""
    columns = [sessions.c[name] for name in _SESSION_COLUMNS]
    by_token = sa.or_(sessions.c.token_hash == token_hash, sessions.c.previous_hash == token_hash)
    statement = (
        sa.select(*columns, *_account_columns())
        .join(accounts, accounts.c.id == sessions.c.account_id)
        .where(by_token if session_id is None else sessions.c.id == session_id)
    )
    row = (await tx.execute(statement)).mappings().one_or_none()
    return (
        SessionRow(**{name: row[name] for name in _SESSION_COLUMNS}, account=_account(row)) if row else None
    )


async def rotate_session(tx: Tx, session: SessionRow, *, replaced_hash: str) -> bool:
    """Return False when another request rotated the token first."""
    statement = (
        sa.update(sessions)
        .where(sessions.c.id == session.id, sessions.c.token_hash == replaced_hash)
        .values({name: getattr(session, name) for name in _SESSION_COLUMNS})
    )
    return (await tx.execute(statement)).rowcount == 1


async def touch_session(tx: Tx, session: SessionRow, *, at: datetime, expires_at: datetime) -> None:
    """Extend the session. Always sets `seen_at` after `rotated_at`, even if the clock was set back: that confirms the
    current token."""
    seen_at = max(at, session.rotated_at + timedelta(microseconds=1))
    await tx.execute(
        sa.update(sessions).where(sessions.c.id == session.id).values(seen_at=seen_at, expires_at=expires_at)
    )


async def restart_rotation(tx: Tx, session_id: str, at: datetime) -> None:
    """Restart the grace minute of the previous token, because the new one is sent once more."""
    await tx.execute(sa.update(sessions).where(sessions.c.id == session_id).values(rotated_at=at, seen_at=at))


async def delete_session(tx: Tx, session_id: str) -> None:
    await tx.execute(sa.delete(sessions).where(sessions.c.id == session_id))


async def delete_sessions_expired_before(tx: Tx, moment: datetime) -> None:
    await tx.execute(sa.delete(sessions).where(sessions.c.expires_at < moment))


async def upsert_key(tx: Tx, key: ApiKey, *, account_id: str, kind: KeyKind, key_hash: str) -> None:
    """Insert a key, or replace the one with the same id."""
    values = {**key.model_dump(), "account_id": account_id, "kind": kind, "hash": key_hash}
    statement = tx.insert(api_keys).values(values)
    await tx.execute(statement.on_conflict_do_update(index_elements=["id"], set_=values))


async def find_key(tx: Tx, key_hash: str) -> KeyRow | None:
    statement = (
        sa.select(*_key_columns(), *_account_columns())
        .join(accounts, accounts.c.id == api_keys.c.account_id)
        .where(api_keys.c.hash == key_hash)
    )
    row = (await tx.execute(statement)).mappings().one_or_none()
    return KeyRow(_key(row), _account(row)) if row else None


async def list_user_keys(tx: Tx, account_id: str) -> list[ApiKey]:
    statement = sa.select(*_key_columns()).where(*_managed_by(account_id)).order_by(api_keys.c.id)
    return [_key(row) for row in (await tx.execute(statement)).mappings()]


async def find_user_key(tx: Tx, account_id: str, key_id: str) -> ApiKey | None:
    statement = sa.select(*_key_columns()).where(*_managed_by(account_id), api_keys.c.id == key_id)
    row = (await tx.execute(statement)).mappings().one_or_none()
    return _key(row) if row else None


async def revoke_key(tx: Tx, key_id: str, at: datetime) -> bool:
    """Return False when it was already revoked."""
    statement = (
        sa.update(api_keys)
        .where(api_keys.c.id == key_id, api_keys.c.revoked_at.is_(None))
        .values(revoked_at=at)
    )
    return (await tx.execute(statement)).rowcount == 1


async def touch_key(tx: Tx, key_id: str, at: datetime) -> None:
    await tx.execute(sa.update(api_keys).where(api_keys.c.id == key_id).values(last_used_at=at))


async def is_credential_alive(tx: Tx, credential_id: str, at: datetime) -> bool:
    """Return whether the id is that of an unexpired session or an unrevoked key."""
    session = sa.exists().where(sessions.c.id == credential_id, sessions.c.expires_at > at)
    key = sa.exists().where(api_keys.c.id == credential_id, api_keys.c.revoked_at.is_(None))
    return bool((await tx.execute(sa.select(session | key))).scalar_one())


async def upsert_secret(tx: Tx, row: SecretRow) -> None:
    changing = {"nonce": row.nonce, "ciphertext": row.ciphertext, "last_four": row.last_four}
    changing |= {"updated_at": row.updated_at}
    statement = tx.insert(secrets).values(
        account_id=row.account_id, scope=row.scope, name=row.name, created_at=row.updated_at, **changing
    )
    key = ["account_id", "scope", "name"]
    await tx.execute(statement.on_conflict_do_update(index_elements=key, set_=changing))


async def insert_secret_once(tx: Tx, row: SecretRow) -> None:
    values = {name: getattr(row, name) for name in SecretRow.__dataclass_fields__}
    statement = tx.insert(secrets).values(**values, created_at=row.updated_at)
    await tx.execute(statement.on_conflict_do_nothing())


async def find_secrets(tx: Tx, account_id: str, name: str, scopes: Collection[str]) -> dict[str, SecretRow]:
    """Return the secrets of this name, keyed by scope."""
    statement = sa.select(*_secret_columns()).where(
        secrets.c.account_id == account_id, secrets.c.name == name, secrets.c.scope.in_(list(scopes))
    )
    return {row.scope: SecretRow(*row) for row in await tx.execute(statement)}


async def list_secrets(tx: Tx, account_id: str, scope: str | None) -> list[SecretRow]:
    statement = sa.select(*_secret_columns()).where(secrets.c.account_id == account_id)
    if scope is not None:
        statement = statement.where(secrets.c.scope == scope)
    return [SecretRow(*row) for row in await tx.execute(statement)]


async def delete_secret(tx: Tx, account_id: str, name: str, scope: str) -> SecretRow | None:
    statement = (
        sa.delete(secrets)
        .where(secrets.c.account_id == account_id, secrets.c.name == name, secrets.c.scope == scope)
        .returning(*_secret_columns())
    )
    row = (await tx.execute(statement)).one_or_none()
    return SecretRow(*row) if row else None


async def delete_secrets(tx: Tx, scope: str) -> None:
    await tx.execute(sa.delete(secrets).where(secrets.c.scope == scope))


_SESSION_COLUMNS = ("id", "token_hash", "previous_hash", "salt", "rotated_at", "seen_at", "expires_at")


def _managed_by(account_id: str) -> tuple[sa.ColumnElement[bool], ...]:
    return api_keys.c.account_id == account_id, api_keys.c.kind == KeyKind.USER


def _invitation_columns() -> list[sa.Column[Any]]:
    return [invitations.c[name] for name in Invitation.model_fields]


def _account_columns() -> list[sa.Label[Any]]:
    return [accounts.c[name].label(f"account_{name}") for name in Account.model_fields]


def _key_columns() -> list[sa.Column[Any]]:
    return [api_keys.c[name] for name in ApiKey.model_fields]


def _secret_columns() -> list[sa.Column[Any]]:
    return [secrets.c[name] for name in SecretRow.__dataclass_fields__]


def _account(row: sa.RowMapping) -> Account:
    return Account.model_validate({name: row[f"account_{name}"] for name in Account.model_fields})


def _key(row: sa.RowMapping) -> ApiKey:
    return ApiKey.model_validate({name: row[name] for name in ApiKey.model_fields})
