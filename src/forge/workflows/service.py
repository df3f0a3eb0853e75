"""What people do with definitions: make, read, change, switch, delete."""

from dataclasses import dataclass
from typing import Any

from forge.store.engine import Store
from forge.workflows.models import (
    Reading,
    WorkflowCard,
    WorkflowDetail,
    WorkflowVersion,
    WorkflowVersionDetail,
    WorkflowWish,
)
from forge.workflows.templates import WorkflowTemplate


@dataclass(frozen=True)
class Workflows:
    database: Store

    async def find_all(self, account_id: str, *, words: str, owner: str | None) -> list[WorkflowCard]:
        raise NotImplementedError

    async def create(self, account_id: str, wish: WorkflowWish, *, by: str) -> WorkflowDetail:
        raise NotImplementedError

    async def read(self, account_id: str, wish: WorkflowWish) -> Reading:
        raise NotImplementedError

    def schema(self) -> dict[str, Any]:
        raise NotImplementedError

    def templates(self) -> list[WorkflowTemplate]:
        raise NotImplementedError

    async def get(self, account_id: str, ref: str) -> WorkflowDetail:
        raise NotImplementedError

    async def update(self, account_id: str, ref: str, wish: WorkflowWish, *, by: str) -> WorkflowDetail:
        raise NotImplementedError

    async def switch(self, account_id: str, ref: str, *, is_enabled: bool) -> WorkflowDetail:
        raise NotImplementedError

    async def delete(self, account_id: str, ref: str, *, by: str) -> None:
        raise NotImplementedError

    async def versions(self, account_id: str, ref: str) -> list[WorkflowVersion]:
        raise NotImplementedError

    async def version(self, account_id: str, ref: str, number: int) -> WorkflowVersionDetail:
        raise NotImplementedError
