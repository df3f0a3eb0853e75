"""Executor of sub_workflow steps: starts a child run and waits for it."""

from collections.abc import Awaitable
from typing import Protocol

from pydantic import JsonValue

from forge.events.log import EventLog
from forge.runs.journal import wait_for_end
from forge.runs.models import RunStatus
from forge.store.database import Store, Tx
from forge.workflows.definition.models import SubWorkflowConfig
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult


class StartChild(Protocol):
    """Start a run of the named workflow as a child of the step's run and return its id."""

    def __call__(self, tx: Tx, call: StepCall, name: str, payload: JsonValue) -> Awaitable[str]: ...


class SubWorkflowStepExecutor:
    def __init__(self, database: Store, events: EventLog, start: StartChild) -> None:
        self._database = database
        self._events = events
        self._start = start

    async def execute(self, call: StepCall, config: SubWorkflowConfig) -> StepResult:
        name = config.workflow_name
        run_id = str(await call.begin(lambda tx: self._start(tx, call, name, config.input)))
        await call.link(run_id)
        async with call.waits(f"Waiting for {name}."):
            run = await wait_for_end(self._database, self._events, run_id)
        if run.status is RunStatus.COMPLETED:
            return StepResult(
                {"type": "sub_workflow", "workflow": name, "run_id": run_id, "output": run.output}
            )
        if run.error is not None:
            raise StepError(run.error.code, f"{name}: {run.error.message}", hint=run.error.hint)
        raise StepError("cancelled", f"{name} was cancelled.")
