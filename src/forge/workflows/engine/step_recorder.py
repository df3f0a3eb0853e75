"""Store step rows together with their events, batching concurrent writes.

A transaction costs more than a short step. Writes that arrive while another one is in progress, from any run, are
collected and committed together. Writes of runs that another worker has taken over are dropped.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from forge.events.log import EventLog
from forge.events.models import EventData
from forge.runs.journal import run_stream
from forge.runs.queries import TakenOver, still_owned
from forge.store.database import Store, survives_outage
from forge.workflows.engine import step_store
from forge.workflows.engine.step_store import StepRow

MAX_BATCH = 200


@dataclass(frozen=True)
class RunAttempt:
    """The attempt of a run that writes; a later attempt fences off earlier ones."""

    run_id: str
    attempt: int


@dataclass(frozen=True)
class _Entry:
    owner: RunAttempt
    rows: Sequence[StepRow]
    events: Sequence[EventData]
    written: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class StepRecorder:
    def __init__(self, database: Store, events: EventLog) -> None:
        self._database = database
        self._events = events
        self._waiting: list[_Entry] = []
        self._writer: asyncio.Task[None] | None = None

    async def write(self, owner: RunAttempt, rows: Sequence[StepRow], events: Sequence[EventData]) -> None:
        """Return once the rows are committed. Raises TakenOver if another worker has the run."""
        entry = _Entry(owner, rows, events)
        self._waiting.append(entry)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all(), name="workflow step recorder")
        if not await asyncio.shield(entry.written):
            raise TakenOver

    async def close(self) -> None:
        """Wait until pending writes are committed."""
        if self._writer is not None:
            await asyncio.gather(self._writer, return_exceptions=True)

    async def _write_all(self) -> None:
        while self._waiting:
            batch, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
            try:
                if len(batch) > 1:
                    await self._write_together(batch)
                for entry in batch:
                    if not entry.written.done():
                        await self._write_alone(entry)
            finally:
                for entry in batch:
                    if not entry.written.done():  # this task was cancelled
                        entry.written.cancel()

    async def _write_together(self, batch: Sequence[_Entry]) -> None:
        """Write as many entries as possible. The others are written one by one afterwards, so that a bad entry fails alone."""
        try:
            owned = await self._write(batch, patient=False)
        except Exception:  # noqa: BLE001  (the entry that caused it fails when it is written alone)
            return
        for entry in batch:
            if entry.owner in owned and not entry.written.done():
                entry.written.set_result(True)

    async def _write_alone(self, entry: _Entry) -> None:
        try:
            owned = await self._write([entry], patient=True)
        except Exception as error:  # noqa: BLE001  (raised in the task that waits for this entry)
            entry.written.set_exception(error)
        else:
            entry.written.set_result(bool(owned))

    @survives_outage
    async def _write(self, batch: Sequence[_Entry], *, patient: bool) -> set[RunAttempt]:
        """Write entries of runs that are still owned and return their owners.

        If a batch has two attempts of the same run, only the later one can be the owner.
        """
        owners = sorted((entry.owner for entry in batch), key=lambda owner: owner.attempt)
        attempts = {owner.run_id: owner.attempt for owner in owners}
        async with self._database.begin() as tx:
            found = await still_owned(tx, attempts, patient=patient)
            owned = {RunAttempt(run_id, attempts[run_id]) for run_id in found}
            rows: dict[str, dict[str, StepRow]] = {run_id: {} for run_id in found}
            events: dict[str, list[EventData]] = {}
            for entry in batch:
                if entry.owner in owned:
                    run_id = entry.owner.run_id
                    rows[run_id] |= {row.key: row for row in entry.rows}
                    events.setdefault(run_id, []).extend(entry.events)
            await step_store.save(tx, {run_id: list(own.values()) for run_id, own in rows.items()})
            await self._events.append_each(tx, {run_stream(run_id): own for run_id, own in events.items()})
            return owned
