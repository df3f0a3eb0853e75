"""Start workflows for triggers, or record why one could not be started."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from pydantic import JsonValue

from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.store.database import Store, Tx
from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.evaluation import is_true
from forge.workflows.models import Submitted, TriggerType, WorkflowRefused
from forge.workflows.triggers import store
from forge.workflows.triggers.store import TriggerRow


@dataclass(frozen=True)
class TriggerRequest:
    type: TriggerType
    source: str
    """The schedule, path, event or file, for display."""
    payload: JsonValue
    """The value of `trigger` in templates."""
    about: dict[str, JsonValue]
    """The value of `workflow.trigger` in templates."""
    dedupe_key: str | None
    """A second request with the same key starts nothing and returns the earlier run."""
    depth: int = 0
    """The number of runs in the chain that caused this one."""
    dedupe_since: datetime | None = None
    """Earlier runs with the same key do not count. Default: all count."""


class StartForTrigger(Protocol):
    async def __call__(
        self, tx: Tx, account_id: str, workflow_id: str, trigger_request: TriggerRequest
    ) -> Submitted:
        """Create the run in the caller's transaction.

        Raises Conflict (the concurrency policy rejects the run), Invalid (bad inputs) or NotFound.
        """
        ...


TriggerUpdate = Callable[[Tx], Awaitable[bool]]
"""An update in the same transaction as the start. Returns False if another server has started the run already."""


async def _nothing(_: Tx) -> bool:
    return True


@dataclass(frozen=True)
class TriggerLauncher:
    database: Store
    events: EventLog
    start_for_trigger: StartForTrigger

    async def start(
        self,
        trigger: TriggerRow,
        trigger_request: TriggerRequest,
        update: TriggerUpdate = _nothing,
        *,
        note: str | None = None,
    ) -> Submitted | None:
        """Start a run and update the trigger. `note` is a warning to show with the trigger.

        None if the workflow is disabled or deleted, or another server has started the run. Raises the error if the run
        cannot be started.
        """
        async with self.database.begin() as tx:
            if not await store.lock_workflow(tx, trigger.workflow_id):
                return None
            if await store.find(tx, trigger) is None or not await update(tx):
                return None
            submitted = await self.start_for_trigger(
                tx, trigger.account_id, trigger.workflow_id, trigger_request
            )
            if not submitted.is_duplicate:
                await store.change(tx, trigger, last_fired_at=now(), error=note)
            return submitted

    async def start_or_refuse(
        self,
        trigger: TriggerRow,
        trigger_request: TriggerRequest,
        update: TriggerUpdate = _nothing,
        *,
        note: str | None = None,
        publish: bool = True,
    ) -> Submitted | None:
        """Start a run; if it is refused, record why instead of raising. `update` is applied either way."""
        try:
            return await self.start(trigger, trigger_request, update, note=note)
        except ForgeError as error:
            if error.status >= 500:
                raise
            await self.refuse(trigger, error.message, update, publish=publish)
            return None

    async def refuse(
        self,
        trigger: TriggerRow,
        reason: str,
        update: TriggerUpdate = _nothing,
        *,
        publish: bool = True,
        repeat: bool = True,
    ) -> None:
        """Store why a run was not started and publish it. `repeat=False` skips a reason that is already stored."""
        async with self.database.begin() as tx:
            if not await store.lock_workflow(tx, trigger.workflow_id):
                return
            current = await store.find(tx, trigger)
            if current is None or not await update(tx):
                return
            if current.error == reason and not repeat:
                return
            await store.change(tx, trigger, error=reason)
            if publish:
                self._publish(tx, trigger, reason)

    def _publish(self, tx: Tx, trigger: TriggerRow, reason: str) -> None:
        fact = WorkflowRefused(
            workflow_id=trigger.workflow_id, name=trigger.workflow_name, trigger=trigger.type, reason=reason
        )
        self.events.append_last(tx, account_stream(trigger.account_id), fact)


async def condition_holds(
    trigger: TriggerRow, when: str | None, source: str, at: datetime, event: JsonValue
) -> bool:
    """Evaluate the condition of a trigger. Raises ExpressionError if it cannot be evaluated."""
    if when is None:
        return True
    about: dict[str, JsonValue] = {
        "type": trigger.type.value,
        "source": source,
        "fired_at": at.isoformat(),
        "workflow_id": trigger.workflow_id,
    }
    return await asyncio.to_thread(is_true, when, {"trigger": about, "event": event})


def condition_error(error: ExpressionError) -> str:
    return f"The condition (when) could not be evaluated: {error.message}"
