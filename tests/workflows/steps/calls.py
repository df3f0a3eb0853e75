"""A step outside of a run: what a hand asks for is there, and what it tells is kept."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue

from forge.store.engine import Store
from forge.workflows.definition.models import Step
from forge.workflows.engine.hands import Begin
from forge.workflows.expressions import SecretMarks, fill
from forge.workflows.models import LogLine


@dataclass
class Call:
    step: Step
    secrets: SecretMarks = field(default_factory=SecretMarks)
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
