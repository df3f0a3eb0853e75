"""Which run of a workflow is behind an event: so that workflows that start each other come to an end."""

from dataclasses import dataclass

from forge.events.models import Event
from forge.messages.origins import causing_run
from forge.runs.models import Run
from forge.runs.service import Runs
from forge.store.engine import Store, Tx
from forge.workflows.given import KIND
from forge.workflows.triggers import store
from forge.workflows.triggers.happenings import run_in, subjects_of
from forge.workflows.triggers.store import CausingRun

LATELY = 200
"""Runs that are looked through for those that were going on when something happened."""
_TALKING = frozenset({"session", "memory"})
"""Parts of a bot that change because somebody, or some run, talks with it."""


@dataclass(frozen=True)
class Circumstances:
    subjects: set[str]
    workflow_id: str | None
    """Of the workflow that it is about, or whose run did it."""
    depth: int
    """Of a run that is started because of it."""


@dataclass(frozen=True)
class Causes:
    database: Store
    runs: Runs

    async def find(self, account_id: str, event: Event) -> Circumstances:
        subjects = set(subjects_of(event))
        if event.type == "bot.changed" and event.data["part"] in _TALKING:
            return Circumstances(subjects, None, await self._depth_of_going(account_id, event))
        async with self.database.read() as tx:
            run_id = run_in(event)
            if run_id is None and "conversation_id" in event.data:
                run_id = await causing_run(tx, event.data["conversation_id"])
            if run_id is None:
                return Circumstances(subjects, event.data.get("workflow_id"), 0)
            chain = await self._chain(tx, run_id)
            known = await store.causing_runs(tx, [run.id for run in chain])
        subjects |= _described(chain, known)
        nearest = next((known[run.id] for run in chain if run.id in known), None)
        if nearest is None:
            return Circumstances(subjects, None, 0)
        return Circumstances(subjects, nearest.workflow_id, nearest.depth + 1)

    async def _chain(self, tx: Tx, run_id: str) -> list[Run]:
        """The run, its parent, and so on."""
        chain: list[Run] = []
        following: str | None = run_id
        while following is not None and (run := (await self.runs.read(tx, [following])).get(following)):
            chain.append(run)
            following = run.parent_id
        return chain

    async def _depth_of_going(self, account_id: str, event: Event) -> int:
        """Nobody wrote down who did it: below the deepest of the runs of workflows that were going on."""
        lately = (await self.runs.find(account_id, kind=KIND, limit=LATELY)).items
        going = [
            run.id
            for run in lately
            if run.created_at <= event.at and (run.finished_at is None or run.finished_at >= event.at)
        ]
        async with self.database.read() as tx:
            known = await store.causing_runs(tx, going)
        return max((run.depth + 1 for run in known.values()), default=0)


def _described(chain: list[Run], known: dict[str, CausingRun]) -> set[str]:
    """By the run itself, not by those above it: what a workflow's step starts is not the workflow."""
    if not chain:
        return set()
    own = {f"kind:{chain[0].kind}"}
    return own | ({f"workflow:{known[chain[0].id].workflow_name}"} if chain[0].id in known else set())
