"""Execute the steps of a run, each as soon as its dependencies are settled, in parallel.

Steps are journaled by key, not by order of calls, so this is the one place in run code that may create tasks.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from pydantic import JsonValue

from forge.errors import ForgeError
from forge.kernel.background import cancel_and_wait
from forge.workflows.definition.graph import Graph, Node
from forge.workflows.definition.models import (
    ApprovalConfig,
    ConditionalConfig,
    Definition,
    Goto,
    LoopConfig,
    Step,
    StepConfig,
)
from forge.workflows.engine.execution_context import ExecutionContext, ScopeFailed
from forge.workflows.engine.step_execution import StepExecution
from forge.workflows.engine.step_executor import StepCall, StepError, StepExecutor, StepResult
from forge.workflows.engine.step_store import StepRow, fails_run
from forge.workflows.expressions.evaluation import is_true
from forge.workflows.expressions.templates import fill_fields
from forge.workflows.expressions.values import kind_of
from forge.workflows.models import StepProblem, StepStatus, iteration_prefix


@dataclass(frozen=True)
class StepOutcome:
    """The effect of a settled step on the steps that depend on it."""

    passes: bool
    """Whether the steps that depend on it may start."""
    chooses: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Decision:
    step_id: str
    skipped_because: str | None = None
    """None if the step starts."""


class Walk:
    """Decide which step is next.

    A step is decided when all steps that lead to it are settled. It is skipped if it is a branch target that was not
    chosen, or if it has dependencies and none of them passed.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._left = {step_id: len(set(node.sources)) for step_id, node in graph.nodes.items()}
        self._settled: dict[str, StepOutcome] = {}

    def begin(self) -> list[Decision]:
        """Decide the steps without dependencies."""
        return [self._decide(node) for node in self._graph.nodes.values() if not node.sources]

    def settle(self, step_id: str, outcome: StepOutcome) -> Iterator[Decision]:
        """Decide the steps that were waiting only for this one."""
        self._settled[step_id] = outcome
        for target in self._graph.targets[step_id]:
            self._left[target] -= 1
            if self._left[target] == 0:
                yield self._decide(self._graph.nodes[target])

    def _decide(self, node: Node) -> Decision:
        step_id = node.step.id
        if node.gates and not any(step_id in self._settled[gate].chooses for gate in node.gates):
            return Decision(step_id, f"Not chosen by {', '.join(node.gates)}.")
        if node.after and not any(self._settled[source].passes for source in node.after):
            return Decision(step_id, f"None of its dependencies passed: {', '.join(node.after)}.")
        return Decision(step_id)


def outcome_of(step: Step, row: StepRow) -> StepOutcome:
    """Return what a settled step means for the steps that depend on it. Not called for steps that fail their run."""
    match row.status:
        case StepStatus.COMPLETED:
            output = (
                row.output if isinstance(row.output, dict) else {}
            )  # samples of a dry run may have any shape
            return _completed(step.config, cast("Mapping[str, Any]", output))
        case StepStatus.FAILED:
            if isinstance(step.on_error, Goto):
                return StepOutcome(False, frozenset({step.on_error.goto}))
            return StepOutcome(step.on_error == "continue")
        case _:
            return StepOutcome(False)


def _completed(config: StepConfig, output: Mapping[str, Any]) -> StepOutcome:
    match config:
        case ConditionalConfig():
            return StepOutcome(True, frozenset(output["selected_steps"]))
        case ApprovalConfig() if output.get("approved") is False:
            return StepOutcome(config.on_reject == "continue", frozenset(config.rejected_steps))
        case _:
            return StepOutcome(True)


class Scope:
    """The steps of the workflow, of a loop body or of `finally`.

    `known`: results of the steps outside. `names`: the other template variables.
    """

    def __init__(
        self,
        context: ExecutionContext,
        graph: Graph,
        names: Mapping[str, JsonValue],
        known: Mapping[str, JsonValue] | None = None,
        prefix: str = "",
    ) -> None:
        self._context = context
        self._graph = graph
        self._names = names
        self._prefix = prefix
        self._walk = Walk(graph)
        self._ended: asyncio.Queue[asyncio.Task[StepRow]] = asyncio.Queue()
        self._tasks: dict[asyncio.Task[StepRow], str] = {}
        self.steps: dict[str, JsonValue] = dict(known or {})
        self.iterations: dict[str, list[dict[str, JsonValue]]] = {}
        """Results of the iterations of loops that have just ended, by loop id."""
        self.last: JsonValue = None
        """The output of the last step, in the order of the definition, that has one."""

    async def run(self) -> None:
        """Execute all steps. Raises ScopeFailed after cancelling the steps that are still running."""
        self._check_failed_before()
        try:
            self._begin(self._walk.begin())
            while self._tasks:
                task = await self._ended.get()
                self._settle(self._tasks.pop(task), task.result())
        finally:
            await cancel_and_wait(self._tasks)
        self.last = next(
            (
                output
                for step_id in reversed(list(self._graph.nodes))
                if (output := self.output(step_id)) is not None
            ),
            None,
        )

    def output(self, step_id: str) -> JsonValue:
        entry = self.steps.get(step_id)
        return entry.get("output") if isinstance(entry, dict) else None

    def variables(self) -> dict[str, JsonValue]:
        return {**self._names, "steps": self.steps}

    def _check_failed_before(self) -> None:
        """Raise the failure of an earlier attempt of the run, before any step is started again."""
        for step_id, node in self._graph.nodes.items():
            row = self._context.rows.get(self._prefix + step_id)
            if row is not None and fails_run(node.step, row):
                self.restore()
                self._raise(node.step, row)

    def restore(self) -> None:
        """Restore the results of settled steps, for the steps under `finally`."""
        for step_id in self._graph.nodes:
            row = self._context.rows.get(self._prefix + step_id)
            if row is not None and row.status.is_settled:
                self._note(step_id, row)

    def _begin(self, decisions: list[Decision]) -> None:
        """Start or skip steps. Steps settled by an earlier attempt of the run are not executed again."""
        while decisions:
            decision = decisions.pop(0)
            step_id = decision.step_id
            self._context.step_counter.add()
            row = self._context.rows.get(self._prefix + step_id)
            if row is not None and row.status.is_settled:
                decisions += self._pass(step_id, row)
                continue
            execution = self._step_execution(self._graph.nodes[step_id].step)
            why = decision.skipped_because
            task = asyncio.ensure_future(execution.run() if why is None else execution.skip(why))
            self._tasks[task] = step_id
            task.add_done_callback(self._ended.put_nowait)

    def _settle(self, step_id: str, row: StepRow) -> None:
        step = self._graph.nodes[step_id].step
        if fails_run(step, row):
            self._note(step_id, row)
            self._raise(step, row)
        self._begin(self._pass(step_id, row))

    def _pass(self, step_id: str, row: StepRow) -> list[Decision]:
        """Record a settled step and return the decisions it makes possible."""
        self._note(step_id, row)
        return list(self._walk.settle(step_id, outcome_of(self._graph.nodes[step_id].step, row)))

    def _note(self, step_id: str, row: StepRow) -> None:
        """Make the result of a step available to templates."""
        if isinstance(self._graph.nodes[step_id].step.config, LoopConfig):
            self._note_loop(step_id, row)
        else:
            self.steps[step_id] = entry_of(row)

    def _note_loop(self, loop_id: str, row: StepRow) -> None:
        """Put the results of all iterations in the loop's entry, and those of the last one in the entries of its steps."""
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
        """Restore the iterations of a loop that had ended before a restart."""
        count = row.output["iterations"] if isinstance(row.output, dict) else 0
        return [self._kept_iteration(loop_id, i) for i in range(count if isinstance(count, int) else 0)]

    def _kept_iteration(self, loop_id: str, index: int) -> dict[str, JsonValue]:
        prefix, rows = iteration_prefix(self._prefix + loop_id, index), self._context.rows
        body = self._graph.bodies[loop_id].nodes
        return {inner: entry_of(rows[prefix + inner]) for inner in body if prefix + inner in rows}

    def _raise(self, step: Step, row: StepRow) -> NoReturn:
        if row.summary.error is None:
            raise RuntimeError(f"the step {row.key} failed without a reason")
        raise ScopeFailed(step.title, row.summary.error)

    def _step_execution(self, step: Step) -> StepExecution:
        return StepExecution(
            self._context, step, self._prefix + step.id, self.variables, self._executor(step)
        )

    def _executor(self, step: Step) -> StepExecutor[Any]:
        if isinstance(step.config, ConditionalConfig):
            return _ConditionalExecutor(self)
        if isinstance(step.config, LoopConfig):
            return _LoopExecutor(self, self._graph.bodies[step.id], step.id)
        return self._context.step_executors[step.type]

    def inner(self, graph: Graph, key: str, index: int, item: JsonValue) -> "Scope":
        names = {**self._names, "loop": {"index": index, "item": item}}
        return Scope(self._context, graph, names, self.steps, prefix=iteration_prefix(key, index))


class _ConditionalExecutor:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    async def execute(self, call: StepCall, config: ConditionalConfig) -> StepResult:
        is_met = is_true(config.condition, self._scope.variables())
        selected: list[JsonValue] = [*(config.then_steps if is_met else config.else_steps)]
        return StepResult({"type": "branch", "condition_met": is_met, "selected_steps": selected})


class _LoopExecutor:
    def __init__(self, scope: Scope, body: Graph, loop_id: str) -> None:
        self._scope = scope
        self._body = body
        self._loop_id = loop_id

    async def execute(self, call: StepCall, config: LoopConfig) -> StepResult:
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
        return StepResult({"type": "loop", "iterations": len(iterations), "completed": is_complete})

    async def _while(
        self, call: StepCall, config: LoopConfig, condition: str
    ) -> tuple[list[dict[str, JsonValue]], bool]:
        """Return the iterations, and whether the loop ended by its condition and not by `max_iterations`."""
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
            iterations.append(self._results(inner))

    async def _for_each(self, call: StepCall, config: LoopConfig) -> list[dict[str, JsonValue]]:
        items = config.items
        if not isinstance(items, list):
            raise StepError("no_list", f"`items` must evaluate to a list, got {kind_of(items)}.")
        if len(items) > config.max_iterations:
            raise StepError(
                "too_many_items",
                f"The list has {len(items)} items; the loop's max_iterations is {config.max_iterations}.",
                hint="Select fewer items in an earlier step.",
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
            await cancel_and_wait(active)
        return [self._results(scope) for scope in scopes]

    def _results(self, inner: Scope) -> dict[str, JsonValue]:
        return {step_id: inner.steps[step_id] for step_id in self._body.nodes if step_id in inner.steps}


def entry_of(row: StepRow) -> dict[str, JsonValue]:
    """Return a step as templates see it."""
    return {"output": row.output, "status": row.status.value, "error": _error(row)}


def _error(row: StepRow) -> JsonValue:
    return row.summary.error.model_dump(mode="json") if row.summary.error else None


TIME_CHECK_S = 0.5
"""How often the time limit is checked once it has nearly passed."""


@dataclass(frozen=True)
class ExecutionResult:
    output: JsonValue
    failure: ScopeFailed | None = None


class Execution:
    def __init__(
        self, definition: Definition, context: ExecutionContext, names: Mapping[str, JsonValue]
    ) -> None:
        self._definition = definition
        self._context = context
        self._names = names
        self._graph = Graph.of(definition.steps, definition.finally_steps)

    async def run(self) -> ExecutionResult:
        scope = Scope(self._context, self._graph, self._names)
        failure = await self._execute_steps(scope)
        if self._graph.final is not None:
            failure = await self._finally(self._graph.final, scope, failure)
        if failure is not None:
            return ExecutionResult(None, failure)
        try:
            return ExecutionResult(await self._output(scope))
        except ForgeError as error:
            return ExecutionResult(None, ScopeFailed("outputs", StepProblem.of(error)))

    async def _execute_steps(self, scope: Scope) -> ScopeFailed | None:
        """Execute all steps but those under `finally`.

        A failure is stored and final, even after a restart: steps under `finally` may have reported it already.
        """
        failure = self._context.failure
        if failure is not None:
            scope.restore()
        else:
            try:
                await self._within_time(scope)
            except ScopeFailed as failed:
                failure = failed
                await self._context.store_failure(failed)
        if failure is not None:
            await self._stop_runs_of(self._graph)
        return failure

    async def _within_time(self, scope: Scope) -> None:
        work, activity = asyncio.ensure_future(scope.run()), self._context.activity
        try:
            while not work.done():
                await asyncio.wait([work], timeout=max(activity.remaining_s, TIME_CHECK_S))
                if not work.done() and activity.remaining_s <= 0:
                    raise ScopeFailed(
                        self._definition.name, _time_limit_exceeded(self._definition.timeout_secs)
                    )
        finally:
            await cancel_and_wait([work])
        work.result()

    async def _finally(self, graph: Graph, before: Scope, failure: ScopeFailed | None) -> ScopeFailed | None:
        """Execute the steps under `finally`. Their failure is returned only if no other step failed before."""
        about: dict[str, Any] = (
            dict(self._names["workflow"]) if isinstance(self._names["workflow"], dict) else {}
        )
        about |= {
            "status": "failed" if failure else "completed",
            "error": failure.problem.model_dump(mode="json") if failure else None,
        }
        scope = Scope(self._context, graph, {**self._names, "workflow": about}, before.steps)
        try:
            await scope.run()
        except ScopeFailed as failed:
            await self._stop_runs_of(graph)
            return failure or failed
        before.steps.update(scope.steps)
        return failure

    async def _stop_runs_of(self, graph: Graph) -> None:
        """Cancel the runs started by steps that were interrupted."""
        for step_id in graph.nodes:
            await self._context.stop_runs_of(step_id)

    async def _output(self, scope: Scope) -> JsonValue:
        if not self._definition.outputs:
            return scope.last
        return await fill_fields(self._definition.outputs, scope.variables())


def _time_limit_exceeded(limit_s: float) -> StepProblem:
    return StepProblem(
        code="run_timeout",
        message=f"The run exceeded its time limit of {limit_s:g} s.",
        hint="Increase timeout_secs of the workflow. Time spent waiting for people does not count.",
    )
