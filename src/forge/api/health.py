"""`/health` for whoever watches the process, `/metrics` for Prometheus. These paths are the product's own, unprefixed."""

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from forge import __version__
from forge.http.caller import Reader
from forge.runs.models import GateStatus

router = APIRouter(tags=["health"])


class Health(BaseModel):
    status: str


class Version(BaseModel):
    version: str


@router.get("/health")
async def health() -> Health:
    """The process is up and serves."""
    return Health(status="ok")


@router.get("/health/version")
async def version() -> Version:
    return Version(version=__version__)


@router.get("/metrics", response_class=Response, responses={200: {"content": {"text/plain": {}}}})
async def metrics(caller: Reader, request: Request) -> Response:
    """Numbers in Prometheus' text format."""
    forge = request.app.state.forge
    forge.telemetry.metrics.gates_open(await forge.runs.count_gates(GateStatus.OPEN))
    body, content_type = forge.telemetry.metrics.render()
    return Response(body, headers={"Content-Type": content_type})
