"""How long a step may take."""

from forge.workflows.definition.models import STEP_TIMEOUT_S, Step, StepType
from forge.workflows.engine.pace import RESTING

HTTP_TIMEOUT_S = 30.0


def time_limit(step: Step) -> float | None:
    """Seconds; None for what waits by nature, unless the step says otherwise."""
    if step.timeout_secs is not None:
        return step.timeout_secs
    if step.type in RESTING:
        return None
    return HTTP_TIMEOUT_S if step.type is StepType.HTTP else STEP_TIMEOUT_S
