"""Execute runs in this process and stop those that are cancelled."""

import asyncio
import json
import logging
from collections.abc import Iterable
from typing import Any

from forge.errors import ForgeError
from forge.kernel.background import cancel_and_wait
from forge.runs import store
from forge.runs.attempt import Attempts
from forge.runs.context import RunContext, StepFailed
from forge.runs.engine import Engine
from forge.runs.journal import Journal
from forge.runs.kinds import RunKinds
from forge.runs.models import Problem, Run
from forge.runs.store import RunRow
from forge.store.database import survives_outage
from forge.telemetry import Tracing, bind

log = logging.getLogger(__name__)


class Executor:
    def __init__(
        self, kinds: RunKinds, journal: Journal, engine: Engine, tracing: Tracing, worker_id: str
    ) -> None:
        self._kinds = kinds
        self._journal = journal
        self._engine = engine
        self._tracing = tracing
        self._worker_id = worker_id
        self._tasks: dict[asyncio.Task[Any], str] = {}
        self._is_closing = False

    @property
    def active(self) -> list[str]:
        return list(self._tasks.values())

    async def execute(self, run_id: str) -> None:
        """Execute a run. Called again after a crash; finished steps then come from the journal."""
        task = asyncio.current_task()
        if self._is_closing or task is None:
            raise asyncio.CancelledError  # leaves the run unchanged for the next process
        self._tasks[task] = (
            run_id  # keyed by task: a run taken over from this process may briefly be here twice
        )
        try:
            row = await self._journal.started(run_id, self._worker_id)
            if row is not None:
                with bind(run_id=run_id), self._tracing.span(f"run {row.run.kind}", run_id=run_id):
                    await self._perform(row)
        finally:
            del self._tasks[task]

    def stop(self, run_ids: Iterable[str]) -> None:
        """Interrupt runs in this process: their steps get a CancelledError."""
        wanted = set(run_ids)
        for task in [task for task, run_id in self._tasks.items() if run_id in wanted]:
            task.cancel()

    async def stop_all(self) -> None:
        """Interrupt all runs because the process ends; another process continues them."""
        self._is_closing = True
        await cancel_and_wait(list(self._tasks))

    async def stop_cancelled(self) -> None:
        """Stop runs that were cancelled by another process."""
        if not self._tasks:
            return
        async with self._journal.database.read() as tx:
            self.stop(await store.cancelled_among(tx, self.active))

    @survives_outage
    async def start_child(self, parent: RunRow, kind: str, inputs: dict[str, Any], child_id: str) -> None:
        """Start a child run, unless the parent has ended: a child must not outlive it."""
        async with self._journal.database.begin() as tx:
            current = await store.find_run(tx, parent.run.id, lock=True)
            if current is None or current.run.status.is_final:
                return
            run = self._kinds.new_run(kind, inputs, run_id=child_id, parent_id=parent.run.id)
            await self._journal.created(tx, run, account_id=parent.account_id, inputs=inputs)

    async def _perform(self, row: RunRow) -> None:
        run = row.run
        attempts = Attempts(row, self._journal, self._tracing)
        context = RunContext(row, self._journal, attempts, self.start_child)
        try:
            kind = self._kinds.get(run.kind)
            output = await kind.function(context, kind.input.model_validate(row.input))
            json.dumps(output, allow_nan=False)
            await self._journal.completed(run, output, kind.outcome(output))
        except StepFailed as error:
            await self._fail(run, error.problem.model_copy(update={"message": error.message}))
        except ForgeError as error:
            await self._fail(run, Problem.of(error))
        except Exception as error:
            log.exception("run %s (%s) failed with an unexpected error", run.id, run.kind)
            await self._fail(run, Problem.defect(error))

    async def _fail(self, run: Run, problem: Problem) -> None:
        ended = await self._journal.failed(run, problem)
        if ended:
            self.stop(ended)
            await self._engine.cancel(ended)
