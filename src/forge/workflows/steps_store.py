"""The SQL of the steps of runs."""

import json
from collections.abc import Collection, Mapping, Sequence

import sqlalchemy as sa
from pydantic import JsonValue, TypeAdapter

from forge.store.engine import Tx
from forge.workflows.engine.rows import StepRow
from forge.workflows.models import Attempt, LogLine, StepSummary
from forge.workflows.tables import workflow_steps as table

_ATTEMPTS = TypeAdapter(tuple[Attempt, ...])
_LOGS = TypeAdapter(tuple[LogLine, ...])
_KEPT = ("summary", "input", "output", "attempts", "logs", "ticket")


_COLUMNS = ("run_id", "key", *_KEPT)
_CONFLICT = "ON CONFLICT (run_id, key) DO UPDATE SET " + ", ".join(f"{one} = excluded.{one}" for one in _KEPT)
_SAVE = {
    "sqlite": sa.text(
        f"INSERT INTO workflow_steps ({', '.join(_COLUMNS)}) "  # noqa: S608  (our own names)
        f"VALUES ({', '.join(f':{one}' for one in _COLUMNS)}) {_CONFLICT}"
    ),
    "postgresql": sa.text(
        f"INSERT INTO workflow_steps ({', '.join(_COLUMNS)}) "  # noqa: S608
        f"SELECT run_id, key, {', '.join(f'CAST({one} AS json)' for one in _KEPT)} "
        f"FROM unnest({', '.join(f'CAST(:{one} AS text[])' for one in _COLUMNS)}) AS s ({', '.join(_COLUMNS)}) "
        f"{_CONFLICT}"
    ),
}
"""Written out, as those of events are, and for the same reasons."""


async def save(tx: Tx, rows: Mapping[str, Sequence[StepRow]]) -> None:
    """Of each run, each row instead of what was there of its step."""
    values = [_values(run_id, row) for run_id, own in rows.items() for row in own]
    if not values:
        return
    if tx.is_postgresql:
        await tx.execute(_SAVE["postgresql"], {name: [one[name] for one in values] for name in _COLUMNS})
    else:
        await tx.execute(_SAVE["sqlite"], values)


async def load(tx: Tx, run_id: str, keys: Collection[str] | None = None) -> dict[str, StepRow]:
    """By key, in the order they began."""
    statement = sa.select(table).where(table.c.run_id == run_id)
    if keys is not None:
        statement = statement.where(table.c.key.in_(list(keys)))
    found = [_row(row) for row in (await tx.execute(statement)).mappings()]
    found.sort(key=lambda row: (str(row.summary.started_at or row.summary.finished_at or ""), row.key))
    return {row.key: row for row in found}


async def page(tx: Tx, run_id: str, *, after: str | None, limit: int) -> list[StepRow]:
    """By key, which stays the same while the run goes on."""
    statement = sa.select(table).where(table.c.run_id == run_id)
    if after is not None:
        statement = statement.where(table.c.key > after)
    found = await tx.execute(statement.order_by(table.c.key).limit(limit))
    return [_row(row) for row in found.mappings()]


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


def _values(run_id: str, row: StepRow) -> dict[str, str | None]:
    """As texts of JSON."""
    return {
        "run_id": run_id,
        "key": row.key,
        "summary": row.summary.model_dump_json(),
        "input": _json(row.input),
        "output": _json(row.output),
        "attempts": _ATTEMPTS.dump_json(row.attempts).decode(),
        "logs": _LOGS.dump_json(row.logs).decode(),
        "ticket": _json(row.ticket),
    }


def _json(value: JsonValue) -> str | None:
    return None if value is None else json.dumps(value)


def _row(row: sa.RowMapping) -> StepRow:
    return StepRow(
        summary=StepSummary.model_validate(row["summary"]),
        input=row["input"],
        output=row["output"],
        attempts=_ATTEMPTS.validate_python(row["attempts"]),
        logs=_LOGS.validate_python(row["logs"]),
        ticket=row["ticket"],
    )
