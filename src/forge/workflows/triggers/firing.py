"""Something wants to start a workflow: what it is, and whoever can start one."""

from dataclasses import dataclass
from typing import Protocol

from pydantic import JsonValue

from forge.store.engine import Tx
from forge.workflows.models import Submitted, TriggerType


@dataclass(frozen=True)
class Firing:
    type: TriggerType
    source: str
    """A schedule, a path, an event, a file: for people."""
    payload: JsonValue
    """What `trigger` is in templates."""
    about: dict[str, JsonValue]
    """What `workflow.trigger` is in templates."""
    dedupe_key: str | None
    """The same again starts nothing and answers with the earlier run."""
    depth: int = 0
    """How many runs caused one another before it."""


class Fire(Protocol):
    async def __call__(self, tx: Tx, account_id: str, workflow_id: str, firing: Firing) -> Submitted:
        """Create the run in the caller's transaction.

        Raises Conflict (its policy rejects another run now), Invalid (the inputs do not fit), NotFound.
        """
        ...
