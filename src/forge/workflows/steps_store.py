"""The SQL of the steps of runs."""

from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa
from pydantic import TypeAdapter
from sqlalchemy.dialects import postgresql, sqlite

from forge.store.engine import Tx
from forge.workflows.engine.rows import StepRow
from forge.workflows.models import Attempt, LogLine, StepSummary
from forge.workflows.tables import workflow_steps as table

_ATTEMPTS = TypeAdapter(tuple[Attempt, ...])
_LOGS = TypeAdapter(tuple[LogLine, ...])
_KEPT = ("summary", "input", "output", "attempts", "logs", "ticket")


def _save(insert: type[postgresql.Insert] | type[sqlite.Insert]) -> sa.Executable:
    statement = insert(table)
    changed = {name: statement.excluded[name] for name in _KEPT}
    return statement.on_conflict_do_update(index_elements=["run_id", "key"], set_=changed)


# Built once: nothing here is executed as often, and building it costs more than the database takes.
_SAVE = {"sqlite": _save(sqlite.Insert), "postgresql": _save(postgresql.Insert)}


async def save(tx: Tx, rows: Mapping[str, Sequence[StepRow]]) -> None:
    """Of each run, each row instead of what was there of its step. One at a time on PostgreSQL, as events are."""
    values = [_values(run_id, row) for run_id, own in rows.items() for row in own]
    statement = _SAVE[tx.connection.dialect.name]
    if values and tx.connection.dialect.name != "postgresql":
        await tx.execute(statement, values)
        return
    for value in values:
        await tx.execute(statement, value)


async def load(tx: Tx, run_id: str, keys: Collection[str] | None = None) -> dict[str, StepRow]:
    """By key, in the order they began."""
    statement = sa.select(table).where(table.c.run_id == run_id)
    if keys is not None:
        statement = statement.where(table.c.key.in_(list(keys)))
    found = [_row(row) for row in (await tx.execute(statement)).mappings()]
    found.sort(key=lambda row: (str(row.summary.started_at or row.summary.finished_at or ""), row.key))
    return {row.key: row for row in found}


async def summaries(tx: Tx, run_id: str) -> list[StepSummary]:
    """Without what went in and came out, which may be large."""
    found = await tx.execute(sa.select(table.c.summary).where(table.c.run_id == run_id))
    steps = [StepSummary.model_validate(one) for one in found.scalars()]
    return sorted(steps, key=lambda step: (str(step.started_at or step.finished_at or ""), step.key))


async def costs(tx: Tx, run_ids: Collection[str]) -> dict[str, int]:
    """What the steps of each run have cost."""
    total = sa.func.sum(table.c.summary["cost_micros"].as_integer()).label("total")
    query = sa.select(table.c.run_id, total).where(table.c.run_id.in_(list(run_ids)))
    return {row.run_id: int(row.total) for row in await tx.execute(query.group_by(table.c.run_id))}


def _values(run_id: str, row: StepRow) -> dict[str, object]:
    return {
        "run_id": run_id,
        "key": row.key,
        "summary": row.summary.model_dump(mode="json"),
        "input": row.input,
        "output": row.output,
        "attempts": _ATTEMPTS.dump_python(row.attempts, mode="json"),
        "logs": _LOGS.dump_python(row.logs, mode="json"),
        "ticket": row.ticket,
    }


def _row(row: sa.RowMapping) -> StepRow:
    return StepRow(
        summary=StepSummary.model_validate(row["summary"]),
        input=row["input"],
        output=row["output"],
        attempts=_ATTEMPTS.validate_python(row["attempts"]),
        logs=_LOGS.validate_python(row["logs"]),
        ticket=row["ticket"],
    )
