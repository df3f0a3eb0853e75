"""How this Forge is doing: for `forge status`, the about page and the doctor."""

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse

from forge import __version__
from forge.api.models import AuditChecks, Database, Status
from forge.app import Forge
from forge.http.caller import Reader
from forge.http.envelope import Envelope, reply
from forge.kernel.clock import now

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
    """The description of this API."""
    return JSONResponse(request.app.openapi())
