"""What people can do with bots."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from forge.bots import store
from forge.bots.attaching import Attaching
from forge.bots.bundle import contents_of, slug_for, to_bundle
from forge.bots.errors import BotBlocked
from forge.bots.files.identity import change_identity, render_identity
from forge.bots.files.skills import render_skills
from forge.bots.files.soul import change_soul, default_soul, parse_soul, render_soul
from forge.bots.files.user import render_user
from forge.bots.folder import Folders
from forge.bots.making import Maker, NewFiles, Settle
from forge.bots.models import (
    MAX_NAME,
    Bot,
    BotChange,
    BotFile,
    BotSkillChange,
    BotSort,
    BotStatus,
    BotView,
    Bundle,
    Category,
    Identity,
    NewBot,
    NewBotSkill,
    SkillView,
    Stats,
)
from forge.bots.readiness import Readiness, bot_scope
from forge.bots.shelf import Offer, Shelf
from forge.bots.skill_hands import SkillHands
from forge.bots.slugs import candidates, slug_of
from forge.bots.telling import tell_changed
from forge.bots.versions.models import FileState
from forge.bots.versions.service import Versions
from forge.bots.views import Views
from forge.errors import Gone, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.llm.money import used_by_scope
from forge.store.engine import Store, Tx

KEPT = timedelta(days=30)
"""How long a deletion can be taken back."""
CLONE_SUFFIX = " (Clone)"


class Bots:
    def __init__(
        self,
        database: Store,
        events: EventLog,
        folders: Folders,
        versions: Versions,
        readiness: Readiness,
        skills: SkillHands,
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._events = events
        self._folders = folders
        self._versions = versions
        self._clock = clock
        self._attaching = Attaching(versions, folders, Shelf(skills), skills)
        self._maker = Maker(database, events, folders, versions, clock)
        self._views = Views(database, folders, versions, readiness)

    async def create(self, account_id: str, new: NewBot, *, by: str) -> BotView:
        given = new.model_dump(exclude={"name", "soul", "user"}, exclude_none=True)
        contents = {
            BotFile.SOUL: new.soul or render_soul(default_soul(new.name, new.description)),
            BotFile.IDENTITY: render_identity(Identity(display_name=new.name, **given)),
            BotFile.USER: new.user or render_user(new.name),
            BotFile.SKILLS: render_skills([]),
        }
        return await self._make(account_id, slug_of(new.name), contents, by=by)

    async def make_all(
        self, account_id: str, new: Sequence[NewFiles], *, by: str, settle: Settle
    ) -> list[Bot]:
        """Several at once, with whatever else has to be true then: all of it or nothing."""
        return await self._maker.make(account_id, new, by=by, settle=settle)

    async def free_slugs(self, wanted: Sequence[str]) -> list[str]:
        """Which slugs new bots would get that wish for these, if they were made now."""
        taken, found = set[str](), list[str]()
        async with self._database.read() as tx:
            for slug in wanted:
                options = list(candidates(slug))
                taken |= await store.taken(tx, options)
                found.append(next((option for option in options if option not in taken), slug))
                taken.add(found[-1])
        return found

    def folder(self, slug: str) -> Path:
        return self._folders.path(slug)

    async def find_all(
        self,
        account_id: str,
        *,
        statuses: Collection[BotStatus] = (),
        deleted: bool = False,
        category: Category | None = None,
        words: str = "",
        sort: BotSort = BotSort.ACTIVITY,
    ) -> list[BotView]:
        """All but the archived, unless a status is named; with `deleted` those that can still be restored."""
        async with self._database.read() as tx:
            bots = await store.list_all(tx, account_id)
        if deleted:
            wanted = statuses or list(BotStatus)
            bots = [bot for bot in bots if bot.deleted_at and not self._is_over(bot.deleted_at)]
        else:
            wanted = statuses or [BotStatus.ACTIVE, BotStatus.DISABLED]
            bots = [bot for bot in bots if bot.deleted_at is None]
        bots = [
            bot
            for bot in bots
            if bot.status in wanted and category in (None, bot.identity.category) and _has(bot, words)
        ]
        return await self._views.of(account_id, sorted(bots, key=_ORDERS[sort]))

    async def names(self, account_id: str) -> list[str]:
        """Of all that are there, archived ones too."""
        return sorted(bot.identity.display_name for bot in await self._there(account_id))

    async def slugs(self, account_id: str) -> list[str]:
        return [bot.slug for bot in await self._there(account_id)]

    async def find(self, account_id: str, ref: str, *, deleted: bool = False) -> Bot:
        """By id or slug; what is deleted is not there unless it is asked for."""
        async with self._database.read() as tx:
            bot = await store.find(tx, account_id, ref)
        if bot is None or (bot.deleted_at is not None and not deleted):
            hint = (
                "List them: forge bots list" if bot is None else f"Restore it: forge bots restore {bot.slug}"
            )
            raise NotFound("There is no such bot.", hint=hint)
        return bot

    async def read(self, tx: Tx, bot_ids: Collection[str]) -> dict[str, Bot]:
        """Those that there are, deleted ones too, by their ids."""
        return {bot.id: bot for bot in await store.list_some(tx, bot_ids)}

    async def hold(self, tx: Tx, bot_id: str) -> None:
        """Whoever else wants to hold it waits until this transaction has ended."""
        await store.lock(tx, bot_id)

    async def view(self, account_id: str, ref: str) -> BotView:
        return await self._view(account_id, await self.find(account_id, ref))

    async def change(self, account_id: str, ref: str, change: BotChange, *, by: str) -> BotView:
        """In IDENTITY.md, which keeps everything that is not named; the slug stays."""
        bot = await self.find(account_id, ref)
        if changes := _changes(change):
            await self._change_identity(bot, changes, change.base_hash, by=by)
        if change.status is not None:
            async with self._database.begin() as tx:
                if await store.change_status(tx, bot.id, change.status, self._clock()):
                    await tell_changed(tx, self._events, bot.id, "bot")
        return await self.view(account_id, bot.id)

    async def clone(self, account_id: str, ref: str, name: str | None, *, by: str) -> BotView:
        """The same files under another name; no history, no memory, no conversations. A name of its own is also what its
        soul calls itself, if the old one did."""
        bot = await self.find(account_id, ref)
        contents = await self._versions.contents(bot)
        if name is not None:
            contents[BotFile.SOUL] = _renamed(contents[BotFile.SOUL], bot.identity.display_name, name)
        name = name or bot.identity.display_name[: MAX_NAME - len(CLONE_SUFFIX)] + CLONE_SUFFIX
        contents[BotFile.IDENTITY] = await asyncio.to_thread(
            change_identity, contents[BotFile.IDENTITY], {"display_name": name}
        )
        return await self._make(account_id, slug_of(name), contents, by=by)

    async def delete(self, account_id: str, ref: str) -> BotView:
        """Out of reach at once, gone after 30 days; `restore` takes it back.

        The row first: a folder that was not moved is found by `restore` and by the purge all the same, but a bot whose
        folder is away would look broken.
        """
        bot = await self.find(account_id, ref)
        async with self._database.begin() as tx:
            if not await store.mark_deleted(tx, bot.id, self._clock()):
                raise NotFound("There is no such bot.", hint=f"Restore it: forge bots restore {bot.slug}")
            await tell_changed(tx, self._events, bot.id, "deleted")
        async with self._database.begin() as tx:
            deleted = await store.lock(tx, bot.id)
            if deleted is not None and deleted.deleted_at is not None:
                await asyncio.to_thread(self._folders.to_trash, bot.slug, bot.id)
        return await self._view(account_id, await self.find(account_id, bot.id, deleted=True))

    async def restore(self, account_id: str, ref: str) -> BotView:
        """The folder first, for the same reason."""
        bot = await self.find(account_id, ref, deleted=True)
        async with self._database.begin() as tx:
            deleted = await store.lock(tx, bot.id)
            if deleted is not None and deleted.deleted_at is not None:
                if self._is_over(deleted.deleted_at):
                    raise Gone("This bot was deleted more than 30 days ago.")
                contents = await store.newest_contents(tx, bot.id)
                await asyncio.to_thread(self._put_back, bot, contents)
                await store.unmark_deleted(tx, bot.id, self._clock())
                await tell_changed(tx, self._events, bot.id, "bot")
        return await self.view(account_id, bot.id)

    async def export(self, account_id: str, ref: str) -> Bundle:
        bot = await self.find(account_id, ref)
        return to_bundle(bot.slug, await self._versions.contents(bot), self._clock())

    async def take_in(self, account_id: str, bundle: Bundle, *, by: str) -> BotView:
        """A new bot from an exported one. Nothing is made unless all of it is right."""
        contents = await asyncio.to_thread(contents_of, bundle)
        slug = await asyncio.to_thread(slug_for, bundle, contents)
        return await self._make(account_id, slug, contents, by=by)

    async def skills(self, account_id: str, ref: str) -> list[SkillView]:
        return await self._attaching.views(account_id, await self.find(account_id, ref))

    async def attach(self, account_id: str, ref: str, new: NewBotSkill, *, by: str) -> SkillView:
        return await self._attaching.attach(account_id, await self.find(account_id, ref), new, by=by)

    async def change_skill(
        self, account_id: str, ref: str, name: str, change: BotSkillChange, *, by: str
    ) -> SkillView:
        return await self._attaching.change(account_id, await self.find(account_id, ref), name, change, by=by)

    async def detach(self, account_id: str, ref: str, name: str, *, by: str) -> SkillView:
        return await self._attaching.detach(account_id, await self.find(account_id, ref), name, by=by)

    async def offer(self, account_id: str, bot: Bot, skill: str) -> Offer | None:
        """The skill as this bot uses it; None when it cannot."""
        return await self._attaching.offer(account_id, bot, skill)

    async def having(self, account_id: str) -> dict[str, list[str]]:
        """The slugs of the bots that name each skill."""
        return await self._attaching.having(await self._there(account_id))

    async def stats(self, account_id: str) -> Stats:
        bots = await self._there(account_id)
        ids = [bot.id for bot in bots]
        async with self._database.read() as tx:
            talk = (await store.count_talk(tx, ids)).values()
            used = (await used_by_scope(tx, account_id, [bot_scope(bot_id) for bot_id in ids])).values()
            memories = await store.count_memories(tx, ids)
        counts = {status: sum(bot.status is status for bot in bots) for status in BotStatus}
        return Stats(
            total_bots=len(bots),
            active_bots=counts[BotStatus.ACTIVE],
            disabled_bots=counts[BotStatus.DISABLED],
            archived_bots=counts[BotStatus.ARCHIVED],
            total_sessions=sum(one.sessions for one in talk),
            active_sessions=sum(one.answering for one in talk),
            total_messages=sum(one.messages for one in talk),
            total_memories=memories,
            tokens=sum(one.tokens for one in used),
            spent_micros=sum(one.cost_micros for one in used),
        )

    async def _there(self, account_id: str) -> list[Bot]:
        """All that are not deleted."""
        async with self._database.read() as tx:
            return [bot for bot in await store.list_all(tx, account_id) if bot.deleted_at is None]

    async def _view(self, account_id: str, bot: Bot) -> BotView:
        return (await self._views.of(account_id, [bot]))[0]

    async def _make(self, account_id: str, slug: str, contents: Mapping[BotFile, str], *, by: str) -> BotView:
        [made] = await self._maker.make(account_id, [NewFiles(slug, contents)], by=by, settle=_alone)
        return await self._view(account_id, made)

    async def _change_identity(
        self, bot: Bot, changes: Mapping[str, Any], base_hash: str | None, *, by: str
    ) -> None:
        def edit(state: FileState) -> str:
            if state.content is None:
                raise BotBlocked(
                    "IDENTITY.md is gone.", hint=f"Put it back: forge bots files rollback {bot.slug} identity"
                )
            return change_identity(state.content, changes)

        message = f"Change {', '.join(changes)}"
        await self._versions.edit(bot, BotFile.IDENTITY, edit, message, by=by, base_hash=base_hash)

    def _put_back(self, bot: Bot, contents: Mapping[BotFile, str]) -> None:
        """The folder from the trash. A delete that was interrupted has left it in its place; and when somebody has
        emptied the trash, the newest versions are as good."""
        try:
            self._folders.from_trash(bot.id, bot.slug)
        except NotFound:
            if not self._folders.path(bot.slug).exists():
                self._folders.create(bot.slug, contents)

    def _is_over(self, deleted_at: datetime) -> bool:
        return self._clock() - deleted_at > KEPT


async def _alone(_tx: Tx, _bots: list[Bot]) -> None:
    """Nothing else depends on it."""


def _changes(change: BotChange) -> dict[str, Any]:
    """As IDENTITY.md names them; None takes a key away. Without its model a provider means nothing, so it goes too."""
    given = change.model_dump(mode="json", exclude={"status", "base_hash"}, exclude_none=True)
    if given.get("model") == "":
        given.setdefault("provider", "")
    named = {"display_name" if key == "name" else key: value for key, value in given.items()}
    return {
        key: None if key in ("provider", "model") and value == "" else value for key, value in named.items()
    }


def _has(bot: Bot, words: str) -> bool:
    identity = bot.identity
    text = " ".join([identity.display_name, bot.slug, identity.description, *identity.tags]).casefold()
    return all(word in text for word in words.casefold().split())


def _by_name(bot: Bot) -> tuple[str, str]:
    return bot.identity.display_name.casefold(), bot.id


def _by_activity(bot: Bot) -> float:
    return -(bot.last_active_at or bot.created_at).timestamp()


def _by_creation(bot: Bot) -> float:
    return -bot.created_at.timestamp()


_ORDERS: dict[BotSort, Callable[[Bot], Any]] = {
    BotSort.NAME: _by_name,
    BotSort.ACTIVITY: _by_activity,
    BotSort.CREATED: _by_creation,
}


def _renamed(soul: str, old: str, new: str) -> str:
    found = parse_soul(soul).value
    if found is None or found.name != old:
        return soul
    return change_soul(soul, {"name": new})
