"""What a step is about to do, written down first.

A step that changes something outside the database is carried out at least once: its process may die after the change
and before the journal knows. With its intent on record, the second time can see that the change is made already.
"""

from typing import Any

from forge.runs import store
from forge.runs.attempt import StepInfo
from forge.store.engine import Store

INTENT = 0
"""Attempts are counted from 1; the intent has the place before them."""


class StepIntent:
    def __init__(self, database: Store, step: StepInfo) -> None:
        self._database = database
        self._step = step

    async def recall(self) -> Any | None:
        async with self._database.read() as tx:
            found = await store.find_outcome(tx, self._step.run_id, self._step.number, INTENT)
        return found[0] if found else None

    async def declare(self, meant: Any) -> None:
        async with self._database.begin() as tx:
            await store.forget_outcome(tx, self._step.run_id, self._step.number, INTENT)
            await store.save_outcome(tx, self._step.run_id, self._step.number, INTENT, meant)
