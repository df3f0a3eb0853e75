"""Makes what an interview agreed on, or shows what it would be: all of it or nothing."""

from collections.abc import Callable
from datetime import datetime

from forge.bots.models import Bot
from forge.bots.service import Bots
from forge.bots.versions.service import Versions
from forge.interview.assembly.bot_changing import BotChanging
from forge.interview.assembly.bot_making import BotMaking
from forge.interview.assembly.checking import Checking
from forge.interview.assembly.current import current_fields
from forge.interview.assembly.settling import Settle
from forge.interview.assembly.skill_making import SkillMaking
from forge.interview.assembly.stock import Stock
from forge.interview.config import BuilderConfig, SkillBuildRequest
from forge.interview.models import FileChange
from forge.interview.phases import Mode
from forge.interview.state import Basis, Made, State
from forge.kernel.clock import now
from forge.llm.catalog import Catalog
from forge.skills.library import Library
from forge.skills.own import OwnSkills
from forge.store.engine import Store


class Assembly:
    def __init__(
        self,
        database: Store,
        bots: Bots,
        versions: Versions,
        library: Library,
        own: OwnSkills,
        catalog: Catalog,
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        stock = Stock(library)
        self._versions = versions
        self._checking = Checking(catalog, stock)
        self._bot_making = BotMaking(bots, stock, clock)
        self._bot_changing = BotChanging(bots, versions, stock, clock)
        self._skill_making = SkillMaking(database, library, own, clock)

    async def basis(self, bot: Bot) -> Basis:
        """What a bot is now; `BotBlocked` when its files cannot be used."""
        files = await self._versions.whole(bot)
        return Basis(fields=current_fields(files), bot_id=bot.id, bot_slug=bot.slug, old_soul=files.soul_text)

    async def check(self, account_id: str, config: BuilderConfig, state: State) -> BuilderConfig:
        """The settings as they are used; raises when they cannot become a bot, or not in this interview."""
        return await self._checking.check(account_id, config, state)

    async def plan(self, account_id: str, state: State, config: BuilderConfig) -> list[FileChange]:
        """The files as they would be written now."""
        config = await self.check(account_id, config, state)
        if state.mode is Mode.RECONFIGURE:
            return await self._bot_changing.plan(account_id, state, config)
        return await self._bot_making.plan(state, config)

    async def assemble(
        self, account_id: str, state: State, config: BuilderConfig, *, by: str, settle: Settle
    ) -> Made:
        config = await self.check(account_id, config, state)
        if state.mode is Mode.RECONFIGURE:
            return await self._bot_changing.make(account_id, state, config, by=by, settle=settle)
        return await self._bot_making.make(account_id, state, config, by=by, settle=settle)

    async def plan_skill(self, state: State, request: SkillBuildRequest) -> list[FileChange]:
        return await self._skill_making.plan(state, request)

    async def create_skill(
        self, account_id: str, state: State, request: SkillBuildRequest, *, by: str, settle: Settle
    ) -> Made:
        return await self._skill_making.make(account_id, state, request, by=by, settle=settle)
