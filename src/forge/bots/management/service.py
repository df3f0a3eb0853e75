"""Create, find, change, copy, delete and restore bots."""

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from forge.bots import store
from forge.bots.errors import BotBlocked
from forge.bots.files.folders import BotFolders
from forge.bots.files.identity import change_identity, render_identity
from forge.bots.files.skills_toml import render_skills
from forge.bots.files.soul import change_soul, default_soul, parse_soul, render_soul
from forge.bots.files.user import render_user
from forge.bots.management.bot_skills import BotSkills, OfferedSkill, SkillAttachments
from forge.bots.management.bot_views import BotViews
from forge.bots.management.creation import (
    BotCreator,
    InTransaction,
    NewBotFiles,
    bundle_contents,
    bundle_slug,
    slug_candidates,
    slug_of,
    to_bundle,
)
from forge.bots.management.skill_access import SkillAccess
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
from forge.bots.notifications import notify_changed
from forge.bots.readiness import ModelReadiness, bot_scope
from forge.bots.versions.models import FileState
from forge.bots.versions.service import Versions
from forge.errors import Gone, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.llm.budgets import used_by_scope
from forge.store.database import Store, Tx

RESTORE_PERIOD = timedelta(days=30)
"""How long a deleted bot can be restored."""
CLONE_SUFFIX = " (Clone)"


class Bots:
    def __init__(
        self,
        database: Store,
        events: EventLog,
        folders: BotFolders,
        versions: Versions,
        readiness: ModelReadiness,
        skills: SkillAccess,
        *,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self._database = database
        self._events = events
        self._folders = folders
        self._versions = versions
        self._clock = clock
        self._attachments = SkillAttachments(versions, folders, BotSkills(skills), skills)
        self._creator = BotCreator(database, events, folders, versions, clock)
        self._views = BotViews(database, folders, versions, readiness)

    async def create(self, account_id: str, new: NewBot, *, by: str) -> BotView:
        fields = new.model_dump(exclude={"name", "soul", "user"}, exclude_none=True)
        contents = {
            BotFile.SOUL: new.soul or render_soul(default_soul(new.name, new.description)),
            BotFile.IDENTITY: render_identity(Identity(display_name=new.name, **fields)),
            BotFile.USER: new.user or render_user(new.name),
            BotFile.SKILLS: render_skills([]),
        }
        return await self._create(account_id, slug_of(new.name), contents, by=by)

    async def create_all(
        self, account_id: str, new: Sequence[NewBotFiles], *, by: str, in_transaction: InTransaction
    ) -> list[Bot]:
        """Create several bots and call `in_transaction`, atomically."""
        return await self._creator.create(account_id, new, by=by, in_transaction=in_transaction)

    async def free_slugs(self, wanted: Sequence[str]) -> list[str]:
        """Return the slugs that new bots with these preferred slugs would get now."""
        taken, found = set[str](), list[str]()
        async with self._database.read() as tx:
            for slug in wanted:
                options = list(slug_candidates(slug))
                taken |= await store.find_taken_slugs(tx, options)
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
        """List bots, by default without archived ones; with `deleted`, those that can still be restored."""
        async with self._database.read() as tx:
            bots = await store.list_all(tx, account_id)
        if deleted:
            wanted = statuses or list(BotStatus)
            bots = [bot for bot in bots if bot.deleted_at and not self._is_expired(bot.deleted_at)]
        else:
            wanted = statuses or [BotStatus.ACTIVE, BotStatus.DISABLED]
            bots = [bot for bot in bots if bot.deleted_at is None]
        bots = [
            bot
            for bot in bots
            if bot.status in wanted and category in (None, bot.identity.category) and _matches(bot, words)
        ]
        return await self._views.build(account_id, sorted(bots, key=_ORDERS[sort]))

    async def names(self, account_id: str) -> list[str]:
        """Return the names of all bots, archived ones included."""
        return sorted(bot.identity.display_name for bot in await self._existing(account_id))

    async def slugs(self, account_id: str) -> list[str]:
        return [bot.slug for bot in await self._existing(account_id)]

    async def find(self, account_id: str, ref: str, *, deleted: bool = False) -> Bot:
        """Find a bot by id or slug; deleted bots only with `deleted`."""
        async with self._database.read() as tx:
            bot = await store.find(tx, account_id, ref)
        if bot is None or (bot.deleted_at is not None and not deleted):
            hint = (
                "List them: forge bots list" if bot is None else f"Restore it: forge bots restore {bot.slug}"
            )
            raise NotFound("Bot not found.", hint=hint)
        return bot

    async def find_many(self, tx: Tx, bot_ids: Collection[str]) -> dict[str, Bot]:
        """Return the existing bots by id, deleted ones included."""
        return {bot.id: bot for bot in await store.find_many(tx, bot_ids)}

    async def lock(self, tx: Tx, bot_id: str) -> None:
        """Lock a bot until the transaction ends."""
        await store.lock(tx, bot_id)

    async def view(self, account_id: str, ref: str) -> BotView:
        return await self._view(account_id, await self.find(account_id, ref))

    async def change(self, account_id: str, ref: str, change: BotChange, *, by: str) -> BotView:
        """Change keys of IDENTITY.md, or the status. The slug does not change."""
        bot = await self.find(account_id, ref)
        if changes := _identity_changes(change):
            await self._change_identity(bot, changes, change.base_hash, by=by)
        if change.status is not None:
            async with self._database.begin() as tx:
                if await store.change_status(tx, bot.id, change.status, self._clock()):
                    await notify_changed(tx, self._events, bot.id, "bot")
        return await self.view(account_id, bot.id)

    async def clone(self, account_id: str, ref: str, name: str | None, *, by: str) -> BotView:
        """Copy the files of a bot under a new name. The name in SOUL.md is changed too if it was the name of the bot."""
        bot = await self.find(account_id, ref)
        contents = await self._versions.contents(bot)
        if name is not None:
            contents[BotFile.SOUL] = _renamed(contents[BotFile.SOUL], bot.identity.display_name, name)
        name = name or bot.identity.display_name[: MAX_NAME - len(CLONE_SUFFIX)] + CLONE_SUFFIX
        contents[BotFile.IDENTITY] = await asyncio.to_thread(
            change_identity, contents[BotFile.IDENTITY], {"display_name": name}
        )
        return await self._create(account_id, slug_of(name), contents, by=by)

    async def delete(self, account_id: str, ref: str) -> BotView:
        """Delete a bot. It can be restored for 30 days.

        The row is changed first: `restore` and the purge also find a folder that was not moved, but a bot without its
        folder would look broken.
        """
        bot = await self.find(account_id, ref)
        async with self._database.begin() as tx:
            if not await store.mark_deleted(tx, bot.id, self._clock()):
                raise NotFound("Bot not found.", hint=f"Restore it: forge bots restore {bot.slug}")
            await notify_changed(tx, self._events, bot.id, "deleted")
        async with self._database.begin() as tx:
            deleted = await store.lock(tx, bot.id)
            if deleted is not None and deleted.deleted_at is not None:
                await asyncio.to_thread(self._folders.move_to_trash, bot.slug, bot.id)
        return await self._view(account_id, await self.find(account_id, bot.id, deleted=True))

    async def restore(self, account_id: str, ref: str) -> BotView:
        """Restore a deleted bot: the folder first, so that a restored bot never lacks its folder."""
        bot = await self.find(account_id, ref, deleted=True)
        async with self._database.begin() as tx:
            deleted = await store.lock(tx, bot.id)
            if deleted is not None and deleted.deleted_at is not None:
                if self._is_expired(deleted.deleted_at):
                    raise Gone("This bot was deleted more than 30 days ago.")
                contents = await store.newest_contents(tx, bot.id)
                await asyncio.to_thread(self._restore_folder, bot, contents)
                await store.unmark_deleted(tx, bot.id, self._clock())
                await notify_changed(tx, self._events, bot.id, "bot")
        return await self.view(account_id, bot.id)

    async def export(self, account_id: str, ref: str) -> Bundle:
        bot = await self.find(account_id, ref)
        return to_bundle(bot.slug, await self._versions.contents(bot), self._clock())

    async def import_bundle(self, account_id: str, bundle: Bundle, *, by: str) -> BotView:
        """Create a bot from an export. Nothing is created if any file is invalid."""
        contents = await asyncio.to_thread(bundle_contents, bundle)
        slug = await asyncio.to_thread(bundle_slug, bundle, contents)
        return await self._create(account_id, slug, contents, by=by)

    async def skills(self, account_id: str, ref: str) -> list[SkillView]:
        return await self._attachments.views(account_id, await self.find(account_id, ref))

    async def attach(self, account_id: str, ref: str, new: NewBotSkill, *, by: str) -> SkillView:
        return await self._attachments.attach(account_id, await self.find(account_id, ref), new, by=by)

    async def change_skill(
        self, account_id: str, ref: str, name: str, change: BotSkillChange, *, by: str
    ) -> SkillView:
        return await self._attachments.change(
            account_id, await self.find(account_id, ref), name, change, by=by
        )

    async def detach(self, account_id: str, ref: str, name: str, *, by: str) -> SkillView:
        return await self._attachments.detach(account_id, await self.find(account_id, ref), name, by=by)

    async def find_offered_skill(self, account_id: str, bot: Bot, skill: str) -> OfferedSkill | None:
        """Return a skill as this bot uses it; None if it cannot."""
        return await self._attachments.find_offered(account_id, bot, skill)

    async def slugs_by_skill(self, account_id: str) -> dict[str, list[str]]:
        """Map each skill to the slugs of the bots that have it."""
        return await self._attachments.slugs_by_skill(await self._existing(account_id))

    async def stats(self, account_id: str) -> Stats:
        bots = await self._existing(account_id)
        ids = [bot.id for bot in bots]
        async with self._database.read() as tx:
            chats = (await store.count_chats(tx, ids)).values()
            used = (await used_by_scope(tx, account_id, [bot_scope(bot_id) for bot_id in ids])).values()
            memories = await store.count_memories(tx, ids)
        counts = {status: sum(bot.status is status for bot in bots) for status in BotStatus}
        return Stats(
            total_bots=len(bots),
            active_bots=counts[BotStatus.ACTIVE],
            disabled_bots=counts[BotStatus.DISABLED],
            archived_bots=counts[BotStatus.ARCHIVED],
            total_sessions=sum(one.sessions for one in chats),
            active_sessions=sum(one.answering for one in chats),
            total_messages=sum(one.messages for one in chats),
            total_memories=memories,
            tokens=sum(one.tokens for one in used),
            spent_micros=sum(one.cost_micros for one in used),
        )

    async def _existing(self, account_id: str) -> list[Bot]:
        """Return all bots that are not deleted."""
        async with self._database.read() as tx:
            return [bot for bot in await store.list_all(tx, account_id) if bot.deleted_at is None]

    async def _view(self, account_id: str, bot: Bot) -> BotView:
        return (await self._views.build(account_id, [bot]))[0]

    async def _create(
        self, account_id: str, slug: str, contents: Mapping[BotFile, str], *, by: str
    ) -> BotView:
        [made] = await self._creator.create(
            account_id, [NewBotFiles(slug, contents)], by=by, in_transaction=_no_op
        )
        return await self._view(account_id, made)

    async def _change_identity(
        self, bot: Bot, changes: Mapping[str, Any], base_hash: str | None, *, by: str
    ) -> None:
        def edit(state: FileState) -> str:
            if state.content is None:
                raise BotBlocked(
                    "IDENTITY.md is missing.",
                    hint=f"Restore it: forge bots files rollback {bot.slug} identity",
                )
            return change_identity(state.content, changes)

        message = f"Change {', '.join(changes)}"
        await self._versions.edit(bot, BotFile.IDENTITY, edit, message, by=by, base_hash=base_hash)

    def _restore_folder(self, bot: Bot, contents: Mapping[BotFile, str]) -> None:
        """Restore the folder from the trash. An interrupted delete left it in place; if the trash was emptied, recreate it
        from the newest versions."""
        try:
            self._folders.restore_from_trash(bot.id, bot.slug)
        except NotFound:
            if not self._folders.path(bot.slug).exists():
                self._folders.create(bot.slug, contents)

    def _is_expired(self, deleted_at: datetime) -> bool:
        return self._clock() - deleted_at > RESTORE_PERIOD


async def _no_op(_tx: Tx, _bots: list[Bot]) -> None:
    """Nothing else happens in the transaction."""


def _identity_changes(change: BotChange) -> dict[str, Any]:
    """Return the changed keys of IDENTITY.md; None removes a key. A provider is removed together with its model."""
    fields = change.model_dump(mode="json", exclude={"status", "base_hash"}, exclude_none=True)
    if fields.get("model") == "":
        fields.setdefault("provider", "")
    named = {"display_name" if key == "name" else key: value for key, value in fields.items()}
    return {
        key: None if key in ("provider", "model") and value == "" else value for key, value in named.items()
    }


def _matches(bot: Bot, words: str) -> bool:
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
