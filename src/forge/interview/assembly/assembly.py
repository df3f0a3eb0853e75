"""Makes what an interview agreed on: bots with their skills, all of it or nothing."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from forge.bots.making import NewFiles
from forge.bots.models import Bot, BotFile
from forge.bots.service import Bots
from forge.bots.versions.service import Versions
from forge.errors import NotFound
from forge.interview.assembly.checking import Checking, check_mode
from forge.interview.assembly.current import current_fields
from forge.interview.assembly.files import BotDraft, files_of
from forge.interview.assembly.stock import Library, Stock
from forge.interview.config import BuilderConfig, Fields
from forge.interview.models import FileChange
from forge.interview.state import BotMade, Made, State
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.llm.catalog import Catalog
from forge.skills.models import SkillFiles
from forge.store.engine import Tx

Settle = Callable[[Tx, Made], Awaitable[None]]
"""Ends the interview, in the transaction that makes what came of it; raises when somebody else has ended it."""


class Assembly:
    def __init__(
        self,
        bots: Bots,
        versions: Versions,
        library: Library,
        catalog: Catalog,
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._bots = bots
        self._versions = versions
        self._stock = Stock(library)
        self._checking = Checking(catalog, self._stock)
        self._clock = clock

    async def check(self, account_id: str, config: BuilderConfig) -> BuilderConfig:
        return await self._checking.check(account_id, config)

    async def current(self, bot: Bot) -> Fields:
        """What a bot is now; `BotBlocked` when its files cannot be used."""
        return current_fields(await self._versions.whole(bot))

    async def plan(self, account_id: str, state: State, config: BuilderConfig) -> list[FileChange]:
        """The files as they would be written now."""
        config = await self._checked(account_id, state, config)
        drafts, skills = files_of(state, config), await self._stock.new(config.skills)
        slugs = await self._bots.free_slugs([draft.slug for draft in drafts])
        return [*_new_files(drafts, slugs), *_skill_files(skills)]

    async def assemble(
        self, account_id: str, state: State, config: BuilderConfig, *, by: str, settle: Settle
    ) -> Made:
        config = await self._checked(account_id, state, config)
        return await self._make(account_id, files_of(state, config), config, by=by, settle=settle)

    async def _make(
        self, account_id: str, drafts: list[BotDraft], config: BuilderConfig, *, by: str, settle: Settle
    ) -> Made:
        taken, made = self._stock.open(), list[Made]()

        async def settled(tx: Tx, bots: list[Bot]) -> None:
            skills = await self._stock.new(config.skills)
            made.append(self._made(bots, drafts, skills, config))
            await settle(tx, made[0])
            await self._stock.take(config.skills, taken)

        new = [NewFiles(draft.slug, draft.contents) for draft in drafts]
        try:
            await self._bots.make_all(account_id, new, by=by, settle=settled)
        except BaseException:
            if not made or not await self._exists(account_id, made[0]):
                await taken.undo()
            raise
        return made[0]

    def _made(
        self, bots: list[Bot], drafts: list[BotDraft], skills: list[SkillFiles], config: BuilderConfig
    ) -> Made:
        slugs = [bot.slug for bot in bots]
        changes = [*_new_files(drafts, slugs), *_skill_files(skills)]
        return Made(
            bots=[self._bot_made(bot, config) for bot in bots],
            hashes={change.path: hash_text(change.content) for change in changes},
            config=config.model_dump_json(),
            at=self._clock(),
        )

    def _bot_made(self, bot: Bot, config: BuilderConfig) -> BotMade:
        folder = self._bots.folder(bot.slug)
        return BotMade(
            bot_id=bot.id,
            bot_slug=bot.slug,
            bot_name=bot.identity.display_name,
            soul_path=str(folder / BotFile.SOUL.file_name),
            identity_path=str(folder / BotFile.IDENTITY.file_name),
            user_path=str(folder / BotFile.USER.file_name),
            skills_attached=[request.name for request in config.skills],
        )

    async def _exists(self, account_id: str, made: Made) -> bool:
        """A connection that breaks at the commit leaves that open."""
        try:
            await self._bots.find(account_id, made.bots[0].bot_id)
        except NotFound:
            return False
        return True

    async def _checked(self, account_id: str, state: State, config: BuilderConfig) -> BuilderConfig:
        check_mode(state, config)
        return await self.check(account_id, config)


def _new_files(drafts: Sequence[BotDraft], slugs: Sequence[str]) -> list[FileChange]:
    return [
        FileChange(path=f"{slug}/{file.file_name}", content=text)
        for draft, slug in zip(drafts, slugs, strict=True)
        for file, text in draft.contents.items()
    ]


def _skill_files(skills: Sequence[SkillFiles]) -> list[FileChange]:
    return [
        FileChange(path=f"skills/{skill.name}/{name}", content=text)
        for skill in skills
        for name, text in sorted(skill.files.items())
    ]
