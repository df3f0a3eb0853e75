"""What would happen: the same engine, with hands that do nothing, and nothing written down."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import BaseModel, JsonValue

from forge.errors import Invalid
from forge.events.models import EventData
from forge.kernel.clock import now
from forge.runs.models import Problem
from forge.workflows.correcting import Correction
from forge.workflows.definition.models import Definition, Step, StepType
from forge.workflows.engine.calling import Kept, RunFacts
from forge.workflows.engine.executing import Execution
from forge.workflows.engine.ground import Ground, ScopeFailed
from forge.workflows.engine.hands import Done, StepCall
from forge.workflows.engine.pace import Pace
from forge.workflows.engine.rows import StepRow
from forge.workflows.given import check_payload, read_inputs
from forge.workflows.models import DryRun

NOTE = "Nothing was done: this is a dry run."


_STAND_INS: Mapping[StepType, dict[str, JsonValue]] = {
    StepType.AGENT: {"response": NOTE, "usage": {"input_tokens": 0, "output_tokens": 0}, "session_id": None},
    StepType.SKILL: {"output": None},
    StepType.CODE: {"output": None},
    StepType.HTTP: {"status": "pending_execution", "body": None},
    StepType.SUB_WORKFLOW: {"output": None, "run_id": None},
    StepType.MESSAGE: {"message_id": None, "reply": None},
    StepType.AUDIT: {"verdict": "PASS", "run_id": None},
    StepType.WAIT: {"waited_secs": 0},
}
"""What they would give, as far as that can be known without doing it."""


@dataclass(frozen=True)
class _DryHand:
    """Gives the sample, or says what it would have done with."""

    samples: Mapping[str, JsonValue]

    async def do(self, call: StepCall, config: BaseModel) -> Done:
        if call.step_id in self.samples:
            return Done(self.samples[call.step_id])
        if call.step.type is StepType.APPROVAL:
            return Done(
                {"type": "approval", "approved": True, "comment": NOTE, "by": None, "at": now().isoformat()}
            )
        given = {name: call.secrets.shown(value) for name, value in config.model_dump(mode="json").items()}
        return Done({**given, **_STAND_INS.get(call.step.type, {}), "note": NOTE})


@dataclass
class _Kept:
    rows: dict[str, StepRow] = field(default_factory=dict[str, StepRow])

    async def write(self, row: StepRow, _told: tuple[EventData, ...]) -> None:
        self.rows[row.key] = row

    async def fenced(self, function: Kept) -> JsonValue:
        raise RuntimeError("a dry run begins nothing")

    async def stop(self, run_id: str) -> None:
        raise RuntimeError("a dry run has begun nothing")

    async def keep(self, failed: ScopeFailed) -> None:
        """It goes on from nowhere."""


async def dry_run(
    definition: Definition, payload: dict[str, JsonValue], samples: Mapping[str, JsonValue]
) -> DryRun:
    """Raises Invalid when it could not even be started with this."""
    unknown = set(samples) - {step.id for step in definition.steps}
    if unknown:
        raise Invalid(f"There is no step {', '.join(sorted(unknown))} to give samples for.", field="samples")
    check_payload(payload)
    inputs = read_inputs(definition, payload)
    kept, hand = _Kept(), _DryHand(samples)
    facts = RunFacts("dry-run", "", definition.id or "", definition.name, 0)
    ground = Ground(
        facts=facts,
        hands=dict.fromkeys(StepType, hand),
        correct=_uncorrected,
        pace=Pace(definition.timeout_secs, 0.0, definition.parallel),
        write=kept.write,
        fenced=kept.fenced,
        stop=kept.stop,
        keep=kept.keep,
    )
    about: dict[str, JsonValue] = {"type": "manual", "source": "dry run", "fired_at": now().isoformat()}
    workflow: dict[str, JsonValue] = {
        "id": facts.workflow_id,
        "name": facts.workflow_name,
        "run_id": facts.run_id,
        "trigger": about,
        "status": "running",
        "error": None,
    }
    names: dict[str, JsonValue] = {"inputs": inputs, "trigger": payload, "workflow": workflow}
    once = [step.model_copy(update={"retry": None}) for step in definition.steps]
    ended = await Execution(definition.model_copy(update={"steps": once}), ground, names).run()
    failure = ended.failure
    problem = (
        failure.problem.model_copy(update={"message": f"{failure.title}: {failure.problem.message}"})
        if failure
        else None
    )
    return DryRun(steps=[row.detail() for row in kept.rows.values()], output=ended.output, error=problem)


async def _uncorrected(
    call: StepCall, step: Step, given: dict[str, JsonValue], problem: Problem, *, attempt: int, of: int
) -> Correction:
    raise Invalid("A dry run asks no model.")
