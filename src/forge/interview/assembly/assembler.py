"""Create the bots or the skill of an interview, or plan their files. All or nothing."""

from collections.abc import Callable
from datetime import datetime

from forge.bots.management.service import Bots
from forge.bots.models import Bot
from forge.bots.versions.service import Versions
from forge.interview.assembly.bot_assembly import (
    BotCreator,
    BotReconfigurer,
    ConfigValidator,
    FinishInterview,
)
from forge.interview.assembly.bot_files import fields_from_files
from forge.interview.assembly.bot_skills import SkillAdditions
from forge.interview.assembly.skill_assembly import SkillCreator
from forge.interview.domain.build_config import BuilderConfig, SkillBuildRequest
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Basis, Made, State
from forge.interview.models import FileChange
from forge.kernel.clock import now
from forge.llm.catalog import Catalog
from forge.skills.library.library import Library
from forge.skills.records import OwnSkills
from forge.store.database import Store


class Assembler:
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
        skills = SkillAdditions(library)
        self._versions = versions
        self._checking = ConfigValidator(catalog, skills)
        self._bot_making = BotCreator(bots, skills, clock)
        self._bot_changing = BotReconfigurer(bots, versions, skills, clock)
        self._skill_making = SkillCreator(database, library, own, clock)

    async def basis(self, bot: Bot) -> Basis:
        """Read the current settings of a bot. Raise `BotBlocked` when its files are invalid."""
        files = await self._versions.bot_files(bot)
        return Basis(
            fields=fields_from_files(files), bot_id=bot.id, bot_slug=bot.slug, old_soul=files.soul_text
        )

    async def check(self, account_id: str, config: BuilderConfig, state: State) -> BuilderConfig:
        """Return the settings as they will be used. Raise when they are not valid for this interview."""
        return await self._checking.check(account_id, config, state)

    async def plan(self, account_id: str, state: State, config: BuilderConfig) -> list[FileChange]:
        """Return the files as they would be written now."""
        config = await self.check(account_id, config, state)
        if state.mode is Mode.RECONFIGURE:
            return await self._bot_changing.plan(account_id, state, config)
        return await self._bot_making.plan(state, config)

    async def assemble(
        self, account_id: str, state: State, config: BuilderConfig, *, by: str, finish: FinishInterview
    ) -> Made:
        config = await self.check(account_id, config, state)
        if state.mode is Mode.RECONFIGURE:
            return await self._bot_changing.make(account_id, state, config, by=by, finish=finish)
        return await self._bot_making.make(account_id, state, config, by=by, finish=finish)

    async def plan_skill(self, state: State, request: SkillBuildRequest) -> list[FileChange]:
        return await self._skill_making.plan(state, request)

    async def create_skill(
        self, account_id: str, state: State, request: SkillBuildRequest, *, by: str, finish: FinishInterview
    ) -> Made:
        return await self._skill_making.make(account_id, state, request, by=by, finish=finish)
