"""Workflows in Forge: a pinned definition, a journal by step, and an event for each change."""

import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from benchmarks.contenders.shapes import SIZES, Shape, Shapes
from benchmarks.loop import run
from forge.accounts.address import OwnAddress
from forge.events.log import EventLog
from forge.runs.component import open_runs
from forge.runs.kinds import RunKinds
from forge.skills.models import SkillKind
from forge.store.database import Store
from forge.store.schema import migrate
from forge.telemetry import Metrics, NoTracing
from forge.workflows.definition.models import CodeConfig, StepType
from forge.workflows.engine.step_executor import StepCall, StepResult
from forge.workflows.kind import KindDependencies, WorkflowKind
from forge.workflows.models import WorkflowWish
from forge.workflows.references import ReferenceChecker
from forge.workflows.run_service import WorkflowRuns
from forge.workflows.run_starter import RunStarter
from forge.workflows.service import Workflows
from forge.workspace.filesystem.allowed_roots import AllowedRoots

ACCOUNT = "account-1"


class Noop:
    async def execute(self, call: StepCall, config: CodeConfig) -> StepResult:
        return StepResult({"type": "code", "output": config.input})


def definition(shape: Shape) -> dict[str, Any]:
    steps = [
        {
            "id": f"step_{i}",
            "type": "code",
            "depends_on": [f"step_{i - 1}"] if shape == "chain" and i else [],
            "config": {"language": "javascript", "source": "export function run(input) {}", "input": i},
        }
        for i in range(SIZES[shape])
    ]
    return {"name": shape, "parallel": 64, "steps": steps}


async def no_names(_: str) -> Collection[str]:
    return ()


async def no_kinds(_: Collection[str]) -> Mapping[str, SkillKind]:
    return {}


async def never(*_: object, **__: object) -> Any:
    raise NotImplementedError


async def main(url: str) -> None:
    database = Store(url)
    await migrate(database)
    metrics = Metrics(version="bench")
    events = EventLog(database, metrics)
    workflow = WorkflowKind(database, events)
    async with open_runs(
        database, events, RunKinds(workflow.kind()), metrics, NoTracing(), keep_days=1
    ) as runs:
        workflow.provide(KindDependencies({StepType.CODE: Noop()}, never, never))
        reference_checker = ReferenceChecker(
            database, no_names, no_names, no_kinds, no_names, AllowedRoots((), Path())
        )
        workflows = Workflows(database, events, runs, reference_checker, OwnAddress("127.0.0.1", 1, "bench"))
        for shape in SIZES:
            await workflows.create(ACCOUNT, WorkflowWish(definition=definition(shape)), by="bench")
        started = WorkflowRuns(database, runs, RunStarter(runs, workflow.definitions))
        ids: list[str] = []

        async def start(shape: Shape) -> None:
            ids.append((await started.trigger(ACCOUNT, shape, {}, by="bench")).run_id)

        async def took() -> float:
            """The time from the start of the first step to the end of the run, which is after the last journal entry."""
            done = await started.get(ACCOUNT, ids[-1])
            began = min(step.started_at for step in done.steps if step.started_at)
            assert done.status == "completed", done.error
            assert done.finished_at is not None
            return (done.finished_at - began).total_seconds()

        await Shapes(url, start, took).follow()
    await database.close()


if __name__ == "__main__":
    run(main(sys.argv[1]))
