"""One step, from its condition to its end, with as many attempts as it may have."""

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
from forge.kernel.misfit import first_misfit
from forge.runs.models import Problem
from forge.store.outage import survives_outage
from forge.workflows.correcting import put_secrets_back
from forge.workflows.definition.models import RetryPolicy, RetryStrategy, Step, StepConfig, StepType
from forge.workflows.engine.calling import LiveCall, begun
from forge.workflows.engine.ground import Ground, Variables
from forge.workflows.engine.hands import Done, Hand, StepError
from forge.workflows.engine.pace import RESTING
from forge.workflows.engine.rows import StepRow
from forge.workflows.engine.templates import filled
from forge.workflows.engine.timing import time_limit
from forge.workflows.expressions.evaluating import is_true
from forge.workflows.expressions.marks import SecretMarks
from forge.workflows.models import (
    MAX_OUTPUT,
    Attempt,
    LogLine,
    StepStatus,
    StepSummary,
    WorkflowStepLogged,
    WorkflowStepMoved,
)

log = logging.getLogger(__name__)

SHORT_S = 0.05
"""A step shorter than this is told of when it is over: a transaction costs more than it does."""
ONCE = RetryPolicy(max_attempts=1)


@dataclass(frozen=True)
class _Failure:
    problem: Problem
    cost_micros: int = 0
    logs: tuple[LogLine, ...] = ()


class Stepping:
    def __init__(self, ground: Ground, step: Step, key: str, variables: Variables, hand: Hand[Any]) -> None:
        self._ground = ground
        self._step = step
        self._key = key
        self._variables = variables
        self._hand = hand
        self._retry = ONCE if step.type is StepType.LOOP else step.retry or ONCE
        self._marks = SecretMarks()
        self._told = 0
        """How many lines of what it logged are in the run's stream."""

    async def run(self) -> StepRow:
        """The step as it is settled. It goes on from where it was when its process died."""
        await self._ground.tally.take_turn()
        row = self._ground.rows.get(self._key)
        if row is not None:
            return await self._try_until_settled(row)
        row = _new_row(self._step, self._key)
        try:
            if self._step.condition is not None and not is_true(self._step.condition, self._variables()):
                return await self.skip("Its condition is false.")
        except ForgeError as error:
            return await self._fail(begun(row), Problem.of(error))
        return await self._try_until_settled(row)

    async def skip(self, why: str) -> StepRow:
        row = _new_row(self._step, self._key)
        return await self._write(row.moved(status=StepStatus.SKIPPED, note=why, finished_at=now()))

    async def _try_until_settled(self, row: StepRow) -> StepRow:
        if row.status is StepStatus.RETRYING:
            row = await self._pause(row)
        while True:
            row, ended = await self._attempt(row)
            if isinstance(ended, Done):
                self._ground.links.take(self._key)
                return await self._complete(row, ended)
            await self._ground.stop_runs_of(self._key)
            delay_s = delay_after(self._retry, row.summary.attempt, ended.problem)
            if delay_s is None:
                return await self._fail(row, ended.problem)
            row, rewritten = await self._corrected(row, ended.problem)
            if rewritten is None:
                return await self._fail(row, ended.problem)
            row = await self._pause(await self._put_off(row, delay_s, rewritten))

    async def _attempt(self, row: StepRow) -> tuple[StepRow, Done | _Failure]:
        started_at, started = now(), time.perf_counter()
        upcoming = _upcoming(row)
        row = begun(row)
        call = self._call(row)
        try:
            config = await self._config(upcoming.input if upcoming else None)
            call.row = replace(row, input=self._marks.shown(_given(config)))
            ended: Done | _Failure = _checked(await self._do(call, config))
        except StepError as error:
            ended = _Failure(_hidden(self._marks, error.problem), error.cost_micros, error.logs)
        except ForgeError as error:
            ended = _Failure(_hidden(self._marks, Problem.of(error)))
        except Exception as error:
            log.exception("step %s of run %s failed", self._key, self._ground.facts.run_id)
            ended = _Failure(Problem.defect(error))
        attempt = Attempt(
            number=row.summary.attempt,
            started_at=started_at,
            duration_ms=round((time.perf_counter() - started) * 1000),
            waited_ms=round(call.waited_s * 1000),
            input=upcoming.input if upcoming else None,
            note=upcoming.note if upcoming else "",
            error=None if isinstance(ended, Done) else ended.problem,
            cost_micros=ended.cost_micros,
        )
        past = call.row.attempts[:-1] if upcoming else call.row.attempts
        self._told = len(call.row.logs)
        row = replace(call.row.logged(*ended.logs), attempts=(*past, attempt), ticket=None)
        cost = row.summary.cost_micros + ended.cost_micros
        return row.moved(cost_micros=cost, note=""), ended

    @survives_outage
    async def _do(self, call: LiveCall, config: StepConfig) -> Done:
        """A database that is away is as a crash: the same attempt is done again, from what it has begun."""
        limit_s = time_limit(self._step)
        telling = _Telling(call)
        try:
            if self._step.type in RESTING:
                return await self._timed(call, config, limit_s)
            async with self._ground.pace.work():
                return await self._timed(call, config, limit_s)
        finally:
            await telling.end()

    async def _timed(self, call: LiveCall, config: StepConfig, limit_s: float | None) -> Done:
        try:
            async with asyncio.timeout(limit_s) as call.timer:
                return await self._hand.do(call, config)
        except TimeoutError as error:
            if limit_s is None or call.timer is None or not call.timer.expired():
                raise
            message = f"It did not finish within {limit_s:g} s."
            hint = "timeout_secs of the step says how long it may take."
            raise StepError("timeout", message, hint=hint, may_pass=True) from error
        finally:
            call.timer = None

    async def _config(self, rewritten: JsonValue) -> StepConfig:
        """With its templates filled in; or what a model made of that, with the secrets it did not see."""
        config = self._step.config
        if not config.templated:
            return config
        given: dict[str, JsonValue] = config.model_dump(mode="json")
        secrets = self._marks if self._step.type is StepType.HTTP else None
        given |= await filled({name: given[name] for name in config.templated}, self._variables(), secrets)
        ready = given if rewritten is None else put_secrets_back(rewritten, given, self._marks)
        try:
            return type(config).model_validate(ready)
        except ValidationError as error:
            misfit = first_misfit(error)
            raise StepError(
                "template", f"{misfit.where} cannot be used once it is filled in: {misfit.message}."
            ) from error

    def _call(self, row: StepRow) -> LiveCall:
        return LiveCall(
            facts=self._ground.facts,
            step=self._step,
            row=row,
            pace=self._ground.pace,
            write=self._ground.write,
            fenced=self._ground.fenced,
            secrets=self._marks,
            links=self._ground.links,
            works=self._step.type not in RESTING,
        )

    async def _corrected(self, row: StepRow, problem: Problem) -> tuple[StepRow, Attempt | None]:
        """The attempt that comes next; None when the model sees no use in it."""
        number = row.summary.attempt + 1
        if self._retry.strategy is not RetryStrategy.LLM_SELF_CORRECT:
            return row, Attempt(number=number, started_at=now())
        given = row.input if isinstance(row.input, dict) else {}
        async with self._ground.pace.work():
            correction = await self._ground.correct(
                self._call(row), self._step, given, problem, attempt=number - 1, of=self._retry.max_attempts
            )
        cost = row.summary.cost_micros + correction.cost_micros
        row = row.moved(cost_micros=cost, note=correction.note)
        if correction.input is None and (correction.is_futile or not problem.retryable):
            return row, None
        return row, Attempt(number=number, started_at=now(), input=correction.input, note=correction.note)

    async def _put_off(self, row: StepRow, delay_s: float, upcoming: Attempt) -> StepRow:
        last = row.attempts[-1].model_copy(update={"retry_in_s": delay_s})
        row = replace(row, attempts=(*row.attempts[:-1], last, upcoming))
        row = row.moved(status=StepStatus.RETRYING, error=last.error, finished_at=now())
        return await self._write(row)

    async def _pause(self, row: StepRow) -> StepRow:
        """Counted from when it failed, whatever restarts happen meanwhile."""
        delay_s, ended_at = row.attempts[-2].retry_in_s or 0.0, row.summary.finished_at or now()
        due = ended_at + timedelta(seconds=delay_s)
        with self._ground.pace.waiting(due, works=False):
            await sleep_until(due, longest_s=delay_s)
        return row.moved(attempt=row.attempts[-1].number, finished_at=None, error=None)

    async def _complete(self, row: StepRow, done: Done) -> StepRow:
        row = replace(row, output=self._marks.shown(done.output))
        return await self._write(row.moved(status=StepStatus.COMPLETED, finished_at=now()))

    async def _fail(self, row: StepRow, problem: Problem) -> StepRow:
        return await self._write(row.moved(status=StepStatus.FAILED, error=problem, finished_at=now()))

    async def _write(self, row: StepRow) -> StepRow:
        """With what it logged in the end, which nobody has heard of yet."""
        moved, lines = WorkflowStepMoved(step=row.summary), list(row.logs[self._told :])
        facts = (WorkflowStepLogged(key=row.key, lines=lines), moved) if lines else (moved,)
        await self._ground.write(row, facts)
        return row


class _Telling:
    """Tells that a step has begun, unless it is over at once. A loop has begun before what is in it has."""

    def __init__(self, call: LiveCall) -> None:
        self._call = call
        self._task: asyncio.Task[None] | None = None
        after_s = 0.0 if call.step.type is StepType.LOOP else SHORT_S
        self._timer = asyncio.get_running_loop().call_later(after_s, self._tell)

    def _tell(self) -> None:
        self._task = asyncio.ensure_future(self._call.tell_start())

    async def end(self) -> None:
        self._timer.cancel()
        if self._task is not None:
            await self._task


def delay_after(policy: RetryPolicy, attempt: int, problem: Problem) -> float | None:
    """Seconds before the next attempt; None when there is none."""
    if attempt >= policy.max_attempts or not _is_worth(policy, problem):
        return None
    usual = max(policy.delay_secs * policy.factor ** (attempt - 1), problem.retry_after_s or 0.0)
    delay = min(usual, policy.max_delay_secs)
    return delay * (1 + policy.jitter * random.uniform(-1, 1))  # noqa: S311  (no secret)


def _is_worth(policy: RetryPolicy, problem: Problem) -> bool:
    if policy.retry_on is not None:
        return "*" in policy.retry_on or problem.code in policy.retry_on
    return problem.retryable or policy.strategy is RetryStrategy.LLM_SELF_CORRECT


def _new_row(step: Step, key: str) -> StepRow:
    return StepRow(
        StepSummary(key=key, step=step.id, type=step.type, name=step.title, status=StepStatus.RUNNING)
    )


def _upcoming(row: StepRow) -> Attempt | None:
    """What was planned for this attempt when the last one failed."""
    last = row.attempts[-1] if row.attempts else None
    return last if last and last.number == row.summary.attempt and last.duration_ms is None else None


def _given(config: StepConfig) -> JsonValue:
    return config.model_dump(mode="json", exclude_none=True)


def _checked(done: Done) -> Done:
    try:
        size = len(json.dumps(done.output, allow_nan=False, ensure_ascii=False))
    except ValueError as error:
        raise StepError("bad_output", f"What it gave is no JSON: {error}.") from error
    if size > MAX_OUTPUT:
        raise StepError(
            "output_too_large",
            f"It gave {size:,} characters; a step may give {MAX_OUTPUT:,}.",
            hint="Let it give less, or keep it elsewhere and give a reference to it.",
        )
    return done


def _hidden(marks: SecretMarks, problem: Problem) -> Problem:
    message, hint = marks.shown(problem.message), marks.shown(problem.hint)
    return problem.model_copy(update={"message": message, "hint": hint})
