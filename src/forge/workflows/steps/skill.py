"""Steps that run a skill: with what it was granted, and written down like any other invocation."""

from collections.abc import Iterable
from typing import Literal

from pydantic import JsonValue

from forge.errors import NotFound
from forge.llm.errors import ModelUnknown
from forge.llm.money import Spender
from forge.skills.execution import LogLine as SkillLine
from forge.skills.execution import RunEnd
from forge.skills.running import Call, Runner
from forge.skills.views import SkillRan
from forge.workflows.definition.models import SkillConfig
from forge.workflows.engine.hands import Done, StepCall, StepError
from forge.workflows.models import LogLine

MAY_PASS = frozenset({RunEnd.CRASHED, RunEnd.TIME})
"""Ends that say more about the moment than about what was run."""
MAX_ERROR = 2000


class SkillHand:
    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    async def do(self, call: StepCall, config: SkillConfig) -> Done:
        ran = await self._run(call, config)
        logs = told(ran.logs)
        if ran.end is not RunEnd.DONE:
            raise StepError(
                f"skill_{ran.end.value}",
                f"The skill {ran.skill} failed: {ran.error[:MAX_ERROR]}",
                may_pass=ran.end in MAY_PASS,
                cost_micros=ran.cost_micros,
                logs=logs,
            )
        output: dict[str, JsonValue] = {"type": "skill", "skill": ran.skill, "output": ran.output}
        return Done(output, ran.cost_micros, logs)

    async def _run(self, call: StepCall, config: SkillConfig) -> SkillRan:
        given = Call(
            account_id=call.account_id,
            input=as_object(config.input),
            purpose="workflow",
            by=call.workflow_name,
            spender=Spender(call.account_id, call.idempotency_key, call.run_id),
        )
        try:
            return await self._runner.run(config.skill, given)
        except ModelUnknown:
            raise
        except NotFound as error:
            raise StepError("unknown_skill", error.message, hint=error.hint) from error


def as_object(given: JsonValue) -> dict[str, JsonValue]:
    """What a skill takes is always an object."""
    if given is None:
        return {}
    return given if isinstance(given, dict) else {"input": given}


def told(lines: Iterable[SkillLine]) -> tuple[LogLine, ...]:
    return tuple(LogLine(level=_level(line.level), text=line.message) for line in lines)


def _level(name: str) -> Literal["debug", "info", "warn", "error"]:
    return name if name in ("debug", "info", "warn", "error") else "info"
