"""What skills keep: SQL of their keys and values."""

from dataclasses import dataclass

import sqlalchemy as sa

from forge.kernel.clock import now
from forge.skills.tables import skill_kv
from forge.store.engine import Tx


@dataclass(frozen=True)
class Whose:
    account_id: str
    skill: str


@dataclass(frozen=True)
class Kept:
    keys: int
    characters: int
    """Of keys and values."""


async def find(tx: Tx, whose: Whose, key: str) -> str | None:
    query = sa.select(skill_kv.c.value).where(_are_of(whose), skill_kv.c.key == key)
    return (await tx.execute(query)).scalar_one_or_none()


async def list_keys(tx: Tx, whose: Whose) -> list[str]:
    query = sa.select(skill_kv.c.key).where(_are_of(whose))
    return sorted((await tx.execute(query)).scalars())


async def lock(tx: Tx, whose: Whose) -> None:
    """Two at once must not both find room for the last key. SQLite has one writer anyway."""
    if tx.is_postgresql:
        name = f"skill_kv {whose.account_id} {whose.skill}"
        await tx.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(name, 0))))


async def measure(tx: Tx, whose: Whose, *, without: str) -> Kept:
    """What there is beside one key."""
    length = sa.func.length
    size = sa.func.coalesce(sa.func.sum(length(skill_kv.c.key) + length(skill_kv.c.value)), 0)
    columns = (sa.func.count().label("keys"), size.label("characters"))
    query = sa.select(*columns).where(_are_of(whose), skill_kv.c.key != without)
    found = (await tx.execute(query)).mappings().one()
    return Kept(int(found["keys"]), int(found["characters"]))


async def upsert(tx: Tx, whose: Whose, key: str, value: str) -> None:
    changed = {"value": value, "changed_at": now()}
    statement = tx.insert(skill_kv).values(account_id=whose.account_id, skill=whose.skill, key=key, **changed)
    await tx.execute(
        statement.on_conflict_do_update(index_elements=["account_id", "skill", "key"], set_=changed)
    )


async def delete(tx: Tx, whose: Whose, key: str) -> bool:
    """Whether it was there."""
    statement = sa.delete(skill_kv).where(_are_of(whose), skill_kv.c.key == key)
    return (await tx.execute(statement)).rowcount > 0


def _are_of(whose: Whose) -> sa.ColumnElement[bool]:
    return sa.and_(skill_kv.c.account_id == whose.account_id, skill_kv.c.skill == whose.skill)
