"""SQL of skill records, grants and invocations."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import TypeAdapter

from forge.accounts.models import is_owner
from forge.errors import Denied
from forge.kernel.clock import now
from forge.skills.models import Capability, Grant, Origin, OwnSource, Scope, Tier
from forge.skills.tables import skill_grants, skill_invocations, skill_kv, skill_records
from forge.skills.views import SkillRun
from forge.store.database import Tx
from forge.store.pagination import Cursor, newest_first

_ORIGIN: TypeAdapter[Origin] = TypeAdapter(Origin)


@dataclass(frozen=True)
class Record:
    """What Forge stores about a skill in addition to its folder."""

    name: str
    source: Origin
    tier: Tier
    version: str
    folder_hash: str
    installed_at: datetime
    changed_at: datetime


async def list_makers(tx: Tx, name: str) -> set[str]:
    """Return the accounts that created a skill, or changed it here."""
    query = sa.select(skill_records.c.account_id, skill_records.c.source).where(skill_records.c.name == name)
    own = OwnSource().type
    return {row.account_id for row in await tx.execute(query) if row.source["type"] == own}


async def check_change(tx: Tx, account_id: str, name: str) -> None:
    """Raise Denied unless the account may change a skill of the library, which all accounts share.

    A skill that an account created stays trusted when its folder changes, so nobody else but the owner may change it.
    """
    if not is_owner(account_id) and await list_makers(tx, name) != {account_id}:
        raise Denied(
            f"The skill {name} is shared by the accounts of this server; only the owner may change it.",
            hint="Create a skill of your own from it, with another name.",
        )


async def save_record(tx: Tx, account_id: str, record: Record) -> None:
    """Insert or replace a record; `installed_at` of an existing one is kept."""
    values = {
        **vars(record),
        "account_id": account_id,
        "source": record.source.model_dump(mode="json"),
        "tier": record.tier.value,
    }
    fresh = {
        name: value for name, value in values.items() if name not in ("account_id", "name", "installed_at")
    }
    table = skill_records
    statement = tx.insert(table).values(**values)
    keys = [table.c.account_id, table.c.name]
    await tx.execute(statement.on_conflict_do_update(index_elements=keys, set_=fresh))


async def find_record(tx: Tx, account_id: str, name: str) -> Record | None:
    table = skill_records
    query = sa.select(table).where(table.c.account_id == account_id, table.c.name == name)
    row = (await tx.execute(query)).one_or_none()
    return _record(row) if row is not None else None


async def list_records(tx: Tx, account_id: str) -> dict[str, Record]:
    table = skill_records
    rows = await tx.execute(sa.select(table).where(table.c.account_id == account_id))
    return {row.name: _record(row) for row in rows}


async def delete_skill(tx: Tx, account_id: str, name: str) -> None:
    """Delete everything but the log of its runs."""
    records, grants, kept = skill_records, skill_grants, skill_kv
    await tx.execute(sa.delete(records).where(records.c.account_id == account_id, records.c.name == name))
    await tx.execute(sa.delete(grants).where(grants.c.account_id == account_id, grants.c.skill == name))
    await tx.execute(sa.delete(kept).where(kept.c.account_id == account_id, kept.c.skill == name))


async def list_grants(tx: Tx, account_id: str, skill: str | None = None) -> dict[str, list[Grant]]:
    """Return the grants by skill, in the order of Capability."""
    table = skill_grants
    query = sa.select(table).where(table.c.account_id == account_id)
    query = query if skill is None else query.where(table.c.skill == skill)
    found: dict[str, list[Grant]] = {}
    for row in await tx.execute(query):
        found.setdefault(row.skill, []).append(_grant(row))
    order = list(Capability)
    return {
        name: sorted(grants, key=lambda one: order.index(one.capability)) for name, grants in found.items()
    }


async def replace_grants(tx: Tx, account_id: str, skill: str, grants: Sequence[Grant]) -> None:
    table = skill_grants
    await tx.execute(sa.delete(table).where(table.c.account_id == account_id, table.c.skill == skill))
    if not grants:
        return
    rows: list[dict[str, Any]] = [
        {
            "account_id": account_id,
            "skill": skill,
            "capability": one.capability.value,
            "scope": one.scope.model_dump(mode="json"),
            "folder_hash": one.folder_hash,
            "granted_at": one.granted_at,
            "granted_by": one.granted_by,
        }
        for one in grants
    ]
    await tx.execute(sa.insert(table), rows)


async def delete_grant(tx: Tx, account_id: str, skill: str, capability: Capability) -> bool:
    """Return False if there was no such grant."""
    table = skill_grants
    is_it = (
        table.c.account_id == account_id,
        table.c.skill == skill,
        table.c.capability == capability.value,
    )
    gone = await tx.execute(sa.delete(table).where(*is_it).returning(table.c.skill))
    return gone.one_or_none() is not None


async def insert_run(tx: Tx, account_id: str, run: SkillRun) -> None:
    values = run.model_dump(mode="json", include=set(SkillRun.model_fields))
    await tx.execute(sa.insert(skill_invocations).values({**values, "at": run.at, "account_id": account_id}))


async def end_run(tx: Tx, run: SkillRun) -> None:
    ended = {
        "end",
        "error",
        "capabilities_used",
        "output_hash",
        "fuel",
        "memory_bytes",
        "duration_ms",
        "logs",
    }
    values = run.model_dump(mode="json", include=ended)
    table = skill_invocations
    await tx.execute(sa.update(table).where(table.c.id == run.id).values(**values))


async def list_runs(tx: Tx, account_id: str, skill: str, cursor: Cursor | None, limit: int) -> list[SkillRun]:
    """Return runs, newest first."""
    table = skill_invocations
    query = sa.select(table).where(table.c.account_id == account_id, table.c.skill == skill)
    found = await tx.execute(newest_first(query, table.c.at, table.c.id, cursor, limit))
    return [SkillRun.model_validate(dict(row)) for row in found.mappings()]


async def delete_runs_before(tx: Tx, at: datetime) -> None:
    await tx.execute(sa.delete(skill_invocations).where(skill_invocations.c.at < at))


async def delete_left(tx: Tx, prefix: str, before: datetime) -> None:
    """Delete stored values of accounts with this prefix."""
    is_left = (skill_kv.c.account_id.startswith(prefix, autoescape=True), skill_kv.c.changed_at < before)
    await tx.execute(sa.delete(skill_kv).where(*is_left))


def _record(row: Any) -> Record:
    return Record(
        name=row.name,
        source=_ORIGIN.validate_python(row.source),
        tier=Tier(row.tier),
        version=row.version,
        folder_hash=row.folder_hash,
        installed_at=row.installed_at,
        changed_at=row.changed_at,
    )


def _grant(row: Any) -> Grant:
    return Grant(
        capability=Capability(row.capability),
        scope=Scope.model_validate(row.scope),
        folder_hash=row.folder_hash,
        granted_at=row.granted_at,
        granted_by=row.granted_by,
    )


@dataclass(frozen=True)
class ValueOwner:
    account_id: str
    skill: str


@dataclass(frozen=True)
class StoredSize:
    keys: int
    characters: int
    """Total length of keys and values."""


async def find_value(tx: Tx, owner: ValueOwner, key: str) -> str | None:
    query = sa.select(skill_kv.c.value).where(_belongs_to(owner), skill_kv.c.key == key)
    return (await tx.execute(query)).scalar_one_or_none()


async def list_keys(tx: Tx, owner: ValueOwner) -> list[str]:
    query = sa.select(skill_kv.c.key).where(_belongs_to(owner))
    return sorted((await tx.execute(query)).scalars())


async def lock_values(tx: Tx, owner: ValueOwner) -> None:
    """Serialize writers, so that two cannot both take the last free key. SQLite has a single writer anyway."""
    if tx.is_postgresql:
        name = f"skill_kv {owner.account_id} {owner.skill}"
        await tx.execute(sa.select(sa.func.pg_advisory_xact_lock(sa.func.hashtextextended(name, 0))))


async def measure_values(tx: Tx, owner: ValueOwner, *, without: str) -> StoredSize:
    """Measure all entries except one key."""
    length = sa.func.length
    size = sa.func.coalesce(sa.func.sum(length(skill_kv.c.key) + length(skill_kv.c.value)), 0)
    columns = (sa.func.count().label("keys"), size.label("characters"))
    query = sa.select(*columns).where(_belongs_to(owner), skill_kv.c.key != without)
    found = (await tx.execute(query)).mappings().one()
    return StoredSize(int(found["keys"]), int(found["characters"]))


async def upsert_value(tx: Tx, owner: ValueOwner, key: str, value: str) -> None:
    changed = {"value": value, "changed_at": now()}
    statement = tx.insert(skill_kv).values(account_id=owner.account_id, skill=owner.skill, key=key, **changed)
    await tx.execute(
        statement.on_conflict_do_update(index_elements=["account_id", "skill", "key"], set_=changed)
    )


async def delete_value(tx: Tx, owner: ValueOwner, key: str) -> bool:
    """Return whether the key existed."""
    statement = sa.delete(skill_kv).where(_belongs_to(owner), skill_kv.c.key == key)
    return (await tx.execute(statement)).rowcount > 0


def _belongs_to(owner: ValueOwner) -> sa.ColumnElement[bool]:
    return sa.and_(skill_kv.c.account_id == owner.account_id, skill_kv.c.skill == owner.skill)
