"""Executor of approval steps: opens a gate and waits for a person's answer."""

from datetime import timedelta

from pydantic import JsonValue

from forge.kernel.clock import now
from forge.kernel.text import storable
from forge.runs.context import RunContext
from forge.runs.models import Gate, GateOption, GateStatus, Question
from forge.workflows.definition.models import ApprovalConfig
from forge.workflows.engine.step_executor import StepCall, StepError, StepResult

GATE = "approval"
APPROVE = "approve"
REJECT = "reject"
_OPTIONS = [
    GateOption(id=APPROVE, label="Approve", tone="positive"),
    GateOption(id=REJECT, label="Reject", tone="negative"),
]


class ApprovalStepExecutor:
    def __init__(self, context: RunContext) -> None:
        self._context = context

    async def execute(self, call: StepCall, config: ApprovalConfig) -> StepResult:
        question = Question(
            kind=GATE,
            title=f"{call.workflow_name}: {call.step.title}",
            body=storable(config.prompt),
            payload={"workflow_id": call.workflow_id, "workflow": call.workflow_name, "step": call.key},
            options=_OPTIONS,
        )
        timeout = timedelta(seconds=config.timeout_secs) if config.timeout_secs is not None else None
        gate = await self._context.open_gate(f"{call.key}#{call.attempt}", question, timeout=timeout)
        if gate.status is GateStatus.OPEN:
            async with call.waits("Waiting for approval.", gate.expires_at):
                gate = await self._context.wait_until_settled(gate)
        return _answered(gate, config)


def _answered(gate: Gate, config: ApprovalConfig) -> StepResult:
    if gate.answer is not None:
        is_approved = gate.answer.option == APPROVE
        comment, by = gate.answer.comment, gate.answer.answered_by
        if not is_approved and config.on_reject == "fail":
            suffix = f": {comment}" if comment else "."
            raise StepError("rejected", f"{by} rejected it{suffix}")
        return _done(approved=is_approved, comment=comment, by=by, at=gate.answer.answered_at.isoformat())
    if config.on_timeout == "fail":
        raise StepError(
            "approval_expired",
            "The approval timed out.",
            hint="Set on_timeout to reject or approve instead of failing.",
        )
    is_approved = config.on_timeout == "approve"
    if not is_approved and config.on_reject == "fail":
        raise StepError("rejected", "The approval timed out and was rejected (on_timeout: reject).")
    return _done(approved=is_approved, comment="", by=None, at=now().isoformat())


def _done(*, approved: bool, comment: str, by: str | None, at: str) -> StepResult:
    output: dict[str, JsonValue] = {"type": "approval", "approved": approved, "comment": comment}
    return StepResult({**output, "by": by, "at": at})
