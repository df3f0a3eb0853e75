"""Build API views of workflows and runs from rows."""

from collections.abc import Iterable, Mapping, Sequence

from forge.runs.models import Gate, Run
from forge.workflows.models import (
    StepDetail,
    StepStatus,
    StepSummary,
    StripRun,
    TriggerView,
    WorkflowCard,
    WorkflowRun,
)
from forge.workflows.store import RunRow, VersionRow, WorkflowRow


def card(
    row: WorkflowRow,
    version: VersionRow,
    triggers: Sequence[TriggerView],
    last_runs: Iterable[Run],
    open_gates: int,
) -> WorkflowCard:
    return WorkflowCard(
        id=row.id,
        name=row.name,
        description=version.definition.get("description", ""),
        owner=row.owner,
        number=row.number,
        version=version.version,
        is_enabled=row.is_enabled,
        steps=len(version.definition["steps"]),
        triggers=list(triggers),
        last_runs=[_mark(run) for run in last_runs],
        open_gates=open_gates,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )


def run_of(row: RunRow, run: Run, cost_micros: int) -> WorkflowRun:
    return WorkflowRun(
        id=row.run_id,
        workflow_id=row.workflow_id,
        workflow_name=row.workflow_name,
        number=row.number,
        status=run.status,
        trigger=row.trigger,
        source=row.source,
        parent_id=run.parent_id,
        retry_of=row.retry_of,
        inputs=row.inputs,
        error=run.error,
        cost_micros=cost_micros,
        created_at=run.created_at,
        started_at=run.started_at,
        finished_at=run.finished_at,
    )


def as_shown(step: StepSummary, run: Run) -> StepSummary:
    """Return the step as shown to users: a step still open when its run ended counts as cancelled."""
    if not run.status.is_final or step.status.is_settled:
        return step
    return step.model_copy(
        update={"status": StepStatus.CANCELLED, "finished_at": run.finished_at, "note": ""}
    )


def detail_as_shown(step: StepDetail, run: Run) -> StepDetail:
    shown = as_shown(step, run)
    return step.model_copy(
        update={"status": shown.status, "finished_at": shown.finished_at, "note": shown.note}
    )


def count_gates(gates: Iterable[Gate], workflows: Mapping[str, str]) -> dict[str, int]:
    """Count open gates by workflow id."""
    found: dict[str, int] = {}
    for gate in gates:
        if (workflow_id := workflows.get(gate.run_id)) is not None:
            found[workflow_id] = found.get(workflow_id, 0) + 1
    return found


def _mark(run: Run) -> StripRun:
    took = (run.finished_at - run.created_at).total_seconds() * 1000 if run.finished_at else None
    return StripRun(
        id=run.id,
        status=run.status,
        created_at=run.created_at,
        duration_ms=round(took) if took is not None else None,
    )
