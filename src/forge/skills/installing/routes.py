"""The HTTP of getting skills in: what was fetched is looked at first, and installed by a second request."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, status

from forge.http.caller import Admin, Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.skills.installing.service import Installs
from forge.skills.installing.views import (
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
"""Takes bodies as large as an archive may be."""

router = APIRouter(prefix="/api/v1", tags=["skills"])

StageId = Annotated[str, Path(pattern=r"^[A-Za-z0-9_-]{16,64}$")]
RegistryName = Annotated[str, Path(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME)]


def _installs(request: Request) -> Installs:
    return request.app.state.skill_installs


Service = Annotated[Installs, Depends(_installs)]


@router.post("/skill-stages", status_code=status.HTTP_201_CREATED)
async def fetch_skills(caller: Writer, body: FetchWish, installs: Service) -> Envelope[Staged]:
    """Get skills from a repository, a registry or a folder of the server, and look at them. Nothing is executed, nothing
    is installed."""
    return reply(await installs.fetch(caller.account_id, body.source))


@router.post("/skill-stages/zip", status_code=status.HTTP_201_CREATED)
async def upload_skills(
    caller: Writer,
    request: Request,
    installs: Service,
    name: Annotated[str, Query(max_length=255, description="Of the archive.")] = "upload.zip",
    folder: Annotated[
        str, Query(max_length=1000, description="Of the folder it was made from, if it was.")
    ] = "",
) -> Envelope[Staged]:
    """The same for a zip in the body."""
    return reply(await installs.take_zip(caller.account_id, name, folder, await request.body()))


@router.get("/skill-stages/{stage}")
async def get_stage(caller: Reader, stage: StageId, installs: Service) -> Envelope[Staged]:
    return reply(await installs.staged(caller.account_id, stage))


@router.post("/skill-stages/{stage}/install")
async def install_skills(
    caller: Admin, stage: StageId, body: InstallWish, installs: Service
) -> Envelope[list[Installed]]:
    """Those that are named, with what they are granted. Each is installed whole or not at all, with the reason."""
    return reply(await installs.install(caller.account_id, stage, body, by=caller.name))


@router.delete("/skill-stages/{stage}")
async def drop_stage(caller: Writer, stage: StageId, installs: Service) -> Envelope[None]:
    """Forget what was fetched."""
    await installs.drop(caller.account_id, stage)
    return reply(None)


@router.post("/skills/{name}/update", status_code=status.HTTP_201_CREATED)
async def fetch_update(caller: Writer, name: Name, installs: Service) -> Envelope[Staged]:
    """Fetch it again from where it came from, and look at what is different."""
    return reply(await installs.fetch_again(caller.account_id, name))


@router.get("/skill-registries")
async def list_registries(caller: Reader, installs: Service) -> Envelope[list[Registry]]:
    return reply(await installs.registries(caller.account_id))


@router.post("/skill-registries", status_code=status.HTTP_201_CREATED)
async def add_registry(caller: Admin, body: NewRegistry, installs: Service) -> Envelope[Registry]:
    """Its index is fetched at once; one that cannot be read is not added."""
    return reply(await installs.add_registry(caller.account_id, body))


@router.post("/skill-registries/{registry}/refresh")
async def refresh_registry(caller: Writer, registry: RegistryName, installs: Service) -> Envelope[Registry]:
    return reply(await installs.refresh_registry(caller.account_id, registry))


@router.delete("/skill-registries/{registry}")
async def remove_registry(caller: Admin, registry: RegistryName, installs: Service) -> Envelope[None]:
    """What was installed from it stays."""
    await installs.remove_registry(caller.account_id, registry)
    return reply(None)


@router.get("/skill-registries/search")
async def search_registries(
    caller: Reader,
    installs: Service,
    q: Annotated[str, Query(max_length=200)] = "",
) -> Envelope[list[RegistryEntry]]:
    """What the indexes offer, from what is cached."""
    return reply(await installs.search(caller.account_id, q))
