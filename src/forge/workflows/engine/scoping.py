"""Carries out the steps of one scope: each as soon as it can begin, as many side by side as there are.

Steps are found again by their names, so their order does not matter to anybody after a crash: this is the one place in
run code that may use tasks of its own.
"""

import asyncio
from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import JsonValue

from forge.kernel.background import end
from forge.workflows.definition.graph import Graph
from forge.workflows.definition.models import ConditionalConfig, LoopConfig, Step
from forge.workflows.engine.ground import Ground, ScopeFailed
from forge.workflows.engine.hands import Done, Hand, StepCall, StepError
from forge.workflows.engine.rows import StepRow, fails_run, settled_of
from forge.workflows.engine.stepping import Stepping
from forge.workflows.engine.walking import Decision, Walk
from forge.workflows.expressions.evaluating import is_true
from forge.workflows.expressions.functions import kind_of
from forge.workflows.keys import inside


class Scope:
    """`known`: what steps around it came to. `names`: the other variables of templates."""

    def __init__(
        self,
        ground: Ground,
        graph: Graph,
        names: Mapping[str, JsonValue],
        known: Mapping[str, JsonValue] | None = None,
        prefix: str = "",
    ) -> None:
        self._ground = ground
        self._graph = graph
        self._names = names
        self._prefix = prefix
        self._walk = Walk(graph)
        self._ended: asyncio.Queue[asyncio.Task[StepRow]] = asyncio.Queue()
        self._tasks: dict[asyncio.Task[StepRow], str] = {}
        self.steps: dict[str, JsonValue] = dict(known or {})
        self.iterations: dict[str, list[dict[str, JsonValue]]] = {}
        """Of loops that have just ended."""
        self.last: JsonValue = None
        """What the last step in the order of writing gave."""

    async def run(self) -> None:
        """Raises ScopeFailed; then nothing of it runs any more."""
        self._check_failed_before()
        try:
            self._begin(self._walk.begin())
            while self._tasks:
                task = await self._ended.get()
                self._settle(self._tasks.pop(task), task.result())
        finally:
            await end(self._tasks)
        self.last = next(
            (
                given
                for step_id in reversed(list(self._graph.nodes))
                if (given := self.output(step_id)) is not None
            ),
            None,
        )

    def output(self, step_id: str) -> JsonValue:
        entry = self.steps.get(step_id)
        return entry.get("output") if isinstance(entry, dict) else None

    def variables(self) -> dict[str, JsonValue]:
        return {**self._names, "steps": self.steps}

    def _check_failed_before(self) -> None:
        """Nothing begins again in a scope that has failed already."""
        for step_id, node in self._graph.nodes.items():
            row = self._ground.rows.get(self._prefix + step_id)
            if row is not None and fails_run(node.step, row):
                self.recall()
                self._raise(node.step, row)

    def recall(self) -> None:
        """What was settled before the process died, for the steps under `finally`."""
        for step_id in self._graph.nodes:
            row = self._ground.rows.get(self._prefix + step_id)
            if row is not None and row.status.is_settled:
                self._note(step_id, row)

    def _begin(self, decisions: list[Decision]) -> None:
        """What was settled before the process died is not done again."""
        while decisions:
            decision = decisions.pop(0)
            step_id = decision.step_id
            self._ground.tally.add()
            row = self._ground.rows.get(self._prefix + step_id)
            if row is not None and row.status.is_settled:
                decisions += self._pass(step_id, row)
                continue
            stepping = self._stepping(self._graph.nodes[step_id].step)
            why = decision.skipped_because
            task = asyncio.ensure_future(stepping.run() if why is None else stepping.skip(why))
            self._tasks[task] = step_id
            task.add_done_callback(self._ended.put_nowait)

    def _settle(self, step_id: str, row: StepRow) -> None:
        step = self._graph.nodes[step_id].step
        if fails_run(step, row):
            self._note(step_id, row)
            self._raise(step, row)
        self._begin(self._pass(step_id, row))

    def _pass(self, step_id: str, row: StepRow) -> list[Decision]:
        """What can be decided now that the step is settled."""
        self._note(step_id, row)
        return list(self._walk.settle(step_id, settled_of(self._graph.nodes[step_id].step, row)))

    def _note(self, step_id: str, row: StepRow) -> None:
        """For the templates of those after it."""
        if isinstance(self._graph.nodes[step_id].step.config, LoopConfig):
            self._note_loop(step_id, row)
        else:
            self.steps[step_id] = entry_of(row)

    def _note_loop(self, loop_id: str, row: StepRow) -> None:
        """What its body came to: each time in the loop's own entry, the last time in those of its steps."""
        iterations = self.iterations.pop(loop_id, None) or self._kept_iterations(loop_id, row)
        results: list[JsonValue] = [
            {inner: entry["output"] for inner, entry in each.items() if isinstance(entry, dict)}
            for each in iterations
        ]
        entry = entry_of(row)
        if isinstance(row.output, dict):
            entry["output"] = {**row.output, "results": results}
        self.steps[loop_id] = {**entry, "iterations": results}
        if iterations:
            self.steps.update(iterations[-1])

    def _kept_iterations(self, loop_id: str, row: StepRow) -> list[dict[str, JsonValue]]:
        """Of a loop that had ended when its process died."""
        count = row.output["iterations"] if isinstance(row.output, dict) else 0
        return [self._kept_iteration(loop_id, i) for i in range(count if isinstance(count, int) else 0)]

    def _kept_iteration(self, loop_id: str, index: int) -> dict[str, JsonValue]:
        prefix, rows = inside(self._prefix + loop_id, index), self._ground.rows
        body = self._graph.bodies[loop_id].nodes
        return {inner: entry_of(rows[prefix + inner]) for inner in body if prefix + inner in rows}

    def _raise(self, step: Step, row: StepRow) -> NoReturn:
        if row.summary.error is None:
            raise RuntimeError(f"the step {row.key} failed without a reason")
        raise ScopeFailed(step.title, row.summary.error)

    def _stepping(self, step: Step) -> Stepping:
        return Stepping(self._ground, step, self._prefix + step.id, self.variables, self._hand(step))

    def _hand(self, step: Step) -> Hand[Any]:
        if isinstance(step.config, ConditionalConfig):
            return _Branch(self)
        if isinstance(step.config, LoopConfig):
            return _Loop(self, self._graph.bodies[step.id], step.id)
        return self._ground.hands[step.type]

    def inner(self, graph: Graph, key: str, index: int, item: JsonValue) -> "Scope":
        names = {**self._names, "loop": {"index": index, "item": item}}
        return Scope(self._ground, graph, names, self.steps, prefix=inside(key, index))


class _Branch:
    """A conditional: chooses, and does nothing else."""

    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    async def do(self, call: StepCall, config: ConditionalConfig) -> Done:
        is_met = is_true(config.condition, self._scope.variables())
        selected: list[JsonValue] = [*(config.then_steps if is_met else config.else_steps)]
        return Done({"type": "branch", "condition_met": is_met, "selected_steps": selected})


class _Loop:
    def __init__(self, scope: Scope, body: Graph, loop_id: str) -> None:
        self._scope = scope
        self._body = body
        self._loop_id = loop_id

    async def do(self, call: StepCall, config: LoopConfig) -> Done:
        try:
            if config.condition is not None:
                iterations, is_complete = await self._while(call, config, config.condition)
            else:
                iterations, is_complete = await self._for_each(call, config), True
        except ScopeFailed as failed:
            problem = failed.problem
            message = f"{failed.title}: {problem.message}"
            raise StepError(problem.code, message, hint=problem.hint) from failed
        self._scope.iterations[self._loop_id] = iterations
        return Done({"type": "loop", "iterations": len(iterations), "completed": is_complete})

    async def _while(
        self, call: StepCall, config: LoopConfig, condition: str
    ) -> tuple[list[dict[str, JsonValue]], bool]:
        """Whether it ended because its condition did, not because it was long enough."""
        iterations: list[dict[str, JsonValue]] = []
        inner = self._scope
        while True:
            index = len(iterations)
            loop: dict[str, JsonValue] = {"index": index, "item": None}
            if not is_true(condition, {**inner.variables(), "loop": loop}):
                return iterations, True
            if index == config.max_iterations:
                return iterations, False
            inner = self._scope.inner(self._body, call.key, index, None)
            await inner.run()
            iterations.append(self._came_to(inner))

    async def _for_each(self, call: StepCall, config: LoopConfig) -> list[dict[str, JsonValue]]:
        items = config.items
        if not isinstance(items, list):
            raise StepError("no_list", f"items is to give a list; it gave {kind_of(items)}.")
        if len(items) > config.max_iterations:
            raise StepError(
                "too_many_items",
                f"The list has {len(items)} items; this loop does {config.max_iterations} at most.",
                hint="Let a step before it take a part of the list.",
            )
        scopes = [self._scope.inner(self._body, call.key, i, item) for i, item in enumerate(items)]
        waiting, active = list(reversed(scopes)), set[asyncio.Task[None]]()
        try:
            while waiting or active:
                while waiting and len(active) < config.parallel:
                    active.add(asyncio.ensure_future(waiting.pop().run()))
                done, active = await asyncio.wait(active, return_when=asyncio.FIRST_COMPLETED)
                if failures := [error for task in done if (error := task.exception())]:
                    raise failures[0]
        finally:
            await end(active)
        return [self._came_to(scope) for scope in scopes]

    def _came_to(self, inner: Scope) -> dict[str, JsonValue]:
        return {step_id: inner.steps[step_id] for step_id in self._body.nodes if step_id in inner.steps}


def entry_of(row: StepRow) -> dict[str, JsonValue]:
    """What templates see of a step."""
    return {"output": row.output, "status": row.status.value, "error": _error(row)}


def _error(row: StepRow) -> JsonValue:
    return row.summary.error.model_dump(mode="json") if row.summary.error else None
