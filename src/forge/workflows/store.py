"""SQL queries for workflows, their versions and their runs."""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from pydantic import JsonValue

from forge.errors import NotFound
from forge.kernel.clock import now
from forge.runs.queries import active_ids
from forge.store.database import Tx
from forge.store.pagination import Cursor, newest_first
from forge.workflows.definition.models import Definition
from forge.workflows.models import TriggerType, WorkflowVersion
from forge.workflows.tables import workflow_runs, workflow_versions, workflows

STRIP = 20
MAX_COMPOUND_SELECTS = 100
"""SQLite allows at most 500 selects in a compound query."""


@dataclass(frozen=True)
class WorkflowRow:
    id: str
    account_id: str
    name: str
    owner: str | None
    number: int
    is_enabled: bool
    created_at: datetime
    updated_at: datetime
    deleted_at: datetime | None = None


@dataclass(frozen=True)
class VersionRow:
    number: int
    version: str
    definition: dict[str, Any]
    source: str
    by: str
    at: datetime

    @property
    def parsed(self) -> Definition:
        return Definition.model_validate(self.definition)

    def view(self) -> WorkflowVersion:
        return WorkflowVersion(number=self.number, version=self.version, by=self.by, at=self.at)


@dataclass(frozen=True)
class RunRow:
    run_id: str
    workflow_id: str
    workflow_name: str
    number: int
    trigger: TriggerType
    source: str
    payload: JsonValue
    inputs: dict[str, Any]
    about: dict[str, Any]
    dedupe_key: str | None
    depth: int
    retry_of: str | None
    created_at: datetime
    failure: JsonValue = None


async def insert(tx: Tx, row: WorkflowRow) -> bool:
    """Return False if the name is taken."""
    statement = tx.insert(workflows).values(**row.__dict__).on_conflict_do_nothing()
    return (await tx.execute(statement.returning(workflows.c.id))).one_or_none() is not None


async def find(tx: Tx, account_id: str, ref: str, *, lock: bool = False) -> WorkflowRow | None:
    """Find a workflow by id or name, ignoring deleted ones. An id match wins."""
    query = sa.select(workflows).where(
        workflows.c.account_id == account_id,
        (workflows.c.id == ref) | (workflows.c.name == ref),
        workflows.c.deleted_at.is_(None),
    )
    found = await tx.execute(query.with_for_update() if lock else query)
    rows = [WorkflowRow(**row) for row in found.mappings()]
    return min(rows, key=lambda row: row.id != ref, default=None)


async def find_all(tx: Tx, account_id: str, owner: str | None) -> list[WorkflowRow]:
    query = sa.select(workflows).where(workflows.c.account_id == account_id, workflows.c.deleted_at.is_(None))
    if owner is not None:
        query = query.where(workflows.c.owner == owner)
    return [WorkflowRow(**row) for row in (await tx.execute(query.order_by(workflows.c.name))).mappings()]


async def is_name_taken(tx: Tx, account_id: str, name: str, *, except_id: str) -> bool:
    query = sa.select(workflows.c.id).where(
        workflows.c.account_id == account_id,
        workflows.c.name == name,
        workflows.c.id != except_id,
        workflows.c.deleted_at.is_(None),
    )
    return (await tx.execute(query)).first() is not None


async def change(tx: Tx, workflow_id: str, **values: Any) -> None:
    await tx.execute(
        sa.update(workflows).where(workflows.c.id == workflow_id).values(updated_at=now(), **values)
    )


async def purge(tx: Tx) -> None:
    """Remove deleted workflows that have no runs left."""
    has_runs = sa.exists().where(workflow_runs.c.workflow_id == workflows.c.id)
    await tx.execute(sa.delete(workflows).where(workflows.c.deleted_at.is_not(None), ~has_runs))


async def insert_version(tx: Tx, workflow_id: str, version: VersionRow) -> None:
    await tx.execute(sa.insert(workflow_versions).values(workflow_id=workflow_id, **version.__dict__))


async def find_version(tx: Tx, workflow_id: str, number: int) -> VersionRow | None:
    query = sa.select(workflow_versions).where(
        workflow_versions.c.workflow_id == workflow_id, workflow_versions.c.number == number
    )
    row = (await tx.execute(query)).mappings().one_or_none()
    return _version(row) if row else None


async def newest_versions(tx: Tx, rows: Sequence[WorkflowRow]) -> dict[str, VersionRow]:
    """Return the current version of each workflow, by workflow id."""
    table = workflow_versions
    query = sa.select(table).join(
        workflows, (workflows.c.id == table.c.workflow_id) & (workflows.c.number == table.c.number)
    )
    found = await tx.execute(query.where(workflows.c.id.in_([row.id for row in rows])))
    return {row["workflow_id"]: _version(row) for row in found.mappings()}


async def list_versions(tx: Tx, workflow_id: str) -> list[WorkflowVersion]:
    """List versions, newest first."""
    table = workflow_versions
    query = sa.select(table.c.number, table.c.version, table.c.by, table.c.at)
    found = await tx.execute(query.where(table.c.workflow_id == workflow_id).order_by(table.c.number.desc()))
    return [WorkflowVersion.model_validate(dict(row)) for row in found.mappings()]


async def insert_run(tx: Tx, row: RunRow) -> None:
    await tx.execute(sa.insert(workflow_runs).values(**row.__dict__))


async def find_run(tx: Tx, run_id: str) -> RunRow | None:
    found = await tx.execute(sa.select(workflow_runs).where(workflow_runs.c.run_id == run_id))
    row = found.mappings().one_or_none()
    return _run(row) if row else None


async def set_failure(tx: Tx, run_id: str, failure: JsonValue) -> None:
    await tx.execute(sa.update(workflow_runs).where(workflow_runs.c.run_id == run_id).values(failure=failure))


async def find_by_dedupe(tx: Tx, workflow_id: str, key: str) -> str | None:
    query = sa.select(workflow_runs.c.run_id).where(
        workflow_runs.c.workflow_id == workflow_id, workflow_runs.c.dedupe_key == key
    )
    return (await tx.execute(query)).scalar_one_or_none()


async def expire_dedupe(tx: Tx, workflow_id: str, key: str, before: datetime) -> None:
    """Release the key of a run created before this time, so that a new run can have it."""
    is_expired = (
        (workflow_runs.c.workflow_id == workflow_id)
        & (workflow_runs.c.dedupe_key == key)
        & (workflow_runs.c.created_at < before)
    )
    await tx.execute(sa.update(workflow_runs).where(is_expired).values(dedupe_key=None))


async def list_runs(
    tx: Tx,
    account_id: str,
    workflow_id: str | None,
    *,
    cursor: Cursor | None,
    limit: int,
) -> list[RunRow]:
    """List runs, newest first, of one workflow or of all."""
    table = workflow_runs
    query = sa.select(table).join(workflows, workflows.c.id == table.c.workflow_id)
    query = query.where(workflows.c.account_id == account_id)
    if workflow_id is not None:
        query = query.where(table.c.workflow_id == workflow_id)
    found = await tx.execute(newest_first(query, table.c.created_at, table.c.run_id, cursor, limit))
    return [_run(row) for row in found.mappings()]


async def strip(tx: Tx, workflow_ids: Collection[str]) -> dict[str, list[str]]:
    """Return the ids of the last runs of each workflow, oldest first. The cost does not depend on the number of runs."""
    found: dict[str, list[str]] = {}
    selects = [_last_runs(workflow_id) for workflow_id in workflow_ids]
    for start in range(0, len(selects), MAX_COMPOUND_SELECTS):
        last = sa.union_all(*selects[start : start + MAX_COMPOUND_SELECTS]).subquery()
        query = sa.select(last).order_by(last.c.created_at, last.c.run_id)
        for row in await tx.execute(query):
            found.setdefault(row.workflow_id, []).append(row.run_id)
    return found


def _last_runs(workflow_id: str) -> sa.Select[Any, Any, Any]:
    table = workflow_runs
    newest = (
        sa.select(table.c.workflow_id, table.c.run_id, table.c.created_at)
        .where(table.c.workflow_id == workflow_id)
        .order_by(table.c.created_at.desc(), table.c.run_id.desc())
        .limit(STRIP)
        .subquery()
    )
    return sa.select(newest.c.workflow_id, newest.c.run_id, newest.c.created_at)


async def workflows_of(tx: Tx, run_ids: Collection[str]) -> dict[str, str]:
    query = sa.select(workflow_runs.c.run_id, workflow_runs.c.workflow_id)
    found = await tx.execute(query.where(workflow_runs.c.run_id.in_(list(run_ids))))
    return {row.run_id: row.workflow_id for row in found}


async def active(tx: Tx, workflow_id: str, *, older_than: RunRow | None = None) -> list[str]:
    """Return the ids of unfinished runs, oldest first."""
    table = workflow_runs
    query = sa.select(table.c.run_id).where(
        table.c.workflow_id == workflow_id, table.c.run_id.in_(active_ids())
    )
    if older_than is not None:
        at = sa.bindparam(None, older_than.created_at, table.c.created_at.type)
        own = sa.bindparam(None, older_than.run_id, table.c.run_id.type)
        query = query.where(sa.tuple_(table.c.created_at, table.c.run_id) < sa.tuple_(at, own))
    return list((await tx.execute(query.order_by(table.c.created_at, table.c.run_id))).scalars())


def _version(row: sa.RowMapping) -> VersionRow:
    values = dict(row)
    values.pop("workflow_id")
    return VersionRow(**values)


def _run(row: sa.RowMapping) -> RunRow:
    values = dict(row)
    return RunRow(trigger=TriggerType(values.pop("trigger")), **values)


MAX_CACHED = 200


class DefinitionCache:
    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, int], Definition] = OrderedDict()

    async def find(self, tx: Tx, workflow_id: str, number: int) -> Definition:
        known = self._known.get((workflow_id, number))
        if known is not None:
            self._known.move_to_end((workflow_id, number))
            return known
        version = await find_version(tx, workflow_id, number)
        if version is None:
            raise NotFound(f"Version {number} of this workflow no longer exists.")
        self._known[workflow_id, number] = definition = version.parsed
        if len(self._known) > MAX_CACHED:
            self._known.popitem(last=False)
        return definition
