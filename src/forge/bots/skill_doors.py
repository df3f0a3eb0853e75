"""Where bots and skills meet, from the side of bots: what a skill may know of a bot, and how a bot runs one."""

from collections.abc import Iterable

from forge.bots.memory.service import Memories
from forge.bots.models import Bot, SkillView
from forge.bots.service import Bots
from forge.bots.skill_hands import SkillCall
from forge.bots.skill_library import RunSkill
from forge.errors import Conflict, ForgeError, NotFound
from forge.skills.doors import BotDoor, BotUse
from forge.skills.host.parts import Recall
from forge.skills.running import Call, Runner
from forge.skills.views import SkillRan


def recall_for_skills(memories: Memories) -> Recall:
    async def recall(_account_id: str, bot_id: str, text: str, limit: int) -> list[str]:
        return [match.memory.fact for match in await memories.recall(bot_id, text, limit=limit)]

    return recall


def run_for_bots(runner: Runner) -> RunSkill:
    async def run(account_id: str, name: str, call: SkillCall) -> SkillRan:
        return await runner.run(
            name,
            Call(
                account_id,
                call.input,
                "chat",
                call.by,
                bot_id=call.bot_id,
                settings=call.settings,
                narrowed=call.narrowed,
            ),
        )

    return run


def door_of(bots: Bots) -> BotDoor:
    async def using(account_id: str, ref: str, skill: str) -> BotUse:
        bot = await bots.find(account_id, ref)
        offer = await bots.offer(account_id, bot, skill)
        if offer is None:
            raise _unusable(bot, skill, await bots.skills(account_id, bot.id))
        return BotUse(bot.id, offer.settings, offer.narrowed)

    return BotDoor(bots.having, using)


def _unusable(bot: Bot, skill: str, views: Iterable[SkillView]) -> ForgeError:
    who = bot.identity.display_name
    view = next((one for one in views if one.name == skill), None)
    if view is None:
        return NotFound(
            f"{who} does not have the skill {skill}.", hint=f"forge skill attach {skill} {bot.slug}"
        )
    if not view.enabled:
        return Conflict(
            f"The skill {skill} is disabled for {who}.", hint=f"forge skill enable {skill} {bot.slug}"
        )
    return Conflict(f"{who} cannot use the skill {skill}: {view.problem}")
