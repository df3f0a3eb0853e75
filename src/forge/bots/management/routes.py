"""HTTP routes for bots and for the versions of their files."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, status

from forge.bots.management.service import Bots
from forge.bots.models import (
    BotChange,
    BotFile,
    BotSkillChange,
    BotSort,
    BotStatus,
    BotView,
    Bundle,
    Category,
    FileProblem,
    NewBot,
    NewBotSkill,
    NewClone,
    SkillView,
    Stats,
)
from forge.bots.versions.models import (
    FileDiff,
    FileState,
    FileVersion,
    FileVersionDetail,
    NewAcceptance,
    NewContent,
    NewDraft,
    NewRollback,
)
from forge.bots.versions.service import Versions
from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply, reply_page
from forge.http.parameters import CursorParam, Limit, OptionalLimit
from forge.skills.models import MAX_SKILL_NAME, SKILL_NAME_PATTERN

router = APIRouter(prefix="/api/v1", tags=["bots"])

BotRef = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$", description="The id or the slug of a bot.")]


SkillRef = Annotated[str, Path(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME)]


def _bots(request: Request) -> Bots:
    return request.app.state.bots


Service = Annotated[Bots, Depends(_bots)]


@router.get("/bots")
async def list_bots(  # noqa: PLR0913
    caller: Reader,
    bots: Service,
    status: Annotated[list[BotStatus], Query(description="Default: active and disabled bots.")] = [],  # noqa: B006
    deleted: Annotated[bool, Query(description="List deleted bots that can still be restored.")] = False,
    category: Annotated[Category | None, Query()] = None,
    q: Annotated[
        str, Query(max_length=200, description="Words to find in the name, slug, description or tags.")
    ] = "",
    sort: Annotated[BotSort, Query()] = BotSort.ACTIVITY,
    limit: OptionalLimit = None,
) -> Envelope[list[BotView]]:
    """List bots."""
    found = await bots.find_all(
        caller.account_id, statuses=status, deleted=deleted, category=category, words=q, sort=sort
    )
    return reply(found[:limit])


@router.post("/bots", status_code=status.HTTP_201_CREATED)
async def create_bot(caller: Writer, body: NewBot, bots: Service) -> Envelope[BotView]:
    return reply(await bots.create(caller.account_id, body, by=caller.name))


@router.post("/bots/import", status_code=status.HTTP_201_CREATED)
async def import_bot(caller: Writer, body: Bundle, bots: Service) -> Envelope[BotView]:
    """Create a bot from an export. A number is appended to a slug that is taken."""
    return reply(await bots.import_bundle(caller.account_id, body, by=caller.name))


@router.get("/bots/{bot}")
async def get_bot(caller: Reader, bot: BotRef, bots: Service) -> Envelope[BotView]:
    return reply(await bots.view(caller.account_id, bot))


@router.patch("/bots/{bot}")
async def change_bot(caller: Writer, bot: BotRef, body: BotChange, bots: Service) -> Envelope[BotView]:
    """Change the given keys of IDENTITY.md, or the status. Everything else stays as it is."""
    return reply(await bots.change(caller.account_id, bot, body, by=caller.name))


@router.delete("/bots/{bot}")
async def delete_bot(caller: Writer, bot: BotRef, bots: Service) -> Envelope[BotView]:
    """Delete a bot. It can be restored for 30 days; after that its conversations and memories are deleted too."""
    return reply(await bots.delete(caller.account_id, bot))


@router.post("/bots/{bot}/restore")
async def restore_bot(caller: Writer, bot: BotRef, bots: Service) -> Envelope[BotView]:
    """Restore a deleted bot."""
    return reply(await bots.restore(caller.account_id, bot))


@router.post("/bots/{bot}/clone", status_code=status.HTTP_201_CREATED)
async def clone_bot(caller: Writer, bot: BotRef, body: NewClone, bots: Service) -> Envelope[BotView]:
    """Copy the files of a bot under a new name, without history, memories and conversations."""
    return reply(await bots.clone(caller.account_id, bot, body.name, by=caller.name))


@router.get("/bots/{bot}/export")
async def export_bot(caller: Reader, bot: BotRef, bots: Service) -> Envelope[Bundle]:
    """Export the files of a bot for `POST /bots/import`, without memories, conversations and secrets."""
    return reply(await bots.export(caller.account_id, bot))


@router.get("/bots/{bot}/skills")
async def list_bot_skills(
    caller: Reader, bot: BotRef, bots: Service, limit: OptionalLimit = None
) -> Envelope[list[SkillView]]:
    """List the skills named in skills.toml, and whether the bot can use them."""
    return reply((await bots.skills(caller.account_id, bot))[:limit])


@router.post("/bots/{bot}/skills", status_code=status.HTTP_201_CREATED)
async def attach_skill(caller: Writer, bot: BotRef, body: NewBotSkill, bots: Service) -> Envelope[SkillView]:
    """Attach a skill of the library, or a starter skill. This grants no capabilities."""
    return reply(await bots.attach(caller.account_id, bot, body, by=caller.name))


@router.patch("/bots/{bot}/skills/{name}")
async def change_bot_skill(
    caller: Writer, bot: BotRef, name: SkillRef, body: BotSkillChange, bots: Service
) -> Envelope[SkillView]:
    """Enable or disable a skill, pin its version, change its settings, or restrict its capabilities."""
    return reply(await bots.change_skill(caller.account_id, bot, name, body, by=caller.name))


@router.delete("/bots/{bot}/skills/{name}")
async def detach_skill(caller: Writer, bot: BotRef, name: SkillRef, bots: Service) -> Envelope[SkillView]:
    """Remove a skill from a bot. It stays in the library."""
    return reply(await bots.detach(caller.account_id, bot, name, by=caller.name))


@router.get("/stats")
async def get_stats(caller: Reader, bots: Service) -> Envelope[Stats]:
    """Return totals over all bots."""
    return reply(await bots.stats(caller.account_id))


files_router = APIRouter(prefix="/api/v1/bots/{bot}/{file}", tags=["bots"])

FileRef = Annotated[BotFile, Path(description="SOUL.md, IDENTITY.md, USER.md or skills.toml.")]
VersionNumber = Annotated[int, Path(ge=1, le=2**31 - 1)]


def _versions(request: Request) -> Versions:
    return request.app.state.versions


VersionsService = Annotated[Versions, Depends(_versions)]


@files_router.get("")
async def get_file(
    caller: Reader, bot: BotRef, file: FileRef, bots: Service, versions: VersionsService
) -> Envelope[FileState]:
    """Return the file on disk, its problems, and how it differs from the newest version."""
    return reply(await versions.state(await bots.find(caller.account_id, bot), file))


@files_router.put("")
async def save_file(
    caller: Writer, bot: BotRef, file: FileRef, body: NewContent, bots: Service, versions: VersionsService
) -> Envelope[FileState]:
    """Save a new version. Returns 409 with the differences if the file changed since `base_hash`."""
    found = await bots.find(caller.account_id, bot)
    return reply(await versions.save(found, file, body, by=caller.name))


@files_router.post("/check")
async def check_file(
    caller: Reader, bot: BotRef, file: FileRef, body: NewDraft, bots: Service, versions: VersionsService
) -> Envelope[list[FileProblem]]:
    """Validate a text without saving it."""
    await bots.find(caller.account_id, bot)
    return reply(await versions.find_problems(file, body.content))


@files_router.get("/versions")
async def list_versions(
    caller: Reader,
    bot: BotRef,
    file: FileRef,
    bots: Service,
    versions: VersionsService,
    cursor: CursorParam,
    limit: Limit = 50,
) -> Envelope[list[FileVersion]]:
    """List versions, newest first."""
    found = await bots.find(caller.account_id, bot)
    return reply_page(await versions.history(found, file, cursor=cursor, limit=limit))


@files_router.get("/versions/{number}")
async def get_version(
    caller: Reader,
    bot: BotRef,
    file: FileRef,
    number: VersionNumber,
    bots: Service,
    versions: VersionsService,
) -> Envelope[FileVersionDetail]:
    return reply(await versions.get(await bots.find(caller.account_id, bot), file, number))


@files_router.get("/diff")
async def diff_versions(
    caller: Reader,
    bot: BotRef,
    file: FileRef,
    bots: Service,
    versions: VersionsService,
    left: Annotated[int, Query(ge=1, le=2**31 - 1)],
    right: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="Default: the file on disk.")] = None,
) -> Envelope[FileDiff]:
    """Compare two versions, or a version with the file on disk."""
    return reply(await versions.diff(await bots.find(caller.account_id, bot), file, left, right))


@files_router.post("/rollback")
async def roll_back(
    caller: Writer, bot: BotRef, file: FileRef, body: NewRollback, bots: Service, versions: VersionsService
) -> Envelope[FileState]:
    """Save an older version as the newest. An edit that was not accepted stays in the history."""
    found = await bots.find(caller.account_id, bot)
    return reply(await versions.rollback(found, file, body, by=caller.name))


@files_router.post("/accept")
async def accept_edit(
    caller: Writer, bot: BotRef, file: FileRef, body: NewAcceptance, bots: Service, versions: VersionsService
) -> Envelope[FileState]:
    """Accept an edit made outside of Forge as the next version."""
    found = await bots.find(caller.account_id, bot)
    return reply(await versions.accept(found, file, body, by=caller.name))
