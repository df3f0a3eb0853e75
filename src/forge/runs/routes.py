"""HTTP routes of runs and gates."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request

from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Id, Limit
from forge.runs.models import Gate, GateStatus, NewAnswer, NewRun, Run, RunDetail, RunStatus
from forge.runs.service import Runs

router = APIRouter(prefix="/api/v1")


def _runs(request: Request) -> Runs:
    return request.app.state.runs


Service = Annotated[Runs, Depends(_runs)]


@router.get("/runs", tags=["runs"])
async def list_runs(
    caller: Reader,
    runs: Service,
    cursor: CursorParam,
    status: Annotated[list[RunStatus] | None, Query()] = None,
    kind: Annotated[str | None, Query(pattern=r"^[a-z_]{1,64}$")] = None,
    limit: Limit = 50,
) -> Envelope[list[Run]]:
    """List your runs, newest first."""
    page = await runs.find(caller.account_id, statuses=status or (), kind=kind, cursor=cursor, limit=limit)
    return reply_page(page)


@router.post("/runs", status_code=201, tags=["runs"])
async def start_run(caller: Writer, runs: Service, body: NewRun) -> Envelope[Run]:
    """Start a run. It is queued when this returns."""
    run = await runs.start_public(caller.account_id, body.kind, body.input)
    return reply(run, **_links(run.id))


@router.get("/runs/{run_id}", tags=["runs"])
async def get_run(caller: Reader, runs: Service, run_id: Id) -> Envelope[RunDetail]:
    """Return a run with its steps, gates and children."""
    return reply(await runs.get(caller.account_id, run_id), **_links(run_id))


@router.post("/runs/{run_id}/cancel", tags=["runs"])
async def cancel_run(caller: Writer, runs: Service, run_id: Id) -> Envelope[Run]:
    """Cancel a run and all its descendants."""
    return reply(await runs.cancel(caller.account_id, run_id, by=caller.name), **_links(run_id))


@router.get("/gates", tags=["gates"])
async def list_gates(
    caller: Reader,
    runs: Service,
    cursor: CursorParam,
    status: GateStatus | None = None,
    limit: Limit = 50,
) -> Envelope[list[Gate]]:
    """List your gates, newest first; `status=open` returns those that wait for an answer."""
    return reply_page(await runs.list_gates(caller.account_id, status=status, cursor=cursor, limit=limit))


@router.get("/gates/{gate_id}", tags=["gates"])
async def get_gate(caller: Reader, runs: Service, gate_id: Id) -> Envelope[Gate]:
    gate = await runs.get_gate(caller.account_id, gate_id)
    return reply(gate, run=f"/api/v1/runs/{gate.run_id}")


@router.post("/gates/{gate_id}/answer", tags=["gates"])
async def answer_gate(caller: Writer, runs: Service, gate_id: Id, body: NewAnswer) -> Envelope[Gate]:
    """Answer the gate as it was displayed. 409 if it was already answered or has changed, 410 if it is
    closed."""
    gate = await runs.answer(caller.account_id, gate_id, body, by=caller.name)
    return reply(gate, run=f"/api/v1/runs/{gate.run_id}")


def _links(run_id: str) -> dict[str, str]:
    here = f"/api/v1/runs/{run_id}"
    return {"self": here, "cancel": f"{here}/cancel", "events": f"/api/v1/events?stream=run:{run_id}"}
