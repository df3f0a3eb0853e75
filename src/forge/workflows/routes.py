"""The HTTP of workflows and their runs. Translates only."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query, Request, status

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.ids import Id
from forge.http.paging import CursorParam, Limit
from forge.kernel.text import NO_NUL
from forge.workflows.models import (
    DryRun,
    DryRunWish,
    Reading,
    Rerun,
    StepDetail,
    Submitted,
    Verdict,
    WorkflowCard,
    WorkflowChange,
    WorkflowDetail,
    WorkflowRun,
    WorkflowRunDetail,
    WorkflowVersion,
    WorkflowVersionDetail,
    WorkflowWish,
)
from forge.workflows.running import WorkflowRuns
from forge.workflows.service import Workflows
from forge.workflows.templates import WorkflowTemplate

router = APIRouter(prefix="/api/v1", tags=["workflows"])

Ref = Annotated[str, Path(max_length=64, description="The name or id of a workflow."), NO_NUL]
Number = Annotated[int, Path(ge=1, le=(1 << 31) - 1)]
Payload = Annotated[dict[str, Any] | None, Body(description="What it starts with: its inputs, and more.")]


def _workflows(request: Request) -> Workflows:
    return request.app.state.workflows


def _runs(request: Request) -> WorkflowRuns:
    return request.app.state.workflow_runs


Service = Annotated[Workflows, Depends(_workflows)]
Runs = Annotated[WorkflowRuns, Depends(_runs)]


@router.get("/workflows")
async def list_workflows(
    caller: Reader,
    workflows: Service,
    q: Annotated[str, Query(max_length=200, description="Words in the name or description.")] = "",
    owner: Annotated[
        Annotated[str, NO_NUL] | None, Query(max_length=64, description="The slug of a bot.")
    ] = None,
) -> Envelope[list[WorkflowCard]]:
    """All there are, by name, each with its last runs."""
    return reply(await workflows.find_all(caller.account_id, words=q, owner=owner))


@router.post("/workflows", status_code=status.HTTP_201_CREATED)
async def create_workflow(caller: Writer, body: WorkflowWish, workflows: Service) -> Envelope[WorkflowDetail]:
    """Its triggers are live when this answers."""
    return reply(await workflows.create(caller.account_id, body, by=caller.name))


@router.post("/workflows/read")
async def read_definition(caller: Writer, body: WorkflowWish, workflows: Service) -> Envelope[Reading]:
    """What a definition comes to: its one form as JSON and as YAML, and what is wrong with it. Nothing is kept."""
    return reply(await workflows.read(caller.account_id, body))


@router.get("/workflows/schema")
async def get_schema(caller: Reader, workflows: Service) -> Envelope[dict[str, Any]]:
    """The JSON Schema of definitions, for editors."""
    return reply(workflows.schema())


@router.get("/workflows/templates")
async def list_templates(caller: Reader, workflows: Service) -> Envelope[list[WorkflowTemplate]]:
    """Definitions to begin with."""
    return reply(workflows.templates())


@router.get("/workflows/{ref}")
async def get_workflow(caller: Reader, ref: Ref, workflows: Service) -> Envelope[WorkflowDetail]:
    return reply(await workflows.get(caller.account_id, ref))


@router.put("/workflows/{ref}")
async def update_workflow(
    caller: Writer, ref: Ref, body: WorkflowWish, workflows: Service
) -> Envelope[WorkflowDetail]:
    """A new version. Runs under way keep theirs; triggers are the new ones when this answers."""
    return reply(await workflows.update(caller.account_id, ref, body, by=caller.name))


@router.patch("/workflows/{ref}")
async def switch_workflow(
    caller: Writer, ref: Ref, body: WorkflowChange, workflows: Service
) -> Envelope[WorkflowDetail]:
    """Switch its triggers on or off."""
    return reply(await workflows.switch(caller.account_id, ref, is_enabled=body.is_enabled))


@router.delete("/workflows/{ref}")
async def delete_workflow(caller: Writer, ref: Ref, workflows: Service) -> Envelope[None]:
    """With its triggers. What runs is cancelled; what ran can still be looked at."""
    await workflows.delete(caller.account_id, ref, by=caller.name)
    return reply(None)


@router.get("/workflows/{ref}/versions")
async def list_versions(caller: Reader, ref: Ref, workflows: Service) -> Envelope[list[WorkflowVersion]]:
    """The newest first."""
    return reply(await workflows.versions(caller.account_id, ref))


@router.get("/workflows/{ref}/versions/{number}")
async def get_version(
    caller: Reader, ref: Ref, number: Number, workflows: Service
) -> Envelope[WorkflowVersionDetail]:
    return reply(await workflows.version(caller.account_id, ref, number))


@router.post("/workflows/{ref}/trigger", status_code=status.HTTP_202_ACCEPTED)
async def trigger_workflow(
    caller: Writer, ref: Ref, runs: Runs, payload: Payload = None
) -> Envelope[Submitted]:
    """Start a run. Answers at once; follow `run:<run_id>`."""
    return reply(await runs.trigger(caller.account_id, ref, payload or {}, by=caller.name))


@router.post("/workflows/{ref}/dry-run")
async def dry_run(caller: Writer, ref: Ref, body: DryRunWish, runs: Runs) -> Envelope[DryRun]:
    """What would happen, with no effect: steps give samples, or say what they would have done."""
    return reply(await runs.dry_run(caller.account_id, ref, body))


@router.get("/workflows/{ref}/runs")
async def list_runs_of_workflow(
    caller: Reader, ref: Ref, runs: Runs, cursor: CursorParam = None, limit: Limit = 50
) -> Envelope[list[WorkflowRun]]:
    return reply_page(await runs.find(caller.account_id, ref, cursor=cursor, limit=limit))


@router.get("/workflow-runs")
async def list_workflow_runs(
    caller: Reader, runs: Runs, cursor: CursorParam = None, limit: Limit = 50
) -> Envelope[list[WorkflowRun]]:
    """Of all workflows, the newest first."""
    return reply_page(await runs.find(caller.account_id, None, cursor=cursor, limit=limit))


@router.get("/workflow-runs/{run_id}")
async def get_workflow_run(caller: Reader, run_id: Id, runs: Runs) -> Envelope[WorkflowRunDetail]:
    return reply(await runs.get(caller.account_id, run_id))


@router.get("/workflow-runs/{run_id}/steps")
async def get_steps(
    caller: Reader,
    run_id: Id,
    runs: Runs,
    key: Annotated[
        Annotated[str, NO_NUL] | None, Query(max_length=400, description="Of one step; all without it.")
    ] = None,
    cursor: CursorParam = None,
    limit: Limit = 50,
) -> Envelope[list[StepDetail]]:
    """By key, with what went in and came out, attempts and logs."""
    if key is not None:
        return reply([await runs.step(caller.account_id, run_id, key)])
    return reply_page(await runs.steps(caller.account_id, run_id, cursor=cursor, limit=limit))


@router.post("/workflow-runs/{run_id}/approve")
async def approve_run(caller: Writer, run_id: Id, body: Verdict, runs: Runs) -> Envelope[WorkflowRunDetail]:
    return reply(await runs.decide(caller.account_id, run_id, body, approve=True, by=caller.name))


@router.post("/workflow-runs/{run_id}/reject")
async def reject_run(caller: Writer, run_id: Id, body: Verdict, runs: Runs) -> Envelope[WorkflowRunDetail]:
    return reply(await runs.decide(caller.account_id, run_id, body, approve=False, by=caller.name))


@router.post("/workflow-runs/{run_id}/cancel")
async def cancel_workflow_run(caller: Writer, run_id: Id, runs: Runs) -> Envelope[WorkflowRunDetail]:
    """It and everything it started."""
    return reply(await runs.cancel(caller.account_id, run_id, by=caller.name))


@router.post("/workflow-runs/{run_id}/retry", status_code=status.HTTP_202_ACCEPTED)
async def retry_run(caller: Writer, run_id: Id, runs: Runs) -> Envelope[Submitted]:
    """A new run from where this one failed: what was completed is kept and not done again."""
    return reply(await runs.retry(caller.account_id, run_id, by=caller.name))


@router.post("/workflow-runs/{run_id}/rerun", status_code=status.HTTP_202_ACCEPTED)
async def rerun(caller: Writer, run_id: Id, body: Rerun, runs: Runs) -> Envelope[Submitted]:
    """A new run from the beginning."""
    return reply(await runs.rerun(caller.account_id, run_id, body, by=caller.name))
