"""A step of a run as it is kept: what the run goes on from after a crash."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic import JsonValue

from forge.kernel.text import storable
from forge.workflows.definition.models import ApprovalConfig, ConditionalConfig, Goto, Step, StepConfig
from forge.workflows.engine.walking import Settled
from forge.workflows.models import Attempt, LogLine, StepDetail, StepStatus, StepSummary

MAX_LOG_LINES = 200
MAX_LOG_LINE = 4000


@dataclass(frozen=True)
class StepRow:
    summary: StepSummary
    input: JsonValue = None
    output: JsonValue = None
    attempts: tuple[Attempt, ...] = ()
    logs: tuple[LogLine, ...] = ()
    ticket: JsonValue = None
    """What the attempt under way has begun."""

    @property
    def key(self) -> str:
        return self.summary.key

    @property
    def status(self) -> StepStatus:
        return self.summary.status

    def moved(self, **changes: Any) -> "StepRow":
        return replace(self, summary=self.summary.model_copy(update=changes))

    def logged(self, *lines: LogLine) -> "StepRow":
        """The first lines stay: they say how it began to go wrong."""
        room = MAX_LOG_LINES - len(self.logs)
        cut = [
            line.model_copy(update={"text": storable(line.text[:MAX_LOG_LINE])})
            for line in lines[: max(room, 0)]
        ]
        return replace(self, logs=(*self.logs, *cut))

    def detail(self) -> StepDetail:
        return StepDetail(
            **self.summary.model_dump(),
            input=self.input,
            output=self.output,
            attempts=list(self.attempts),
            logs=list(self.logs),
        )


def settled_of(step: Step, row: StepRow) -> Settled:
    """What a settled step means for those after it. One that fails its run is not asked."""
    match row.status:
        case StepStatus.COMPLETED:
            output = (
                row.output if isinstance(row.output, dict) else {}
            )  # of a dry run it is what its sample says
            return _completed(step.config, cast("Mapping[str, Any]", output))
        case StepStatus.FAILED:
            if isinstance(step.on_error, Goto):
                return Settled(False, frozenset({step.on_error.goto}))
            return Settled(step.on_error == "continue")
        case _:
            return Settled(False)


def _completed(config: StepConfig, output: Mapping[str, Any]) -> Settled:
    match config:
        case ConditionalConfig():
            return Settled(True, frozenset(output["selected_steps"]))
        case ApprovalConfig() if output.get("approved") is False:
            return Settled(config.on_reject == "continue", frozenset(config.rejected_steps))
        case _:
            return Settled(True)


def fails_run(step: Step, row: StepRow) -> bool:
    return row.status is StepStatus.FAILED and step.on_error == "fail"
