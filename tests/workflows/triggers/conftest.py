"""Triggers on a real database; starting a run only inserts its rows."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa

from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.events.models import Event
from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.database import Store, Tx
from forge.store.types import METADATA
from forge.telemetry import Metrics
from forge.workflows.definition.models import Definition
from forge.workflows.models import Submitted, TriggerView
from forge.workflows.tables import workflow_runs, workflow_triggers, workflows
from forge.workflows.triggers.launcher import TriggerLauncher, TriggerRequest
from forge.workflows.triggers.registration import register, unregister, views

ACCOUNT = "account-1"
STREAM = f"account:{ACCOUNT}"


@dataclass
class Environment:
    store: Store
    events: EventLog
    refusal: ForgeError | None = None
    fired: list[TriggerRequest] = field(default_factory=list)
    """The requests received; their results are in the database."""

    @property
    def launcher(self) -> TriggerLauncher:
        return TriggerLauncher(self.store, self.events, self.start_for_trigger)

    async def start_for_trigger(
        self, tx: Tx, account_id: str, workflow_id: str, trigger_request: TriggerRequest
    ) -> Submitted:
        self.fired.append(trigger_request)
        if self.refusal:
            raise self.refusal
        known = sa.select(workflow_runs.c.run_id).where(
            workflow_runs.c.workflow_id == workflow_id,
            workflow_runs.c.dedupe_key == trigger_request.dedupe_key,
        )
        if trigger_request.dedupe_key and (run_id := (await tx.execute(known)).scalar_one_or_none()):
            return Submitted(
                run_id=run_id,
                workflow_id=workflow_id,
                workflow_name="",
                status="duplicate",
                trigger=trigger_request.type,
                is_duplicate=True,
            )
        run_id = new_id()
        await insert_run(tx, account_id, run_id, "workflow")
        values = {"number": 1, "inputs": {}, "retry_of": None, "created_at": now(), "workflow_name": "w"}
        await tx.execute(
            sa.insert(workflow_runs).values(
                **values,
                run_id=run_id,
                workflow_id=workflow_id,
                trigger=trigger_request.type,
                source=trigger_request.source,
                payload=trigger_request.payload,
                about=trigger_request.about,
                dedupe_key=trigger_request.dedupe_key,
                depth=trigger_request.depth,
            )
        )
        return Submitted(
            run_id=run_id, workflow_id=workflow_id, workflow_name="w", trigger=trigger_request.type
        )

    async def save(
        self,
        *triggers: dict[str, Any],
        name: str = "w",
        is_enabled: bool = True,
        workflow_id: str | None = None,
    ) -> str:
        """Create or change a workflow as the service does: its row and its triggers in one transaction."""
        definition = Definition.model_validate(
            {
                "name": name,
                "triggers": list(triggers),
                "steps": [{"id": "a", "type": "wait", "config": {"type": "wait", "seconds": 0}}],
            }
        )
        async with self.store.begin() as tx:
            if workflow_id is None:
                workflow_id = new_id()
                await tx.execute(
                    sa.insert(workflows).values(
                        id=workflow_id,
                        account_id=ACCOUNT,
                        name=name,
                        number=1,
                        is_enabled=is_enabled,
                        created_at=now(),
                        updated_at=now(),
                    )
                )
            else:
                await tx.execute(
                    sa.update(workflows).where(workflows.c.id == workflow_id).values(is_enabled=is_enabled)
                )
            await register(tx, self.events, ACCOUNT, workflow_id, definition, is_enabled=is_enabled)
        return workflow_id

    async def delete(self, workflow_id: str) -> None:
        async with self.store.begin() as tx:
            await tx.execute(
                sa.update(workflows).where(workflows.c.id == workflow_id).values(deleted_at=now())
            )
            await unregister(tx, self.events, ACCOUNT, workflow_id)

    async def view(self, workflow_id: str) -> TriggerView:
        async with self.store.read() as tx:
            (view,) = (await views(tx, [workflow_id], "http://forge.test"))[workflow_id]
        return view

    async def runs(self, workflow_id: str | None = None) -> list[Any]:
        query = sa.select(workflow_runs).order_by(workflow_runs.c.created_at, workflow_runs.c.run_id)
        if workflow_id:
            query = query.where(workflow_runs.c.workflow_id == workflow_id)
        async with self.store.read() as tx:
            return list((await tx.execute(query)).all())

    async def published(self, *types: str) -> list[Event]:
        async with self.store.read() as tx:
            return await self.events.read(tx, STREAM, types=types)

    async def set_next_at(self, workflow_id: str, at: datetime) -> None:
        """Set the next occurrence, as if the server had been down since then."""
        async with self.store.begin() as tx:
            await tx.execute(
                sa.update(workflow_triggers)
                .where(workflow_triggers.c.workflow_id == workflow_id)
                .values(next_at=at)
            )


async def insert_run(
    tx: Tx, account_id: str, run_id: str, kind: str, parent_id: str | None = None, **more: Any
) -> None:
    values: dict[str, Any] = {
        "id": run_id,
        "account_id": account_id,
        "kind": kind,
        "title": kind,
        "status": "running",
        "parent_id": parent_id,
        "attempt": 1,
        "input": {},
        "created_at": now(),
    }
    await tx.execute(sa.insert(METADATA.tables["runs"]).values(**values, **more))


@pytest.fixture
def environment(store: Store) -> Environment:
    return Environment(store, EventLog(store, Metrics(version="test")))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
