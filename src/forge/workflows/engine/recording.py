"""Writes what happens to steps, each together with its event; many at once when many are waiting.

A transaction costs more than a short step does. So whoever wants to write waits for the one that is under way, and then
all that have come meanwhile, of whichever run, are written together. Each run's part counts only if the run is still
this worker's.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field

from forge.events.log import EventLog
from forge.events.models import EventData
from forge.runs.fencing import TakenOver, still_owned
from forge.runs.journal import run_stream
from forge.store.engine import Store
from forge.store.outage import survives_outage
from forge.workflows import steps_store
from forge.workflows.engine.rows import StepRow

MAX_BATCH = 200


@dataclass(frozen=True)
class Owner:
    """The run, and which of its attempts writes."""

    run_id: str
    attempt: int


@dataclass(frozen=True)
class _Entry:
    owner: Owner
    rows: Sequence[StepRow]
    facts: Sequence[EventData]
    written: asyncio.Future[bool] = field(default_factory=lambda: asyncio.get_running_loop().create_future())


class Recorder:
    def __init__(self, database: Store, events: EventLog) -> None:
        self._database = database
        self._events = events
        self._waiting: list[_Entry] = []
        self._writer: asyncio.Task[None] | None = None

    async def write(self, owner: Owner, rows: Sequence[StepRow], facts: Sequence[EventData]) -> None:
        """Returns when it is in the database. Raises TakenOver when the run is not ours any more."""
        entry = _Entry(owner, rows, facts)
        self._waiting.append(entry)
        if self._writer is None or self._writer.done():
            self._writer = asyncio.create_task(self._write_all(), name="steps of workflows")
        if not await asyncio.shield(entry.written):
            raise TakenOver

    async def close(self) -> None:
        """What is waiting is written first."""
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
                    if not entry.written.done():  # this very task is being ended
                        entry.written.cancel()

    async def _write_together(self, batch: Sequence[_Entry]) -> None:
        """As many as can be; what is left over is tried alone: lost, looked away from, or impossible to write."""
        try:
            owned = await self._write(batch, patient=False)
        except Exception:  # noqa: BLE001  (which of them it is shows alone)
            return
        for entry in batch:
            if entry.owner in owned and not entry.written.done():
                entry.written.set_result(True)

    async def _write_alone(self, entry: _Entry) -> None:
        try:
            owned = await self._write([entry], patient=True)
        except Exception as error:  # noqa: BLE001  (for whoever waits for it)
            entry.written.set_exception(error)
        else:
            entry.written.set_result(bool(owned))

    @survives_outage
    async def _write(self, batch: Sequence[_Entry], *, patient: bool) -> set[Owner]:
        """Of two attempts at one run only the later can be the one that has it."""
        owners = sorted((entry.owner for entry in batch), key=lambda owner: owner.attempt)
        attempts = {owner.run_id: owner.attempt for owner in owners}
        async with self._database.begin() as tx:
            found = await still_owned(tx, attempts, patient=patient)
            owned = {Owner(run_id, attempts[run_id]) for run_id in found}
            rows: dict[str, dict[str, StepRow]] = {run_id: {} for run_id in found}
            facts: dict[str, list[EventData]] = {}
            for entry in batch:
                if entry.owner in owned:
                    run_id = entry.owner.run_id
                    rows[run_id] |= {row.key: row for row in entry.rows}
                    facts.setdefault(run_id, []).extend(entry.facts)
            await steps_store.save(tx, {run_id: list(own.values()) for run_id, own in rows.items()})
            await self._events.append_each(tx, {run_stream(run_id): own for run_id, own in facts.items()})
            return owned
