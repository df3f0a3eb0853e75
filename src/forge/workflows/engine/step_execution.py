"""Execute one step: condition, attempts, retries and self-correction."""

import asyncio
import json
import logging
import random
import time
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from pydantic import JsonValue, ValidationError

from forge.errors import ForgeError
from forge.kernel.clock import now, sleep_until
from forge.kernel.validation import first_problem
from forge.runs.models import Problem
from forge.store.database import survives_outage
from forge.workflows.definition.models import (
    HTTP_TIMEOUT_S,
    STEP_TIMEOUT_S,
    RetryPolicy,
    RetryStrategy,
    Step,
    StepConfig,
    StepType,
)
from forge.workflows.engine.activity import PASSIVE_STEPS
from forge.workflows.engine.execution_context import ExecutionContext, Variables, mark_running
from forge.workflows.engine.self_correction import restore_secrets
from forge.workflows.engine.step_executor import StepCall, StepError, StepExecutor, StepResult
from forge.workflows.engine.step_store import StepRow
from forge.workflows.expressions.evaluation import is_true
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.expressions.templates import fill_fields
from forge.workflows.models import (
    MAX_OUTPUT,
    Attempt,
    LogLine,
    StepProblem,
    StepStatus,
    StepSummary,
    WorkflowStepLogged,
    WorkflowStepMoved,
)

log = logging.getLogger(__name__)

START_NOTICE_DELAY_S = 0.05
"""The start of a shorter step is not published separately: the transaction would cost more than the step."""
NO_RETRY = RetryPolicy(max_attempts=1)


@dataclass(frozen=True)
class _Failure:
    problem: StepProblem
    cost_micros: int = 0
    logs: tuple[LogLine, ...] = ()


class StepExecution:
    def __init__(
        self,
        context: ExecutionContext,
        step: Step,
        key: str,
        variables: Variables,
        executor: StepExecutor[Any],
    ) -> None:
        self._context = context
        self._step = step
        self._key = key
        self._variables = variables
        self._executor = executor
        self._retry = NO_RETRY if step.type is StepType.LOOP else step.retry or NO_RETRY
        self._placeholders = SecretPlaceholders()
        self._published_logs = 0
        """The number of log lines that were published."""

    async def run(self) -> StepRow:
        """Execute the step until it is settled, resuming from its stored row if there is one."""
        await self._context.step_counter.yield_periodically()
        row = self._context.rows.get(self._key)
        if row is not None:
            return await self._try_until_settled(row)
        row = _new_row(self._step, self._key)
        try:
            if self._step.condition is not None and not is_true(self._step.condition, self._variables()):
                return await self.skip("The condition is false.")
        except ForgeError as error:
            return await self._fail(mark_running(row), StepProblem.of(error))
        return await self._try_until_settled(row)

    async def skip(self, why: str) -> StepRow:
        row = _new_row(self._step, self._key)
        return await self._write(row.with_summary(status=StepStatus.SKIPPED, note=why, finished_at=now()))

    async def _try_until_settled(self, row: StepRow) -> StepRow:
        if row.status is StepStatus.RETRYING:
            row = await self._wait_for_retry(row)
        while True:
            row, ended = await self._attempt(row)
            if isinstance(ended, StepResult):
                self._context.linked_runs.take(self._key)
                return await self._complete(row, ended)
            await self._context.stop_runs_of(self._key)
            delay_s = retry_delay_s(self._retry, row.summary.attempt, ended.problem)
            if delay_s is None:
                return await self._fail(row, ended.problem)
            row, rewritten = await self._next_attempt(row, ended.problem)
            if rewritten is None:
                return await self._fail(row, ended.problem)
            row = await self._wait_for_retry(await self._schedule_retry(row, delay_s, rewritten))

    async def _attempt(self, row: StepRow) -> tuple[StepRow, StepResult | _Failure]:
        started_at, started = now(), time.perf_counter()
        upcoming = _upcoming(row)
        row = mark_running(row)
        call = self._call(row)
        try:
            config = await self._config(upcoming.input if upcoming else None)
            call.row = replace(row, input=self._placeholders.shown(_input_of(config)))
            ended: StepResult | _Failure = _checked(await self._execute_attempt(call, config))
        except StepError as error:
            ended = _Failure(_hidden(self._placeholders, error.problem), error.cost_micros, error.logs)
        except ForgeError as error:
            ended = _Failure(_hidden(self._placeholders, StepProblem.of(error)))
        except Exception as error:
            log.exception("step %s of run %s failed", self._key, self._context.facts.run_id)
            ended = _Failure(StepProblem.defect(error))
        attempt = Attempt(
            number=row.summary.attempt,
            started_at=started_at,
            duration_ms=round((time.perf_counter() - started) * 1000),
            waited_ms=round(call.waited_s * 1000),
            input=upcoming.input if upcoming else None,
            note=upcoming.note if upcoming else "",
            error=None if isinstance(ended, StepResult) else ended.problem,
            cost_micros=ended.cost_micros,
        )
        past = call.row.attempts[:-1] if upcoming else call.row.attempts
        self._published_logs = len(call.row.logs)
        row = replace(call.row.logged(*ended.logs), attempts=(*past, attempt), ticket=None)
        cost = row.summary.cost_micros + ended.cost_micros
        return row.with_summary(cost_micros=cost, note=""), ended

    @survives_outage
    async def _execute_attempt(self, call: StepCall, config: StepConfig) -> StepResult:
        """Execute the attempt. After a database outage the same attempt is repeated with its ticket, as after a crash."""
        limit_s = time_limit(self._step)
        start_notice = _StartNotice(call)
        try:
            if self._step.type in PASSIVE_STEPS:
                return await self._timed(call, config, limit_s)
            async with self._context.activity.work():
                return await self._timed(call, config, limit_s)
        finally:
            await start_notice.end()

    async def _timed(self, call: StepCall, config: StepConfig, limit_s: float | None) -> StepResult:
        try:
            async with asyncio.timeout(limit_s) as call.timer:
                return await self._executor.execute(call, config)
        except TimeoutError as error:
            if limit_s is None or call.timer is None or not call.timer.expired():
                raise
            message = f"The step did not finish within {limit_s:g} s."
            hint = "Increase timeout_secs of the step."
            raise StepError("timeout", message, hint=hint, retryable=True) from error
        finally:
            call.timer = None

    async def _config(self, rewritten: JsonValue) -> StepConfig:
        """Return the config with templates filled in, or the input rewritten by a model with its secrets restored."""
        config = self._step.config
        if not config.templated:
            return config
        fields: dict[str, JsonValue] = config.model_dump(mode="json")
        secrets = self._placeholders if self._step.type is StepType.HTTP else None
        fields |= await fill_fields(
            {name: fields[name] for name in config.templated}, self._variables(), secrets
        )
        ready = fields if rewritten is None else restore_secrets(rewritten, fields, self._placeholders)
        try:
            return type(config).model_validate(ready)
        except ValidationError as error:
            problem = first_problem(error)
            raise StepError(
                "template",
                f"{problem.where} is invalid after its templates were filled in: {problem.message}.",
            ) from error

    def _call(self, row: StepRow) -> StepCall:
        return StepCall(
            facts=self._context.facts,
            step=self._step,
            row=row,
            activity=self._context.activity,
            write=self._context.write,
            run_fenced=self._context.run_fenced,
            secrets=self._placeholders,
            linked_runs=self._context.linked_runs,
            counts_as_work=self._step.type not in PASSIVE_STEPS,
        )

    async def _next_attempt(self, row: StepRow, problem: Problem) -> tuple[StepRow, Attempt | None]:
        """Return the next attempt, with an input rewritten by a model if so configured.

        None if the model judges that no input can help.
        """
        number = row.summary.attempt + 1
        if self._retry.strategy is not RetryStrategy.LLM_SELF_CORRECT:
            return row, Attempt(number=number, started_at=now())
        fields = row.input if isinstance(row.input, dict) else {}
        async with self._context.activity.work():
            correction = await self._context.correct(
                self._call(row), self._step, fields, problem, attempt=number - 1, of=self._retry.max_attempts
            )
        cost = row.summary.cost_micros + correction.cost_micros
        row = row.with_summary(cost_micros=cost, note=correction.note)
        if correction.input is None and (correction.is_futile or not problem.retryable):
            return row, None
        return row, Attempt(number=number, started_at=now(), input=correction.input, note=correction.note)

    async def _schedule_retry(self, row: StepRow, delay_s: float, upcoming: Attempt) -> StepRow:
        last = row.attempts[-1].model_copy(update={"retry_in_s": delay_s})
        row = replace(row, attempts=(*row.attempts[:-1], last, upcoming))
        row = row.with_summary(status=StepStatus.RETRYING, error=last.error, finished_at=now())
        return await self._write(row)

    async def _wait_for_retry(self, row: StepRow) -> StepRow:
        """Wait for the retry delay. It counts from the failure, so a restart does not prolong it."""
        delay_s, ended_at = row.attempts[-2].retry_in_s or 0.0, row.summary.finished_at or now()
        due = ended_at + timedelta(seconds=delay_s)
        with self._context.activity.waiting(due, counts_as_work=False):
            await sleep_until(due, longest_s=delay_s)
        return row.with_summary(attempt=row.attempts[-1].number, finished_at=None, error=None)

    async def _complete(self, row: StepRow, done: StepResult) -> StepRow:
        row = replace(row, output=self._placeholders.shown(done.output))
        return await self._write(row.with_summary(status=StepStatus.COMPLETED, finished_at=now()))

    async def _fail(self, row: StepRow, problem: StepProblem) -> StepRow:
        return await self._write(row.with_summary(status=StepStatus.FAILED, error=problem, finished_at=now()))

    async def _write(self, row: StepRow) -> StepRow:
        """Store the row and publish its state, with the log lines that were not published yet."""
        moved, lines = WorkflowStepMoved(step=row.summary), list(row.logs[self._published_logs :])
        facts = (WorkflowStepLogged(key=row.key, lines=lines), moved) if lines else (moved,)
        await self._context.write(row, facts)
        return row


class _StartNotice:
    """Publish the start of a step, unless it ends immediately. The start of a loop is published before that of its steps."""

    def __init__(self, call: StepCall) -> None:
        self._call = call
        self._task: asyncio.Task[None] | None = None
        after_s = 0.0 if call.step.type is StepType.LOOP else START_NOTICE_DELAY_S
        self._timer = asyncio.get_running_loop().call_later(after_s, self._publish)

    def _publish(self) -> None:
        self._task = asyncio.ensure_future(self._call.publish_start())

    async def end(self) -> None:
        self._timer.cancel()
        if self._task is not None:
            await self._task


def retry_delay_s(policy: RetryPolicy, attempt: int, problem: Problem) -> float | None:
    """Return the seconds before the next attempt, or None if there is none."""
    if attempt >= policy.max_attempts or not _should_retry(policy, problem):
        return None
    usual = max(policy.delay_secs * policy.factor ** (attempt - 1), problem.retry_after_s or 0.0)
    delay = min(usual, policy.max_delay_secs)
    return delay * (1 + policy.jitter * random.uniform(-1, 1))  # noqa: S311  (no secret)


def _should_retry(policy: RetryPolicy, problem: Problem) -> bool:
    if policy.retry_on is not None:
        return "*" in policy.retry_on or problem.code in policy.retry_on
    return problem.retryable or policy.strategy is RetryStrategy.LLM_SELF_CORRECT


def _new_row(step: Step, key: str) -> StepRow:
    return StepRow(
        StepSummary(key=key, step=step.id, type=step.type, name=step.title, status=StepStatus.RUNNING)
    )


def _upcoming(row: StepRow) -> Attempt | None:
    """Return the attempt that was planned when the last one failed."""
    last = row.attempts[-1] if row.attempts else None
    return last if last and last.number == row.summary.attempt and last.duration_ms is None else None


def _input_of(config: StepConfig) -> JsonValue:
    return config.model_dump(mode="json", exclude_none=True)


def _checked(done: StepResult) -> StepResult:
    try:
        size = len(json.dumps(done.output, allow_nan=False, ensure_ascii=False))
    except ValueError as error:
        raise StepError("bad_output", f"The output is not valid JSON: {error}.") from error
    if size > MAX_OUTPUT:
        raise StepError(
            "output_too_large",
            f"The output has {size:,} characters; the maximum is {MAX_OUTPUT:,}.",
            hint="Return less, or store the data elsewhere and return a reference to it.",
        )
    return done


def _hidden(placeholders: SecretPlaceholders, problem: StepProblem) -> StepProblem:
    message, hint = placeholders.shown(problem.message), placeholders.shown(problem.hint)
    return problem.model_copy(update={"message": message, "hint": hint})


def time_limit(step: Step) -> float | None:
    """Return the time limit in seconds; None for steps that only wait and have no `timeout_secs`."""
    if step.timeout_secs is not None:
        return step.timeout_secs
    if step.type in PASSIVE_STEPS:
        return None
    return HTTP_TIMEOUT_S if step.type is StepType.HTTP else STEP_TIMEOUT_S
