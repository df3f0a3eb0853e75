"""Step calls for testing executors outside a run. They record what an executor does."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from pydantic import JsonValue

from forge.events.models import EventData
from forge.store.database import Store
from forge.workflows.definition.models import Step
from forge.workflows.engine.activity import RunActivity
from forge.workflows.engine.step_executor import Begin, FencedWrite, RunInfo, StepCall
from forge.workflows.engine.step_store import StepRow
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.expressions.templates import fill
from forge.workflows.models import StepStatus, StepSummary


async def _store_nothing(_row: StepRow, _events: tuple[EventData, ...]) -> None:
    pass


async def _refuse_transaction(_write: FencedWrite) -> JsonValue:
    raise AssertionError("an executor writes to the database through StepCall.begin only")


@dataclass
class RecordedCall(StepCall):
    database: Store | None = None
    """Where `begin` executes its function."""
    linked: list[str] = field(default_factory=list[str])
    waited: list[str] = field(default_factory=list[str])

    async def begin(self, function: Begin) -> JsonValue:
        if self.row.ticket is None:
            assert self.database is not None
            async with self.database.begin() as tx:
                ticket = await function(tx)
            self.row = replace(self.row, ticket=ticket)
        return self.row.ticket

    @asynccontextmanager
    async def waits(self, note: str, until: datetime | None = None) -> AsyncGenerator[None]:
        self.waited.append(note)
        yield

    async def link(self, run_id: str) -> None:
        if run_id not in self.linked:
            self.linked.append(run_id)

    def config(self, **variables: JsonValue) -> Any:
        """Return the config with its templates filled in."""
        config = self.step.config
        fields = config.model_dump(mode="json")
        filled = {name: fill(fields[name], variables, self.secrets) for name in config.templated}
        return type(config).model_validate({**fields, **filled})


RUN = RunInfo(
    run_id="run-1", account_id="account-1", workflow_id="workflow-1", workflow_name="daily-report", depth=0
)


def call_of(
    kind: str,
    *,
    step_id: str = "one",
    timeout_secs: float | None = None,
    attempt: int = 1,
    run: RunInfo = RUN,
    database: Store | None = None,
    **config: Any,
) -> RecordedCall:
    definition = {
        "id": step_id,
        "type": kind,
        "timeout_secs": timeout_secs,
        "config": {"type": kind, **config},
    }
    step = Step.model_validate(definition)
    summary = StepSummary(
        key=step.id,
        step=step.id,
        type=step.type,
        name=step.name or step.id,
        status=StepStatus.RUNNING,
        attempt=attempt,
    )
    return RecordedCall(
        facts=run,
        step=step,
        row=StepRow(summary),
        activity=RunActivity(limit_s=60, spent_s=0, at_a_time=1),
        write=_store_nothing,
        run_fenced=_refuse_transaction,
        secrets=SecretPlaceholders(),
        database=database,
    )
