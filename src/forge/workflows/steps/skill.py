"""Executor of skill steps: runs a skill with its grants and records the invocation."""

import asyncio
from collections.abc import Iterable
from typing import Literal

from pydantic import JsonValue

from forge.errors import NotFound
from forge.llm.budgets import Spender
from forge.llm.errors import ModelUnknown
from forge.skills.execution import LogLine as SkillLine
from forge.skills.execution import RunEnd
from forge.skills.invocations.runner import Runner, RunRequest, serialize_input
from forge.skills.prompts.quoting import section
from forge.skills.views import SkillRan
from forge.workflows.definition.models import SkillConfig
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult
from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.templates import OPENING, check_template, fill
from forge.workflows.expressions.values import as_text
from forge.workflows.models import LogLine

RETRYABLE_ENDS = frozenset({RunEnd.CRASHED, RunEnd.TIME})
"""Failures that may be caused by load and not by the code."""
MAX_ERROR = 2000


class SkillStepExecutor:
    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def execute(self, call: StepCall, config: SkillConfig) -> StepResult:
        ran = await self._run(call, config)
        logs = log_lines(ran.logs)
        if ran.end is not RunEnd.DONE:
            raise StepError(
                f"skill_{ran.end.value}",
                f"The skill {ran.skill} failed: {ran.error[:MAX_ERROR]}",
                retryable=ran.end in RETRYABLE_ENDS,
                cost_micros=ran.cost_micros,
                logs=logs,
            )
        result = await _rendered(ran, as_object(config.input)) if config.render else ran.output
        output: dict[str, JsonValue] = {"type": "skill", "skill": ran.skill, "output": result}
        return StepResult(output, ran.cost_micros, logs)

    async def _run(self, call: StepCall, config: SkillConfig) -> SkillRan:
        value = RunRequest(
            account_id=call.account_id,
            input=as_object(config.input),
            purpose="workflow",
            by=call.workflow_name,
            spender=Spender(call.account_id, call.idempotency_key, call.run_id),
            render=config.render,
        )
        try:
            return await self._runner.run(config.skill, value)
        except ModelUnknown:
            raise
        except NotFound as error:
            raise StepError("unknown_skill", error.message, hint=error.hint) from error


def as_object(value: JsonValue) -> dict[str, JsonValue]:
    """Wrap a value in `{"input": …}` unless it is an object, because skills take objects."""
    if value is None:
        return {}
    return value if isinstance(value, dict) else {"input": value}


async def _rendered(ran: SkillRan, skill_input: dict[str, JsonValue]) -> JsonValue:
    """Insert the input into the instructions; without a placeholder, append it in the form that a model receives."""
    instructions = ran.output["text"] if isinstance(ran.output, dict) else ""
    try:
        text = await asyncio.to_thread(_filled, str(instructions), skill_input)
    except ExpressionError as error:
        raise StepError(
            "expression",
            f"The input cannot be inserted into the instructions of {ran.skill}: {error.message}",
            hint=error.hint or "Braces that are not a placeholder are written as `\\{{` in the skill.",
        ) from error
    return {"text": text}


def _filled(instructions: str, skill_input: dict[str, JsonValue]) -> str:
    text = as_text(fill(instructions, {"input": skill_input}))
    if not skill_input or (OPENING in instructions and check_template(instructions)):
        return text
    return f"{text}\n\n{section('skill_input', serialize_input(skill_input))}"


def log_lines(lines: Iterable[SkillLine]) -> tuple[LogLine, ...]:
    return tuple(LogLine(level=_level(line.level), text=line.message) for line in lines)


def _level(name: str) -> Literal["debug", "info", "warn", "error"]:
    return name if name in ("debug", "info", "warn", "error") else "info"
