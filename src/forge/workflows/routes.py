"""HTTP routes of workflows and their runs."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Path, Query, Request, status

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Id, Limit, OptionalLimit
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
from forge.workflows.run_service import WorkflowRuns
from forge.workflows.service import Workflows
from forge.workflows.starter_templates import WorkflowTemplate

router = APIRouter(prefix="/api/v1", tags=["workflows"])

Ref = Annotated[str, Path(max_length=64, description="The name or id of a workflow."), NO_NUL]
Number = Annotated[int, Path(ge=1, le=(1 << 31) - 1)]
Payload = Annotated[
    dict[str, Any] | None, Body(description="The payload: values of the inputs, and any other data.")
]


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
    q: Annotated[str, Query(max_length=200, description="Words to find in the name or description.")] = "",
    owner: Annotated[
        Annotated[str, NO_NUL] | None, Query(max_length=64, description="The slug of a bot.")
    ] = None,
    limit: OptionalLimit = None,
) -> Envelope[list[WorkflowCard]]:
    """List workflows by name, each with its last runs."""
    return reply((await workflows.find_all(caller.account_id, words=q, owner=owner))[:limit])


@router.post("/workflows", status_code=status.HTTP_201_CREATED)
async def create_workflow(caller: Writer, body: WorkflowWish, workflows: Service) -> Envelope[WorkflowDetail]:
    """Create a workflow. Its triggers are active when the response arrives."""
    return reply(await workflows.create(caller.account_id, body, by=caller.name))


@router.post("/workflows/read")
async def read_definition(caller: Writer, body: WorkflowWish, workflows: Service) -> Envelope[Reading]:
    """Validate a definition without saving it: returns its normalized JSON and YAML, and its problems."""
    return reply(await workflows.read(caller.account_id, body))


@router.get("/workflows/schema")
async def get_schema(caller: Reader, workflows: Service) -> Envelope[dict[str, Any]]:
    """Return the JSON Schema of definitions, for editors."""
    return reply(workflows.schema())


@router.get("/workflows/templates")
async def list_templates(
    caller: Reader, workflows: Service, limit: OptionalLimit = None
) -> Envelope[list[WorkflowTemplate]]:
    """List templates for new workflows."""
    return reply(workflows.templates()[:limit])


@router.get("/workflows/{ref}")
async def get_workflow(caller: Reader, ref: Ref, workflows: Service) -> Envelope[WorkflowDetail]:
    return reply(await workflows.get(caller.account_id, ref))


@router.put("/workflows/{ref}")
async def update_workflow(
    caller: Writer, ref: Ref, body: WorkflowWish, workflows: Service
) -> Envelope[WorkflowDetail]:
    """Save a new version. Runs in progress keep theirs; the new triggers are active when the response arrives."""
    return reply(await workflows.update(caller.account_id, ref, body, by=caller.name))


@router.patch("/workflows/{ref}")
async def switch_workflow(
    caller: Writer, ref: Ref, body: WorkflowChange, workflows: Service
) -> Envelope[WorkflowDetail]:
    """Enable or disable the triggers of a workflow."""
    return reply(await workflows.switch(caller.account_id, ref, is_enabled=body.is_enabled))


@router.delete("/workflows/{ref}")
async def delete_workflow(caller: Writer, ref: Ref, workflows: Service) -> Envelope[None]:
    """Delete a workflow and its triggers. Active runs are cancelled; finished runs stay readable."""
    await workflows.delete(caller.account_id, ref, by=caller.name)
    return reply(None)


@router.get("/workflows/{ref}/versions")
async def list_versions(
    caller: Reader, ref: Ref, workflows: Service, limit: OptionalLimit = None
) -> Envelope[list[WorkflowVersion]]:
    """List versions, newest first."""
    return reply((await workflows.versions(caller.account_id, ref))[:limit])


@router.get("/workflows/{ref}/versions/{number}")
async def get_version(
    caller: Reader, ref: Ref, number: Number, workflows: Service
) -> Envelope[WorkflowVersionDetail]:
    return reply(await workflows.version(caller.account_id, ref, number))


@router.post("/workflows/{ref}/trigger", status_code=status.HTTP_202_ACCEPTED)
async def trigger_workflow(
    caller: Writer, ref: Ref, runs: Runs, payload: Payload = None
) -> Envelope[Submitted]:
    """Start a run and return immediately. Follow its progress on the stream `run:<run_id>`."""
    return reply(await runs.trigger(caller.account_id, ref, payload or {}, by=caller.name))


@router.post("/workflows/{ref}/dry-run")
async def dry_run(caller: Writer, ref: Ref, body: DryRunWish, runs: Runs) -> Envelope[DryRun]:
    """Simulate a run without effects. Each step returns its sample, or the input it would have been executed with."""
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
    """List runs of all workflows, newest first."""
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
        Annotated[str, NO_NUL] | None,
        Query(max_length=400, description="The key of one step. Default: all steps."),
    ] = None,
    cursor: CursorParam = None,
    limit: Limit = 50,
) -> Envelope[list[StepDetail]]:
    """List steps by key, with inputs, outputs, attempts and logs."""
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
    """Cancel a run and every run it started."""
    return reply(await runs.cancel(caller.account_id, run_id, by=caller.name))


@router.post("/workflow-runs/{run_id}/retry", status_code=status.HTTP_202_ACCEPTED)
async def retry_run(caller: Writer, run_id: Id, runs: Runs) -> Envelope[Submitted]:
    """Start a new run that continues where this one failed. Results of completed steps are reused."""
    return reply(await runs.retry(caller.account_id, run_id, by=caller.name))


@router.post("/workflow-runs/{run_id}/rerun", status_code=status.HTTP_202_ACCEPTED)
async def rerun(caller: Writer, run_id: Id, body: Rerun, runs: Runs) -> Envelope[Submitted]:
    """Start a new run from the beginning."""
    return reply(await runs.rerun(caller.account_id, run_id, body, by=caller.name))
