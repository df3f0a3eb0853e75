"""The run engine without the rest of Forge, with run kinds defined by a test."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict
from tests.support.timeouts import PATIENCE_S

from forge.events.log import EventLog
from forge.events.models import Event
from forge.runs.component import open_runs
from forge.runs.context import RunContext
from forge.runs.kinds import RunKind, RunKinds
from forge.runs.models import Gate, GateStatus, Run
from forge.runs.service import Runs
from forge.store.database import Store
from forge.telemetry import Metrics, NoTracing

ACCOUNT = "account-1"


class AnyInput(BaseModel):
    model_config = ConfigDict(extra="allow")


def kind(name: str, function: Callable[[RunContext, Any], Awaitable[Any]]) -> RunKind[AnyInput]:
    return RunKind(name, AnyInput, function, title=lambda _: name, is_public=True)


@dataclass(frozen=True)
class EngineUnderTest:
    store: Store
    events: EventLog
    runs: Runs

    async def start(self, name: str, **run_input: Any) -> Run:
        return await self.runs.start_public(ACCOUNT, name, run_input)

    async def finished(self, run_id: str) -> Run:
        return await self.when(run_id, lambda run: run.status.is_final)

    async def when(self, run_id: str, condition: Callable[[Run], bool]) -> Run:
        async with asyncio.timeout(PATIENCE_S):
            while not condition(run := (await self.runs.get(ACCOUNT, run_id)).run):
                await asyncio.sleep(0.02)
        return run

    async def open_gate(self) -> Gate:
        async with asyncio.timeout(PATIENCE_S):
            while not (page := await self.runs.list_gates(ACCOUNT, status=GateStatus.OPEN)).items:
                await asyncio.sleep(0.02)
        return page.items[0]

    async def history(self, run_id: str) -> list[Event]:
        async with self.store.read() as tx:
            return await self.events.read(tx, f"run:{run_id}", limit=10_000)

    async def types(self, run_id: str) -> list[str]:
        return [event.type for event in await self.history(run_id)]


@asynccontextmanager
async def open_engine(
    store: Store, *kinds: RunKind[Any], before: Callable[[EventLog], None] = lambda _: None
) -> AsyncGenerator[EngineUnderTest]:
    """Open an engine; `before` is called with the event log before unfinished runs are recovered."""
    metrics = Metrics(version="test")
    events = EventLog(store, metrics)
    before(events)
    async with open_runs(store, events, RunKinds(*kinds), metrics, NoTracing(), keep_days=1) as runs:
        yield EngineUnderTest(store, events, runs)
