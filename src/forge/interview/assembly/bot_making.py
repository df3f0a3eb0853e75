"""Makes new bots with their skills, together with the end of the interview about them."""

from collections.abc import Callable
from datetime import datetime

from forge.bots.making import NewFiles
from forge.bots.models import Bot, BotFile
from forge.bots.service import Bots
from forge.errors import NotFound
from forge.interview.assembly.changes import hashes_of, new_bots, skills
from forge.interview.assembly.files import BotDraft, files_of
from forge.interview.assembly.settling import Settle
from forge.interview.assembly.stock import Stock
from forge.interview.config import BuilderConfig
from forge.interview.models import FileChange
from forge.interview.state import BotMade, Made, State
from forge.skills.models import SkillFiles
from forge.store.engine import Tx


class BotMaking:
    def __init__(self, bots: Bots, stock: Stock, clock: Callable[[], datetime]) -> None:
        self._bots = bots
        self._stock = stock
        self._clock = clock

    async def plan(self, state: State, config: BuilderConfig) -> list[FileChange]:
        drafts = files_of(state, config)
        slugs = await self._bots.free_slugs([draft.slug for draft in drafts])
        return [*new_bots(drafts, slugs), *skills(await self._stock.new(config.skills))]

    async def make(
        self, account_id: str, state: State, config: BuilderConfig, *, by: str, settle: Settle
    ) -> Made:
        """The interview ends first, then come the skills, then the folders: whoever comes second is turned away before
        a file is touched."""
        drafts, taken, made = files_of(state, config), self._stock.open(), list[Made]()

        async def settled(tx: Tx, bots: list[Bot]) -> None:
            made.append(self._made(bots, drafts, await self._stock.new(config.skills), config))
            await settle(tx, made[0])
            await taken.add_all(config.skills)

        new = [NewFiles(draft.slug, draft.contents) for draft in drafts]
        try:
            await self._bots.make_all(account_id, new, by=by, settle=settled)
        except BaseException:
            if not made or not await self._exists(account_id, made[0]):
                await taken.undo()
            raise
        return made[0]

    def _made(
        self, bots: list[Bot], drafts: list[BotDraft], written: list[SkillFiles], config: BuilderConfig
    ) -> Made:
        changes = [*new_bots(drafts, [bot.slug for bot in bots]), *skills(written)]
        return Made(
            bots=[bot_made(self._bots, bot, bot.identity.display_name, config) for bot in bots],
            hashes=hashes_of(changes),
            config=config.model_dump_json(),
            at=self._clock(),
        )

    async def _exists(self, account_id: str, made: Made) -> bool:
        """A connection that breaks at the commit leaves that open."""
        try:
            await self._bots.find(account_id, made.bots[0].bot_id)
        except NotFound:
            return False
        return True


def bot_made(bots: Bots, bot: Bot, name: str, config: BuilderConfig, *, is_new: bool = True) -> BotMade:
    folder = bots.folder(bot.slug)
    return BotMade(
        bot_id=bot.id,
        bot_slug=bot.slug,
        bot_name=name,
        soul_path=str(folder / BotFile.SOUL.file_name),
        identity_path=str(folder / BotFile.IDENTITY.file_name),
        user_path=str(folder / BotFile.USER.file_name),
        skills_attached=[request.name for request in config.skills],
        is_new=is_new,
    )
