"""Rows of the step journal, and the SQL queries for them."""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import sqlalchemy as sa
from pydantic import JsonValue, TypeAdapter

from forge.kernel.text import storable
from forge.store.database import Tx
from forge.workflows.definition.models import Step
from forge.workflows.models import Attempt, LogLine, StepDetail, StepStatus, StepSummary
from forge.workflows.tables import workflow_steps as table

MAX_LOG_LINES = 200
MAX_LOG_LINE = 4000


@dataclass(frozen=True)
class StepRow:
    summary: StepSummary
    input: JsonValue = None
    output: JsonValue = None
    attempts: tuple[Attempt, ...] = ()
    logs: tuple[LogLine, ...] = ()
    ticket: JsonValue = None
    """Identifies what the current attempt started; see `StepCall.begin`."""

    @property
    def key(self) -> str:
        return self.summary.key

    @property
    def status(self) -> StepStatus:
        return self.summary.status

    def with_summary(self, **changes: Any) -> "StepRow":
        return replace(self, summary=self.summary.model_copy(update=changes))

    def logged(self, *lines: LogLine) -> "StepRow":
        """Append log lines up to the limit. The first lines are kept, because they show how a failure began."""
        room = MAX_LOG_LINES - len(self.logs)
        cut = [
            line.model_copy(update={"text": storable(line.text[:MAX_LOG_LINE])})
            for line in lines[: max(room, 0)]
        ]
        return replace(self, logs=(*self.logs, *cut))

    def detail(self) -> StepDetail:
        return StepDetail(
            **self.summary.model_dump(),
            input=self.input,
            output=self.output,
            attempts=list(self.attempts),
            logs=list(self.logs),
        )


def fails_run(step: Step, row: StepRow) -> bool:
    return row.status is StepStatus.FAILED and step.on_error == "fail"


_ATTEMPTS = TypeAdapter(tuple[Attempt, ...])
_LOGS = TypeAdapter(tuple[LogLine, ...])
_KEPT = ("summary", "input", "output", "attempts", "logs", "ticket")


_COLUMNS = ("run_id", "key", *_KEPT)
_CONFLICT = "ON CONFLICT (run_id, key) DO UPDATE SET " + ", ".join(f"{one} = excluded.{one}" for one in _KEPT)
_SAVE = {
    "sqlite": sa.text(
        f"INSERT INTO workflow_steps ({', '.join(_COLUMNS)}) "  # noqa: S608  (constant names)
        f"VALUES ({', '.join(f':{one}' for one in _COLUMNS)}) {_CONFLICT}"
    ),
    "postgresql": sa.text(
        f"INSERT INTO workflow_steps ({', '.join(_COLUMNS)}) "  # noqa: S608
        f"SELECT run_id, key, {', '.join(f'CAST({one} AS json)' for one in _KEPT)} "
        f"FROM unnest({', '.join(f'CAST(:{one} AS text[])' for one in _COLUMNS)}) AS s ({', '.join(_COLUMNS)}) "
        f"{_CONFLICT}"
    ),
}
"""Written as SQL text because nothing else of a run is executed as often. Arrays instead of a pipeline on PostgreSQL, for
the reason given in `forge/events/store.py`."""


async def save(tx: Tx, rows: Mapping[str, Sequence[StepRow]]) -> None:
    """Insert or replace rows, by run id."""
    values = [_values(run_id, row) for run_id, own in rows.items() for row in own]
    if not values:
        return
    if tx.is_postgresql:
        await tx.execute(_SAVE["postgresql"], {name: [one[name] for one in values] for name in _COLUMNS})
    else:
        await tx.execute(_SAVE["sqlite"], values)


async def load(tx: Tx, run_id: str, keys: Collection[str] | None = None) -> dict[str, StepRow]:
    """Return rows by key, in the order the steps started."""
    statement = sa.select(table).where(table.c.run_id == run_id)
    if keys is not None:
        statement = statement.where(table.c.key.in_(list(keys)))
    found = [_row(row) for row in (await tx.execute(statement)).mappings()]
    found.sort(key=lambda row: (str(row.summary.started_at or row.summary.finished_at or ""), row.key))
    return {row.key: row for row in found}


async def page(tx: Tx, run_id: str, *, after: str | None, limit: int) -> list[StepRow]:
    """Return rows ordered by key, which is stable while the run continues."""
    statement = sa.select(table).where(table.c.run_id == run_id)
    if after is not None:
        statement = statement.where(table.c.key > after)
    found = await tx.execute(statement.order_by(table.c.key).limit(limit))
    return [_row(row) for row in found.mappings()]


async def summaries(tx: Tx, run_id: str) -> list[StepSummary]:
    """Return summaries without inputs and outputs, which may be large."""
    found = await tx.execute(sa.select(table.c.summary).where(table.c.run_id == run_id))
    steps = [StepSummary.model_validate(one) for one in found.scalars()]
    return sorted(steps, key=lambda step: (str(step.started_at or step.finished_at or ""), step.key))


async def costs(tx: Tx, run_ids: Collection[str]) -> dict[str, int]:
    """Return the total step cost in micros, by run id."""
    total = sa.func.sum(table.c.summary["cost_micros"].as_integer()).label("total")
    query = sa.select(table.c.run_id, total).where(table.c.run_id.in_(list(run_ids)))
    return {row.run_id: int(row.total) for row in await tx.execute(query.group_by(table.c.run_id))}


def _values(run_id: str, row: StepRow) -> dict[str, str | None]:
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
