"""Starts a workflow for a trigger: the run and what the trigger remembers of it in one transaction, or why not."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import datetime

from pydantic import JsonValue

from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.runs.journal import account_stream
from forge.store.engine import Store, Tx
from forge.workflows.expressions.evaluating import is_true
from forge.workflows.expressions.problem import ExpressionError
from forge.workflows.models import Submitted, WorkflowRefused
from forge.workflows.triggers import store
from forge.workflows.triggers.firing import Fire, Firing
from forge.workflows.triggers.store import TriggerRow

Also = Callable[[Tx], Awaitable[bool]]
"""What changes together with the start. False: somebody else has seen to it, and nothing is to be done."""


async def _nothing(_: Tx) -> bool:
    return True


@dataclass(frozen=True)
class Launch:
    database: Store
    events: EventLog
    fire: Fire

    async def start(
        self, trigger: TriggerRow, firing: Firing, also: Also = _nothing, *, note: str | None = None
    ) -> Submitted | None:
        """None when the workflow is switched off or gone, or somebody else has done it. `note` is shown with it.

        What refuses to start is raised; whoever called decides how to tell of it.
        """
        async with self.database.begin() as tx:
            if not await store.lock_workflow(tx, trigger.workflow_id):
                return None
            if await store.find(tx, trigger) is None or not await also(tx):
                return None
            submitted = await self.fire(tx, trigger.account_id, trigger.workflow_id, firing)
            if not submitted.is_duplicate:
                await store.change(tx, trigger, last_fired_at=now(), error=note)
            return submitted

    async def start_or_tell(
        self,
        trigger: TriggerRow,
        firing: Firing,
        also: Also = _nothing,
        *,
        note: str | None = None,
        aloud: bool = True,
    ) -> Submitted | None:
        """For what nobody waits for: a refusal is written down, and `also` holds all the same."""
        try:
            return await self.start(trigger, firing, also, note=note)
        except ForgeError as error:
            if error.status >= 500:
                raise
            await self.refuse(trigger, error.message, also, aloud=aloud)
            return None

    async def refuse(
        self,
        trigger: TriggerRow,
        reason: str,
        also: Also = _nothing,
        *,
        aloud: bool = True,
        again: bool = True,
    ) -> None:
        """Write down why it did not start, and tell the account; without `again` not what was told last."""
        async with self.database.begin() as tx:
            if not await store.lock_workflow(tx, trigger.workflow_id):
                return
            standing = await store.find(tx, trigger)
            if standing is None or not await also(tx):
                return
            if standing.error == reason and not again:
                return
            await store.change(tx, trigger, error=reason)
            if aloud:
                self._tell(tx, trigger, reason)

    def _tell(self, tx: Tx, trigger: TriggerRow, reason: str) -> None:
        fact = WorkflowRefused(
            workflow_id=trigger.workflow_id, name=trigger.workflow_name, trigger=trigger.type, reason=reason
        )
        self.events.append_last(tx, account_stream(trigger.account_id), fact)


async def wants(trigger: TriggerRow, when: str | None, source: str, at: datetime, event: JsonValue) -> bool:
    """Whether its condition holds. Raises ExpressionError if it cannot be told."""
    if when is None:
        return True
    about: dict[str, JsonValue] = {
        "type": trigger.type.value,
        "source": source,
        "fired_at": at.isoformat(),
        "workflow_id": trigger.workflow_id,
    }
    return await asyncio.to_thread(is_true, when, {"trigger": about, "event": event})


def unclear(error: ExpressionError) -> str:
    return f"Its condition (when) could not be worked out: {error.message}"
