"""The HTTP of bots. Translates only."""

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request, status

from forge.bots.models import (
    BotChange,
    BotSkillChange,
    BotSort,
    BotStatus,
    BotView,
    Bundle,
    Category,
    NewBot,
    NewBotSkill,
    NewClone,
    SkillView,
    Stats,
)
from forge.bots.service import Bots
from forge.http.caller import Reader, Writer
from forge.http.envelope import Envelope, reply
from forge.skills.models import MAX_SKILL_NAME, SKILL_NAME_PATTERN

router = APIRouter(prefix="/api/v1", tags=["bots"])

BotRef = Annotated[str, Path(pattern=r"^[A-Za-z0-9-]{1,64}$", description="The id or the slug of a bot.")]


SkillRef = Annotated[str, Path(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME)]


def _bots(request: Request) -> Bots:
    return request.app.state.bots


Service = Annotated[Bots, Depends(_bots)]


@router.get("/bots")
async def list_bots(
    caller: Reader,
    bots: Service,
    status: Annotated[list[BotStatus], Query(description="All but the archived without it.")] = [],  # noqa: B006
    deleted: Annotated[bool, Query(description="Those that can still be restored, instead.")] = False,
    category: Annotated[Category | None, Query()] = None,
    q: Annotated[
        str, Query(max_length=200, description="Words in the name, slug, description or tags.")
    ] = "",
    sort: Annotated[BotSort, Query()] = BotSort.ACTIVITY,
) -> Envelope[list[BotView]]:
    """All of them: nobody has so many bots that they need pages."""
    found = await bots.find_all(
        caller.account_id, statuses=status, deleted=deleted, category=category, words=q, sort=sort
    )
    return reply(found)


@router.post("/bots", status_code=status.HTTP_201_CREATED)
async def create_bot(caller: Writer, body: NewBot, bots: Service) -> Envelope[BotView]:
    return reply(await bots.create(caller.account_id, body, by=caller.name))


@router.post("/bots/import", status_code=status.HTTP_201_CREATED)
async def import_bot(caller: Writer, body: Bundle, bots: Service) -> Envelope[BotView]:
    """A new bot from an exported one; a slug that is taken gets a number."""
    return reply(await bots.take_in(caller.account_id, body, by=caller.name))


@router.get("/bots/{bot}")
async def get_bot(caller: Reader, bot: BotRef, bots: Service) -> Envelope[BotView]:
    return reply(await bots.view(caller.account_id, bot))


@router.patch("/bots/{bot}")
async def change_bot(caller: Writer, bot: BotRef, body: BotChange, bots: Service) -> Envelope[BotView]:
    """Changes IDENTITY.md, and nothing in it that is not named here."""
    return reply(await bots.change(caller.account_id, bot, body, by=caller.name))


@router.delete("/bots/{bot}")
async def delete_bot(caller: Writer, bot: BotRef, bots: Service) -> Envelope[BotView]:
    """It can be restored for 30 days; then it is gone, with its conversations and memories."""
    return reply(await bots.delete(caller.account_id, bot))


@router.post("/bots/{bot}/restore")
async def restore_bot(caller: Writer, bot: BotRef, bots: Service) -> Envelope[BotView]:
    """Take a deletion back."""
    return reply(await bots.restore(caller.account_id, bot))


@router.post("/bots/{bot}/clone", status_code=status.HTTP_201_CREATED)
async def clone_bot(caller: Writer, bot: BotRef, body: NewClone, bots: Service) -> Envelope[BotView]:
    """The same files under another name; no history, no memory, no conversations."""
    return reply(await bots.clone(caller.account_id, bot, body.name, by=caller.name))


@router.get("/bots/{bot}/export")
async def export_bot(caller: Reader, bot: BotRef, bots: Service) -> Envelope[Bundle]:
    """One file that `POST /bots/import` takes: no memory, no conversations, no secrets."""
    return reply(await bots.export(caller.account_id, bot))


@router.get("/bots/{bot}/skills")
async def list_bot_skills(caller: Reader, bot: BotRef, bots: Service) -> Envelope[list[SkillView]]:
    """What skills.toml names, and whether the bot can take it up."""
    return reply(await bots.skills(caller.account_id, bot))


@router.post("/bots/{bot}/skills", status_code=status.HTTP_201_CREATED)
async def attach_skill(caller: Writer, bot: BotRef, body: NewBotSkill, bots: Service) -> Envelope[SkillView]:
    """Give it a skill of the library, or a starter. It can do nothing more by that than what the skill was granted."""
    return reply(await bots.attach(caller.account_id, bot, body, by=caller.name))


@router.patch("/bots/{bot}/skills/{name}")
async def change_bot_skill(
    caller: Writer, bot: BotRef, name: SkillRef, body: BotSkillChange, bots: Service
) -> Envelope[SkillView]:
    """Switch it on or off, pin its version, set it up, narrow what it may do."""
    return reply(await bots.change_skill(caller.account_id, bot, name, body, by=caller.name))


@router.delete("/bots/{bot}/skills/{name}")
async def detach_skill(caller: Writer, bot: BotRef, name: SkillRef, bots: Service) -> Envelope[SkillView]:
    """The skill itself stays in the library."""
    return reply(await bots.detach(caller.account_id, bot, name, by=caller.name))


@router.get("/stats")
async def get_stats(caller: Reader, bots: Service) -> Envelope[Stats]:
    """Numbers over all bots."""
    return reply(await bots.stats(caller.account_id))
