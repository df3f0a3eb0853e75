"""Another workflow as a step: a run of its own, below this one."""

from collections.abc import Awaitable
from typing import Protocol

from pydantic import JsonValue

from forge.events.log import EventLog
from forge.runs.ending import wait_for_end
from forge.runs.models import RunStatus
from forge.store.engine import Store, Tx
from forge.workflows.definition.models import SubWorkflowConfig
from forge.workflows.engine.hands import Done, StepCall, StepError


class StartChild(Protocol):
    """Starts a run of the named workflow below the step's run, and says its id."""

    def __call__(self, tx: Tx, call: StepCall, name: str, payload: JsonValue) -> Awaitable[str]: ...


class SubWorkflowHand:
    def __init__(self, database: Store, events: EventLog, start: StartChild) -> None:
        self._database = database
        self._events = events
        self._start = start

    async def do(self, call: StepCall, config: SubWorkflowConfig) -> Done:
        name = config.workflow_name
        run_id = str(await call.begin(lambda tx: self._start(tx, call, name, config.input)))
        await call.link(run_id)
        async with call.waits(f"Waits for {name}."):
            run = await wait_for_end(self._database, self._events, run_id)
        if run.status is RunStatus.COMPLETED:
            return Done({"type": "sub_workflow", "workflow": name, "run_id": run_id, "output": run.output})
        if run.error is not None:
            raise StepError(run.error.code, f"{name}: {run.error.message}", hint=run.error.hint)
        raise StepError("cancelled", f"{name} was cancelled.")
