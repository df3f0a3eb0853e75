"""SQL of registries."""

from datetime import datetime
from typing import Any

import sqlalchemy as sa

from forge.skills.installation.views import Registry
from forge.skills.tables import skill_registries
from forge.store.database import Tx


async def insert_registry(tx: Tx, account_id: str, name: str, url: str, fetched_at: datetime) -> bool:
    """Return False if the name is taken."""
    values = {"account_id": account_id, "name": name, "url": url, "fetched_at": fetched_at}
    added = tx.insert(skill_registries).values(**values).on_conflict_do_nothing()
    found = await tx.execute(added.returning(skill_registries.c.name))
    return found.one_or_none() is not None


async def list_registries(tx: Tx, account_id: str) -> list[Registry]:
    """Return the registries, by name."""
    table = skill_registries
    query = sa.select(table).where(table.c.account_id == account_id).order_by(table.c.name)
    return [_registry(row) for row in await tx.execute(query)]


async def find_registry(tx: Tx, account_id: str, name: str) -> Registry | None:
    table = skill_registries
    query = sa.select(table).where(table.c.account_id == account_id, table.c.name == name)
    row = (await tx.execute(query)).one_or_none()
    return _registry(row) if row is not None else None


async def update_registry(
    tx: Tx, account_id: str, name: str, *, fetched_at: datetime | None, problem: str | None
) -> None:
    table = skill_registries
    is_it = (table.c.account_id == account_id, table.c.name == name)
    await tx.execute(sa.update(table).where(*is_it).values(fetched_at=fetched_at, problem=problem))


async def delete_registry(tx: Tx, account_id: str, name: str) -> bool:
    """Return False if there was no such registry."""
    table = skill_registries
    is_it = (table.c.account_id == account_id, table.c.name == name)
    gone = await tx.execute(sa.delete(table).where(*is_it).returning(table.c.name))
    return gone.one_or_none() is not None


def _registry(row: Any) -> Registry:
    return Registry(name=row.name, url=row.url, fetched_at=row.fetched_at, problem=row.problem)
