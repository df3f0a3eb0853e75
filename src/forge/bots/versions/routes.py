"""The HTTP of a bot's files and their versions. Translates only."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request

from forge.bots.models import BotFile, FileProblem
from forge.bots.routes import BotRef
from forge.bots.routes import Service as Bots
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
from forge.http.paging import CursorParam, Limit

router = APIRouter(prefix="/api/v1/bots/{bot}/{file}", tags=["bots"])

File = Annotated[BotFile, Path(description="SOUL.md, IDENTITY.md, USER.md or skills.toml.")]
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


def _versions(request: Request) -> Versions:
    return request.app.state.versions


Service = Annotated[Versions, Depends(_versions)]


@router.get("")
async def get_file(
    caller: Reader, bot: BotRef, file: File, bots: Bots, versions: Service
) -> Envelope[FileState]:
    """The file as it is on disk now, what is wrong with it, and how it differs from the newest version."""
    return reply(await versions.state(await bots.find(caller.account_id, bot), file))


@router.put("")
async def save_file(
    caller: Writer, bot: BotRef, file: File, body: NewContent, bots: Bots, versions: Service
) -> Envelope[FileState]:
    """A new version. 409 with the difference when the file is not the one that was edited."""
    found = await bots.find(caller.account_id, bot)
    return reply(await versions.save(found, file, body, by=caller.name))


@router.post("/check")
async def check_file(
    caller: Reader, bot: BotRef, file: File, body: NewDraft, bots: Bots, versions: Service
) -> Envelope[list[FileProblem]]:
    """What would be wrong with this text; nothing is saved."""
    await bots.find(caller.account_id, bot)
    return reply(await versions.check(file, body.content))


@router.get("/versions")
async def list_versions(
    caller: Reader,
    bot: BotRef,
    file: File,
    bots: Bots,
    versions: Service,
    cursor: CursorParam,
    limit: Limit = 50,
) -> Envelope[list[FileVersion]]:
    """Newest first."""
    found = await bots.find(caller.account_id, bot)
    return reply_page(await versions.history(found, file, cursor=cursor, limit=limit))


@router.get("/versions/{number}")
async def get_version(
    caller: Reader, bot: BotRef, file: File, number: Number, bots: Bots, versions: Service
) -> Envelope[FileVersionDetail]:
    return reply(await versions.get(await bots.find(caller.account_id, bot), file, number))


@router.get("/diff")
async def diff_versions(
    caller: Reader,
    bot: BotRef,
    file: File,
    bots: Bots,
    versions: Service,
    left: Annotated[int, Query(ge=1, le=2**31 - 1)],
    right: Annotated[
        int | None, Query(ge=1, le=2**31 - 1, description="The file on disk without it.")
    ] = None,
) -> Envelope[FileDiff]:
    """Two texts side by side."""
    return reply(await versions.diff(await bots.find(caller.account_id, bot), file, left, right))


@router.post("/rollback")
async def roll_back(
    caller: Writer, bot: BotRef, file: File, body: NewRollback, bots: Bots, versions: Service
) -> Envelope[FileState]:
    """An older version becomes the newest. An edit that was not accepted is kept in the history."""
    found = await bots.find(caller.account_id, bot)
    return reply(await versions.rollback(found, file, body, by=caller.name))


@router.post("/accept")
async def accept_edit(
    caller: Writer, bot: BotRef, file: File, body: NewAcceptance, bots: Bots, versions: Service
) -> Envelope[FileState]:
    """Take what somebody wrote into the file as its next version."""
    found = await bots.find(caller.account_id, bot)
    return reply(await versions.accept(found, file, body, by=caller.name))
