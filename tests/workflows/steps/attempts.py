"""An attempt of a step as its hand sees it: what it begins is kept, so that it can be done again as after a crash."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.engine import Store
from forge.workflows.definition.models import Step
from forge.workflows.engine.hands import Begin
from forge.workflows.expressions import SecretMarks
from forge.workflows.models import LogLine


@dataclass
class Attempt:
    store: Store
    account_id: str
    run_id: str
    config: dict[str, Any]
    workflow_id: str = field(default_factory=new_id)
    workflow_name: str = "digest"
    step_id: str = "gather"
    attempt: int = 1
    depth: int = 0
    started_at: datetime = field(default_factory=now)
    secrets: SecretMarks = field(default_factory=SecretMarks)
    tickets: list[JsonValue] = field(default_factory=list[JsonValue])
    linked: list[str] = field(default_factory=list[str])
    logged: list[LogLine] = field(default_factory=list[LogLine])
    waited: list[str] = field(default_factory=list[str])

    @property
    def step(self) -> Step:
        return Step.model_validate({"id": self.step_id, "type": self.config["type"], "config": self.config})

    @property
    def key(self) -> str:
        return self.step_id

    @property
    def idempotency_key(self) -> str:
        return f"{self.run_id}:{self.key}:{self.attempt}"

    async def begin(self, function: Begin) -> JsonValue:
        if not self.tickets:
            async with self.store.begin() as tx:
                ticket = await function(tx)
            self.tickets.append(ticket)
        return self.tickets[0]

    @asynccontextmanager
    async def waits(self, note: str, until: datetime | None = None) -> AsyncGenerator[None]:
        self.waited.append(note)
        yield

    async def link(self, run_id: str) -> None:
        if run_id not in self.linked:
            self.linked.append(run_id)

    async def log(self, *lines: LogLine) -> None:
        self.logged += lines
