"""Health for process monitors, metrics for Prometheus, and the server's status."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from forge import __version__
from forge.api.models import AuditChecks, Database, Status
from forge.app import Forge
from forge.http.caller import OwnerReader, Reader
from forge.http.envelope import Envelope, reply
from forge.kernel.clock import now
from forge.runs.models import GateStatus

health_router = APIRouter(tags=["health"])


class Health(BaseModel):
    status: str


class Version(BaseModel):
    version: str
    phase: str = "6"
    """The phase of the protocol documents that defines this response."""


@health_router.get("/health")
async def health() -> Health:
    """Report that the process is serving requests."""
    return Health(status="ok")


@health_router.get("/health/version")
async def version() -> Version:
    return Version(version=__version__)


@health_router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(caller: OwnerReader, request: Request) -> Response:
    """Return the metrics in the text format of Prometheus."""
    forge = request.app.state.forge
    forge.telemetry.metrics.gates_open(await forge.runs.count_gates(GateStatus.OPEN))
    body, content_type = forge.telemetry.metrics.render()
    return Response(body, headers={"Content-Type": content_type})


router = APIRouter(prefix="/api/v1", tags=["status"])


@router.get("/status")
async def get_status(caller: Reader, request: Request) -> Envelope[Status]:
    forge: Forge = request.app.state.forge
    proofs = forge.auditor.proofs
    return reply(
        Status(
            version=__version__,
            started_at=forge.started_at,
            uptime_s=int((now() - forge.started_at).total_seconds()),
            time=now(),
            data_dir=str(forge.settings.data_dir),
            database=Database(kind=forge.store.kind, size_bytes=await forge.store.size_bytes()),
            workers=await forge.runs.workers(),
            executing=forge.runs.executing,
            runs=await forge.runs.counts(),
            sandbox=forge.sandboxes.report,
            audit_checks=None if proofs is None else AuditChecks.of(proofs),
        )
    )


@router.get("/openapi.json", response_class=JSONResponse, include_in_schema=False)
async def get_openapi(caller: Reader, request: Request) -> JSONResponse:
    """Return the OpenAPI schema."""
    return JSONResponse(request.app.openapi())
