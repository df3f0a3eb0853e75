"""What people do with runs of workflows: start, look at, decide, cancel, start again."""

from dataclasses import dataclass
from typing import Any

from forge.store.engine import Store
from forge.store.paging import Cursor, Page
from forge.workflows.models import (
    DryRun,
    DryRunWish,
    Rerun,
    StepDetail,
    Submitted,
    Verdict,
    WorkflowRun,
    WorkflowRunDetail,
)


@dataclass(frozen=True)
class WorkflowRuns:
    database: Store

    async def trigger(self, account_id: str, ref: str, payload: dict[str, Any], *, by: str) -> Submitted:
        raise NotImplementedError

    async def dry_run(self, account_id: str, ref: str, wish: DryRunWish) -> DryRun:
        raise NotImplementedError

    async def find(
        self, account_id: str, ref: str | None, *, cursor: Cursor | None, limit: int
    ) -> Page[WorkflowRun]:
        raise NotImplementedError

    async def get(self, account_id: str, run_id: str) -> WorkflowRunDetail:
        raise NotImplementedError

    async def steps(self, account_id: str, run_id: str, key: str | None) -> list[StepDetail]:
        raise NotImplementedError

    async def decide(
        self, account_id: str, run_id: str, verdict: Verdict, *, approve: bool, by: str
    ) -> WorkflowRunDetail:
        raise NotImplementedError

    async def cancel(self, account_id: str, run_id: str, *, by: str) -> WorkflowRunDetail:
        raise NotImplementedError

    async def retry(self, account_id: str, run_id: str, *, by: str) -> Submitted:
        raise NotImplementedError

    async def rerun(self, account_id: str, run_id: str, wish: Rerun, *, by: str) -> Submitted:
        raise NotImplementedError
