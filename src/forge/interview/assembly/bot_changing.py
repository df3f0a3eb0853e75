"""Changes a bot as an interview agreed on: the same bot, with new versions of the files that are other now."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import datetime

from forge.bots.models import Bot, BotFile
from forge.bots.service import Bots
from forge.bots.versions.models import NewContent
from forge.bots.versions.service import Versions
from forge.errors import Internal
from forge.interview.assembly.bot_making import bot_made
from forge.interview.assembly.changes import changed_bot, hashes_of, skills
from forge.interview.assembly.changing import changed_files
from forge.interview.assembly.settling import Settle
from forge.interview.assembly.stock import Stock, added_skills
from forge.interview.config import BuilderConfig, SkillRequest
from forge.interview.models import FileChange
from forge.interview.state import Made, State
from forge.kernel.hashing import hash_text
from forge.store.engine import Tx

MESSAGE = "Reconfigured with Forge"


class BotChanging:
    def __init__(self, bots: Bots, versions: Versions, stock: Stock, clock: Callable[[], datetime]) -> None:
        self._bots = bots
        self._versions = versions
        self._stock = stock
        self._clock = clock

    async def plan(self, account_id: str, state: State, config: BuilderConfig) -> list[FileChange]:
        bot = await self._find(account_id, state)
        before = await self._versions.contents(bot)
        after = await _changed(state, config, before)
        return await self._changes(bot, before, after, added_skills(state, config))

    async def make(
        self, account_id: str, state: State, config: BuilderConfig, *, by: str, settle: Settle
    ) -> Made:
        bot = await self._find(account_id, state)
        before = await self._versions.contents(bot)
        after = await _changed(state, config, before)
        added, taken = added_skills(state, config), self._stock.open()
        made = self._made(bot, await self._changes(bot, before, after, added), config)

        async def settled(tx: Tx) -> None:
            await settle(tx, made)
            await taken.add_all(added)

        new = {
            file: NewContent.of(file, text, hash_text(before[file]), MESSAGE) for file, text in after.items()
        }
        await self._versions.save_all(bot, new, by=by, settle=settled)
        return made

    async def _find(self, account_id: str, state: State) -> Bot:
        ref = state.basis.bot_id or state.basis.bot_slug
        if ref is None:
            raise Internal("An interview that changes a bot does not know which.")
        return await self._bots.find(account_id, ref)

    async def _changes(
        self, bot: Bot, before: Mapping[BotFile, str], after: Mapping[BotFile, str], added: list[SkillRequest]
    ) -> list[FileChange]:
        written = await self._stock.new(added)
        return [*changed_bot(bot.slug, before, after), *skills(written)]

    def _made(self, bot: Bot, changes: list[FileChange], config: BuilderConfig) -> Made:
        return Made(
            bots=[bot_made(self._bots, bot, config.name, config, is_new=False)],
            hashes=hashes_of(changes),
            before={change.path: change.before for change in changes if change.before is not None},
            config=config.model_dump_json(),
            at=self._clock(),
        )


async def _changed(state: State, config: BuilderConfig, before: Mapping[BotFile, str]) -> dict[BotFile, str]:
    """Not on the event loop: files of people may be long."""
    return await asyncio.to_thread(changed_files, state, config, before)
