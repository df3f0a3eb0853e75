"""Property tests of the engine with random graphs: order, no deadlock, cancellation and resuming after a crash."""

import asyncio
import random
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import JsonValue
from tests.support.timeouts import PATIENCE_S

from forge.events.models import EventData
from forge.runs.queries import TakenOver
from forge.workflows.definition.graph import Graph
from forge.workflows.definition.models import Definition, StepType
from forge.workflows.engine.activity import RunActivity
from forge.workflows.engine.execution import Execution, ExecutionResult
from forge.workflows.engine.execution_context import MAX_STEP_RUNS, ExecutionContext, ScopeFailed
from forge.workflows.engine.self_correction import Correction
from forge.workflows.engine.step_executor import RunInfo, StepCall, StepError, StepExecutors, StepResult
from forge.workflows.engine.step_store import StepRow
from forge.workflows.models import StepStatus

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@dataclass
class RunSimulation:
    """An in-memory journal of a run and the effects of its steps."""

    seed: int
    rows: dict[str, StepRow] = field(default_factory=dict[str, StepRow])
    begun: list[str] = field(default_factory=list[str])
    done: Counter[str] = field(default_factory=Counter[str])
    failure: ScopeFailed | None = None
    writes_left: int = 1_000_000
    running: int = 0

    async def write(self, row: StepRow, _events: tuple[EventData, ...]) -> None:
        await asyncio.sleep(0)
        self.writes_left -= 1
        if self.writes_left < 0:
            raise TakenOver  # as if the process was killed: later writes are lost
        self.rows[row.key] = row

    async def run_fenced(self, _function: Any) -> JsonValue:
        raise AssertionError("not used in these tests")

    async def stop_run(self, _run_id: str) -> None:
        raise AssertionError("not used in these tests")

    async def store_failure(self, failed: ScopeFailed) -> None:
        self.failure = failed

    async def execute(self, call: StepCall, config: Any) -> StepResult:
        """Take a moment and fail sometimes if the step allows it; deterministic for each step."""
        chance = random.Random(f"{self.seed} {call.key}")
        self.begun.append(call.key)
        self.running += 1
        try:
            for _ in range(chance.randrange(4)):
                await asyncio.sleep(0)
            if call.step.on_error != "fail" and chance.random() < 0.3:
                raise StepError("no", "No.")
        finally:
            self.running -= 1
        self.done[call.key] += 1
        return StepResult({"type": "wait", "waited_secs": 0})

    def context(self) -> ExecutionContext:
        step_executors: StepExecutors = dict.fromkeys((StepType.WAIT, StepType.CODE, StepType.HTTP), self)
        return ExecutionContext(
            facts=RunInfo("run", "account", "workflow", "random", 0),
            step_executors=step_executors,
            correct=_refuse_correction,
            activity=RunActivity(1000.0, 0.0, 4),
            write=self.write,
            run_fenced=self.run_fenced,
            stop_run=self.stop_run,
            store_failure=self.store_failure,
            failure=self.failure,
            rows=dict(self.rows),
        )

    async def run(self, definition: Definition) -> ExecutionResult:
        names: dict[str, JsonValue] = {"inputs": {}, "trigger": {}, "workflow": {}}
        async with asyncio.timeout(PATIENCE_S):
            return await Execution(definition, self.context(), names).run()


async def _refuse_correction(
    call: StepCall, step: Any, input_fields: Any, problem: Any, *, attempt: int, of: int
) -> Correction:
    raise AssertionError("not used in these tests")


@st.composite
def definitions(draw: st.DrawFn) -> Definition:
    """Generate definitions with dependencies, conditionals and loops."""
    count = draw(st.integers(1, 14))
    chance = draw(st.randoms(use_true_random=False))
    steps: list[dict[str, Any]] = []
    chosen: set[str] = set()
    for i in range(count):
        before = [one["id"] for one in steps]
        after = sorted(chance.sample(before, chance.randrange(min(len(before), 3) + 1)))
        kind = chance.choice(["wait", "wait", "wait", "conditional", "loop"])
        step: dict[str, Any] = {
            "id": f"s{i}",
            "type": kind,
            "depends_on": after,
            "config": _config(kind, chance),
        }
        if kind == "wait" and chance.random() < 0.4:
            step["on_error"] = "continue"
        if chance.random() < 0.2:
            step["condition"] = chance.choice(["true", "false"])
        steps.append(step)
        if kind == "loop":
            inner = [f"s{i}a", f"s{i}b"]
            step["config"]["body_steps"] = inner
            chosen |= set(inner)
    top = [one for one in steps]
    for step in top:
        if step["type"] == "loop":
            first, second = step["config"]["body_steps"]
            steps.append({"id": first, "type": "wait", "config": _config("wait", chance)})
            steps.append(
                {"id": second, "type": "wait", "depends_on": [first], "config": _config("wait", chance)}
            )
        if step["type"] == "conditional":
            later = [one["id"] for one in top if int(one["id"][1:]) > int(step["id"][1:])]
            step["config"]["then_steps"] = chance.sample(later, chance.randrange(min(len(later), 2) + 1))
            step["config"]["else_steps"] = chance.sample(later, chance.randrange(min(len(later), 2) + 1))
    for step in steps:
        step["config"]["type"] = step["type"]
    return Definition.model_validate({"name": "random", "steps": steps})


def _config(kind: str, chance: random.Random) -> dict[str, Any]:
    match kind:
        case "conditional":
            return {"condition": chance.choice(["true", "false"])}
        case "loop":
            return {
                "items": list(range(chance.randrange(4))),
                "parallel": chance.randrange(1, 4),
                "body_steps": [],
            }
        case _:
            return {"seconds": 0}


def settled(simulation: RunSimulation) -> dict[str, tuple[StepStatus, JsonValue]]:
    return {key: (row.status, row.output) for key, row in simulation.rows.items()}


@QUICK
@given(definition=definitions(), seed=st.integers(0, 1000))
def test_every_step_is_settled_once_after_its_sources(definition: Definition, seed: int):
    simulation = RunSimulation(seed)
    ended = asyncio.run(simulation.run(definition))
    assert ended.failure is None
    graph = Graph.of(definition.steps)
    assert all(row.status.is_settled for row in simulation.rows.values())
    assert set(graph.nodes) <= set(simulation.rows), "all top-level steps are settled"
    assert all(times == 1 for times in simulation.done.values())
    for step_id, node in graph.nodes.items():
        started = simulation.rows[step_id].summary.started_at
        finished_times = [simulation.rows[source].summary.finished_at for source in node.sources]
        assert started is None or all(end is not None and end <= started for end in finished_times)


@QUICK
@given(definition=definitions(), seed=st.integers(0, 1000), crashes=st.lists(st.integers(0, 12), max_size=6))
def test_resumed_run_has_same_result_and_repeats_no_finished_step(
    definition: Definition, seed: int, crashes: list[int]
):
    uninterrupted = RunSimulation(seed)
    asyncio.run(uninterrupted.run(definition))
    simulation = RunSimulation(seed)
    for writes in crashes:
        simulation.writes_left = writes
        finished = {key for key, row in simulation.rows.items() if row.status.is_settled}
        simulation.begun.clear()
        with suppress(asyncio.CancelledError):
            asyncio.run(simulation.run(definition))
        assert not finished & set(simulation.begun), "a finished step was repeated"
    simulation.writes_left = 1_000_000
    asyncio.run(simulation.run(definition))
    assert settled(simulation) == settled(uninterrupted)


@QUICK
@given(definition=definitions(), seed=st.integers(0, 1000), ticks=st.integers(0, 30))
def test_cancelled_run_leaves_no_active_step(definition: Definition, seed: int, ticks: int):
    simulation = RunSimulation(seed)

    async def cancelled() -> None:
        run = asyncio.ensure_future(simulation.run(definition))
        for _ in range(ticks):
            await asyncio.sleep(0)
        run.cancel()
        async with asyncio.timeout(PATIENCE_S):
            await asyncio.wait([run])
        assert simulation.running == 0
        begun = len(simulation.begun)
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(simulation.begun) == begun
        assert len(asyncio.all_tasks()) == 1

    asyncio.run(cancelled())


def test_number_of_steps_is_limited():
    """Nested loops multiply."""
    hundred = {"items": list(range(100)), "parallel": 20}
    steps: list[dict[str, Any]] = [
        {"id": "a", "type": "loop", "config": {"type": "loop", **hundred, "body_steps": ["b"]}},
        {"id": "b", "type": "loop", "config": {"type": "loop", **hundred, "body_steps": ["c"]}},
        {"id": "c", "type": "wait", "config": {"type": "wait", "seconds": 0}},
    ]
    simulation = RunSimulation(1)
    ended = asyncio.run(simulation.run(Definition.model_validate({"name": "much", "steps": steps})))
    assert ended.failure is not None
    assert ended.failure.problem.code == "too_many_steps"
    assert len(simulation.done) <= MAX_STEP_RUNS
