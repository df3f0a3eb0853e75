"""Step calls for testing executors outside a run. They record what an executor does."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue

from forge.kernel.clock import now
from forge.kernel.ids import new_id
from forge.store.database import Store
from forge.workflows.definition.models import Step
from forge.workflows.engine.step_executor import Begin
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.expressions.templates import fill
from forge.workflows.models import LogLine


@dataclass
class Call:
    step: Step
    secrets: SecretPlaceholders = field(default_factory=SecretPlaceholders)
    database: Store | None = None
    account_id: str = "account-1"
    run_id: str = "run-1"
    workflow_id: str = "workflow-1"
    workflow_name: str = "daily-report"
    attempt: int = 1
    depth: int = 0
    started_at: datetime = datetime(2026, 11, 16, tzinfo=UTC)
    linked: list[str] = field(default_factory=list[str])
    lines: list[LogLine] = field(default_factory=list[LogLine])
    _begun: list[JsonValue] = field(default_factory=list[JsonValue])

    @property
    def step_id(self) -> str:
        return self.step.id

    @property
    def key(self) -> str:
        return self.step.id

    @property
    def idempotency_key(self) -> str:
        return f"{self.run_id}:{self.key}:{self.attempt}"

    async def begin(self, function: Begin) -> JsonValue:
        if not self._begun:
            assert self.database is not None
            async with self.database.begin() as tx:
                self._begun.append(await function(tx))
        return self._begun[0]

    @asynccontextmanager
    async def waits(self, note: str, until: datetime | None = None) -> AsyncGenerator[None]:
        yield

    async def link(self, run_id: str) -> None:
        self.linked.append(run_id)

    async def log(self, *lines: LogLine) -> None:
        self.lines.extend(lines)

    def config(self, **variables: JsonValue) -> Any:
        """With its templates filled in."""
        config = self.step.config
        given = config.model_dump(mode="json")
        filled = {name: fill(given[name], variables, self.secrets) for name in config.templated}
        return type(config).model_validate({**given, **filled})


def call_of(kind: str, *, timeout_secs: float | None = None, **config: Any) -> Call:
    given = {"id": "one", "type": kind, "timeout_secs": timeout_secs, "config": {"type": kind, **config}}
    return Call(Step.model_validate(given))


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
    secrets: SecretPlaceholders = field(default_factory=SecretPlaceholders)
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
