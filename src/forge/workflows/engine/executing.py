"""One run of a workflow: its steps, what is done finally, and what it gives in the end."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import JsonValue

from forge.errors import ForgeError
from forge.kernel.background import end
from forge.runs.models import Problem
from forge.workflows.definition.graph import Graph
from forge.workflows.definition.models import Definition
from forge.workflows.engine.ground import Ground, ScopeFailed
from forge.workflows.engine.scoping import Scope
from forge.workflows.engine.templates import filled

LOOK_S = 0.5
"""How exactly the time for work is kept while a run waits."""


@dataclass(frozen=True)
class Ended:
    output: JsonValue
    failure: ScopeFailed | None = None


class Execution:
    def __init__(self, definition: Definition, ground: Ground, names: Mapping[str, JsonValue]) -> None:
        self._definition = definition
        self._ground = ground
        self._names = names
        self._graph = Graph.of(definition.steps, definition.finally_steps)

    async def run(self) -> Ended:
        scope = Scope(self._ground, self._graph, self._names)
        failure = await self._carry_out(scope)
        if self._graph.final is not None:
            failure = await self._finally(self._graph.final, scope, failure)
        if failure is not None:
            return Ended(None, failure)
        try:
            return Ended(await self._output(scope))
        except ForgeError as error:
            return Ended(None, ScopeFailed("outputs", Problem.of(error)))

    async def _carry_out(self, scope: Scope) -> ScopeFailed | None:
        """Once it has failed it stays so, whatever restarts happen: what is done finally may have told of it."""
        failure = self._ground.failure
        if failure is not None:
            scope.recall()
        else:
            try:
                await self._within_time(scope)
            except ScopeFailed as failed:
                failure = failed
                await self._ground.keep(failed)
        if failure is not None:
            await self._stop_runs_of(self._graph)
        return failure

    async def _within_time(self, scope: Scope) -> None:
        work, pace = asyncio.ensure_future(scope.run()), self._ground.pace
        try:
            while not work.done():
                await asyncio.wait([work], timeout=max(pace.left_s, LOOK_S))
                if not work.done() and pace.left_s <= 0:
                    raise ScopeFailed(self._definition.name, _overtime(self._definition.timeout_secs))
        finally:
            await end([work])
        work.result()

    async def _finally(self, graph: Graph, before: Scope, failure: ScopeFailed | None) -> ScopeFailed | None:
        """Whatever happened before; what goes wrong here is told unless something went wrong before."""
        about: dict[str, Any] = (
            dict(self._names["workflow"]) if isinstance(self._names["workflow"], dict) else {}
        )
        about |= {
            "status": "failed" if failure else "completed",
            "error": failure.problem.model_dump(mode="json") if failure else None,
        }
        scope = Scope(self._ground, graph, {**self._names, "workflow": about}, before.steps)
        try:
            await scope.run()
        except ScopeFailed as failed:
            await self._stop_runs_of(graph)
            return failure or failed
        before.steps.update(scope.steps)
        return failure

    async def _stop_runs_of(self, graph: Graph) -> None:
        """Of steps that were ended in the middle."""
        for step_id in graph.nodes:
            await self._ground.stop_runs_of(step_id)

    async def _output(self, scope: Scope) -> JsonValue:
        if not self._definition.outputs:
            return scope.last
        return await filled(self._definition.outputs, scope.variables())


def _overtime(limit_s: float) -> Problem:
    return Problem(
        code="run_timeout",
        message=f"It worked for {limit_s:g} s, which is all it may.",
        hint="timeout_secs of the workflow says how long; waiting for people does not count.",
    )
