"""HTTP routes for installing skills: one request fetches and stages them, a second one installs them."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, status

from forge.http.caller import Admin, Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.http.parameters import OptionalLimit
from forge.skills.installation.service import Installations
from forge.skills.installation.views import (
    FetchWish,
    Installed,
    InstallWish,
    NewRegistry,
    Registry,
    RegistryEntry,
    Staged,
)
from forge.skills.models import MAX_SKILL_NAME, SKILL_NAME_PATTERN
from forge.skills.routes import Name

ZIP_PATH = "/api/v1/skill-stages/zip"
"""The route with a larger body limit, for archives."""

router = APIRouter(prefix="/api/v1", tags=["skills"])

StageId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{16,64}$")]
RegistryName = Annotated[str, Path(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME)]


def _installs(request: Request) -> Installations:
    return request.app.state.skill_installs


Service = Annotated[Installations, Depends(_installs)]


@router.post("/skill-stages", status_code=status.HTTP_201_CREATED)
async def fetch_skills(caller: Writer, body: FetchWish, installs: Service) -> Envelope[Staged]:
    """Fetch skills from a repository, a registry or a folder of the server, and stage them for review. Nothing is
    executed or installed."""
    return reply(await installs.fetch(caller.account_id, body.source))


@router.post("/skill-stages/zip", status_code=status.HTTP_201_CREATED)
async def upload_skills(
    caller: Writer,
    request: Request,
    installs: Service,
    name: Annotated[str, Query(max_length=255, description="File name of the archive.")] = "upload.zip",
    folder: Annotated[str, Query(max_length=1000, description="The folder it was packed from, if any.")] = "",
) -> Envelope[Staged]:
    """Stage skills from a zip in the request body."""
    return reply(await installs.take_zip(caller.account_id, name, folder, await request.body()))


@router.get("/skill-stages/{stage}")
async def get_stage(caller: Reader, stage: StageId, installs: Service) -> Envelope[Staged]:
    return reply(await installs.staged(caller.account_id, stage))


@router.post("/skill-stages/{stage}/install")
async def install_skills(
    caller: Admin, stage: StageId, body: InstallWish, installs: Service
) -> Envelope[list[Installed]]:
    """Install the named skills with their grants. Each is installed completely or not at all, with the reason."""
    return reply(await installs.install(caller.account_id, stage, body, by=caller.name))


@router.delete("/skill-stages/{stage}")
async def drop_stage(caller: Writer, stage: StageId, installs: Service) -> Envelope[None]:
    """Discard the staged skills."""
    await installs.drop(caller.account_id, stage)
    return reply(None)


@router.post("/skills/{name}/update", status_code=status.HTTP_201_CREATED)
async def fetch_update(caller: Writer, name: Name, installs: Service) -> Envelope[Staged]:
    """Fetch the skill again from its origin, and stage it with the differences."""
    return reply(await installs.fetch_again(caller.account_id, name))


@router.get("/skill-registries")
async def list_registries(
    caller: Reader, installs: Service, limit: OptionalLimit = None
) -> Envelope[list[Registry]]:
    return reply((await installs.registries(caller.account_id))[:limit])


@router.post("/skill-registries", status_code=status.HTTP_201_CREATED)
async def add_registry(caller: Admin, body: NewRegistry, installs: Service) -> Envelope[Registry]:
    """Add a registry and fetch its index. A registry with an invalid index is not added."""
    return reply(await installs.add_registry(caller.account_id, body))


@router.post("/skill-registries/{registry}/refresh")
async def refresh_registry(caller: Writer, registry: RegistryName, installs: Service) -> Envelope[Registry]:
    return reply(await installs.refresh_registry(caller.account_id, registry))


@router.delete("/skill-registries/{registry}")
async def remove_registry(caller: Admin, registry: RegistryName, installs: Service) -> Envelope[None]:
    """Remove a registry. Skills installed from it are kept."""
    await installs.remove_registry(caller.account_id, registry)
    return reply(None)


@router.get("/skill-registries/search")
async def search_registries(
    caller: Reader,
    installs: Service,
    q: Annotated[str, Query(max_length=200)] = "",
    limit: OptionalLimit = None,
) -> Envelope[list[RegistryEntry]]:
    """Search the cached indexes of all registries."""
    return reply((await installs.search(caller.account_id, q))[:limit])
