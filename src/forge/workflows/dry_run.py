"""Simulate a run: the real engine with executors that do nothing and a journal in memory."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, JsonValue

from forge.errors import Invalid
from forge.events.models import EventData
from forge.kernel.clock import now
from forge.runs.models import Problem
from forge.workflows.definition.models import Definition, SkillConfig, Step, StepType
from forge.workflows.engine.activity import RunActivity
from forge.workflows.engine.execution import Execution
from forge.workflows.engine.execution_context import ExecutionContext, ScopeFailed
from forge.workflows.engine.self_correction import Correction
from forge.workflows.engine.step_executor import FencedWrite, RunInfo, StepCall, StepResult
from forge.workflows.engine.step_store import StepRow
from forge.workflows.models import DryRun
from forge.workflows.run_inputs import check_payload, read_inputs

NOTE = "Not executed: this is a dry run."


_PLACEHOLDERS: Mapping[StepType, dict[str, JsonValue]] = {
    StepType.AGENT: {"response": NOTE, "usage": {"input_tokens": 0, "output_tokens": 0}, "session_id": None},
    StepType.SKILL: {"output": None},
    StepType.CODE: {"output": None},
    StepType.HTTP: {"status": "pending_execution", "body": None},
    StepType.SUB_WORKFLOW: {"output": None, "run_id": None},
    StepType.MESSAGE: {"message_id": None, "reply": None},
    StepType.AUDIT: {"verdict": "PASS", "run_id": None},
    StepType.WAIT: {"waited_secs": 0},
}
"""Placeholder outputs, with the fields that later steps may refer to."""
_RENDERED: dict[str, JsonValue] = {"output": {"text": NOTE}}
"""Of a skill step with `render`."""


@dataclass(frozen=True)
class _DryRunExecutor:
    """Return the sample of a step, or the input it would have been executed with."""

    samples: Mapping[str, JsonValue]

    async def execute(self, call: StepCall, config: BaseModel) -> StepResult:
        if call.step_id in self.samples:
            return StepResult(self.samples[call.step_id])
        if call.step.type is StepType.APPROVAL:
            return StepResult(
                {"type": "approval", "approved": True, "comment": NOTE, "by": None, "at": now().isoformat()}
            )
        fields = {name: call.secrets.shown(value) for name, value in config.model_dump(mode="json").items()}
        is_rendered = isinstance(config, SkillConfig) and config.render
        placeholders = _RENDERED if is_rendered else _PLACEHOLDERS.get(call.step.type, {})
        return StepResult({**fields, **placeholders, "note": NOTE})


@dataclass
class _MemoryJournal:
    rows: dict[str, StepRow] = field(default_factory=dict[str, StepRow])

    async def write(self, row: StepRow, _events: tuple[EventData, ...]) -> None:
        self.rows[row.key] = row

    async def run_fenced(self, function: FencedWrite) -> JsonValue:
        raise RuntimeError("a dry run does not start runs")

    async def stop_run(self, run_id: str) -> None:
        raise RuntimeError("a dry run has no runs to stop")

    async def store_failure(self, failed: ScopeFailed) -> None:
        """Do nothing: a dry run is never resumed."""


async def dry_run(
    definition: Definition, payload: dict[str, JsonValue], samples: Mapping[str, JsonValue]
) -> DryRun:
    """Simulate a run. Raises Invalid if the run could not be started with this payload."""
    unknown = set(samples) - {step.id for step in definition.steps}
    if unknown:
        raise Invalid(f"Samples for unknown steps: {', '.join(sorted(unknown))}.", field="samples")
    check_payload(payload)
    inputs = read_inputs(definition, payload)
    journal, executor = _MemoryJournal(), _DryRunExecutor(samples)
    facts = RunInfo("dry-run", "", definition.id or "", definition.name, 0)
    context = ExecutionContext(
        facts=facts,
        step_executors=dict.fromkeys(StepType, executor),
        correct=_refuse_correction,
        activity=RunActivity(definition.timeout_secs, 0.0, definition.parallel),
        write=journal.write,
        run_fenced=journal.run_fenced,
        stop_run=journal.stop_run,
        store_failure=journal.store_failure,
    )
    trigger: dict[str, JsonValue] = {"type": "manual", "source": "dry run", "fired_at": now().isoformat()}
    workflow: dict[str, JsonValue] = {
        "id": facts.workflow_id,
        "name": facts.workflow_name,
        "run_id": facts.run_id,
        "trigger": trigger,
        "status": "running",
        "error": None,
    }
    variables: dict[str, JsonValue] = {"inputs": inputs, "trigger": payload, "workflow": workflow}
    steps = [step.model_copy(update={"retry": None}) for step in definition.steps]
    result = await Execution(definition.model_copy(update={"steps": steps}), context, variables).run()
    failure = result.failure
    problem = (
        failure.problem.model_copy(update={"message": f"{failure.title}: {failure.problem.message}"})
        if failure
        else None
    )
    return DryRun(steps=[row.detail() for row in journal.rows.values()], output=result.output, error=problem)


async def _refuse_correction(
    call: StepCall, step: Step, input_fields: dict[str, JsonValue], problem: Problem, *, attempt: int, of: int
) -> Correction:
    raise Invalid("A dry run does not call models.")
