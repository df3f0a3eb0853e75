"""HTTP routes of audits, under `/audit` without the API prefix."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, status
from pydantic import BaseModel, ConfigDict, Field

from forge.audits.claims import split_claims
from forge.audits.engine.registry import split_codes
from forge.audits.models import AuditReport, AuditRoots, Line, NewAudit
from forge.audits.service import Audits
from forge.errors import Invalid
from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.runs.models import Run

router = APIRouter(prefix="/audit", tags=["audits"])

Id = Annotated[str, Field(pattern=r"^[A-Za-z0-9-]{1,64}$")]


class AuditQuery(BaseModel):
    """Query parameters of an audit. Lists are comma-separated; use POST for longer requests."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    run_id: Id | None = Field(
        default=None, description="Return the report of this audit instead of running a new one."
    )
    workspace_id: Id | None = None
    path: Line | None = Field(
        default=None, min_length=1, max_length=2048, description="A folder on the server."
    )
    claimed_files: Line | None = Field(default=None, max_length=4096)
    phase: Line = Field(default="unknown", min_length=1, max_length=200)
    base: Line | None = Field(default=None, min_length=1, max_length=200)
    only: Line | None = Field(
        default=None, max_length=640, description="Codes of the checks to run, such as `A4,A9`. Default: all."
    )
    file: Line | None = Field(default=None, max_length=2048, description="Only findings about this file.")

    def audit(self) -> NewAudit:
        return NewAudit(
            workspace_id=self.workspace_id,
            path=self.path,
            claimed_files=None if self.claimed_files is None else split_claims(self.claimed_files),
            phase=self.phase,
            base=self.base,
            only=split_codes(self.only),
            file=self.file,
            ledger=False,
        )


def _audits(request: Request) -> Audits:
    return request.app.state.audits


Service = Annotated[Audits, Depends(_audits)]


@router.post("/run", status_code=status.HTTP_201_CREATED)
async def start_audit(caller: Writer, audits: Service, body: NewAudit) -> Envelope[Run]:
    """Start an audit run. Follow the stream `run:<id>`; `_links.report` is the address of the report."""
    run = await audits.start(caller.account_id, body)
    return reply(run, **_links(run.id))


@router.get("/run")
async def read_audit(
    caller: Reader, audits: Service, query: Annotated[AuditQuery, Query()]
) -> Envelope[AuditReport]:
    """Audit a project and wait for the report, or read the report of an earlier run. Never writes to a ledger."""
    if query.run_id is None:
        run, report = await audits.wait(caller.account_id, query.audit())
        return reply(report, **_links(run.id))
    if query.model_fields_set != {"run_id"}:
        raise Invalid("run_id cannot be combined with other parameters.", field="run_id")
    return reply(await audits.report(caller.account_id, query.run_id), **_links(query.run_id))


@router.get("/roots")
async def read_roots(caller: Reader, audits: Service) -> Envelope[AuditRoots]:
    """List the folders of the server that may be audited, and the projects in them."""
    return reply(await audits.roots(caller.account_id))


def _links(run_id: str) -> dict[str, str]:
    return {
        "run": f"/api/v1/runs/{run_id}",
        "events": f"/api/v1/events?stream=run:{run_id}",
        "report": f"/audit/run?run_id={run_id}",
    }
