"""What people can do with a bot's files: read, check, save, compare, roll back, accept."""

import asyncio
from collections.abc import Callable, Mapping

from forge.bots.errors import BotBlocked, FileChanged
from forge.bots.files.checking import check
from forge.bots.folder import Folders
from forge.bots.models import Bot, BotFile, FileProblem
from forge.bots.problems import errors_of, refusal
from forge.bots.store import list_there
from forge.bots.versions import store
from forge.bots.versions.books import Books, Settle
from forge.bots.versions.diff import diff
from forge.bots.versions.models import (
    BY_HAND,
    FileConflict,
    FileDiff,
    FileState,
    FileVersion,
    FileVersionDetail,
    NewAcceptance,
    NewContent,
    NewRollback,
)
from forge.bots.versions.naming import typed
from forge.bots.versions.standing import Standing
from forge.bots.versions.store import NewVersion
from forge.bots.versions.whole import BotFiles, find_block, texts, whole
from forge.errors import Malformed, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.store.engine import Store, Tx
from forge.store.paging import Cursor, Page, page_of

ATTEMPTS = 5
"""How often an edit that names no version starts over when somebody else was quicker."""
ON_DISK = "the file on disk"
CREATED = "Created"
ACCEPTED = "Edited by hand, accepted"
NOT_ACCEPTED = "Edited by hand, not accepted"


class Versions:
    def __init__(self, database: Store, events: EventLog, folders: Folders) -> None:
        self._database = database
        self._books = Books(database, events, folders)
        self._told: dict[tuple[str, BotFile], str] = {}

    async def first(self, tx: Tx, bot_id: str, contents: Mapping[BotFile, str], *, by: str) -> None:
        """Version 1 of each file of a new bot, in the transaction that makes it."""
        at = now()
        for file, text in contents.items():
            version = NewVersion(text, hash_text(text), by, CREATED, is_written=True)
            await store.insert(tx, bot_id, file, 1, version, at)

    async def state(self, bot: Bot, file: BotFile) -> FileState:
        return await self._view(bot, await self._look(bot, file))

    async def check(self, file: BotFile, content: str) -> list[FileProblem]:
        return await asyncio.to_thread(check, file, content)

    async def edit(
        self,
        bot: Bot,
        file: BotFile,
        edit: Callable[[FileState], str],
        message: str,
        *,
        by: str,
        base_hash: str | None = None,
    ) -> None:
        """Without a base it is made from whatever the file is: what somebody else changes meanwhile stays, too."""
        for attempt in range(1, ATTEMPTS + 1):
            state = await self.state(bot, file)
            content = await asyncio.to_thread(edit, state)
            new = NewContent.of(file, content, base_hash or state.hash or "", message)
            try:
                await self.save(bot, file, new, by=by)
                return
            except FileChanged:
                if base_hash is not None or attempt == ATTEMPTS:
                    raise

    async def save(self, bot: Bot, file: BotFile, new: NewContent, *, by: str) -> FileState:
        """The new content is a version, or somebody else was quicker and it is a conflict."""
        await self._refuse_invalid(file, new.content)
        while True:
            standing = await self._look(bot, file)
            if standing.disk.hash != new.base_hash:
                raise await self._conflict(bot, standing, new.base_hash, new.content)
            versions = _saved(standing, new, by)
            if not versions or await self._books.keep(bot, standing, versions):
                return await self.state(bot, file)

    async def save_all(self, bot: Bot, new: Mapping[BotFile, NewContent], *, by: str, settle: Settle) -> None:
        """Several files at once, together with whatever else has to be true then: all of it or nothing. A soul that
        waits for a person is not written over."""
        for file, one in new.items():
            await self._refuse_invalid(file, one.content)
        while True:
            standings = await self._books.look(bot)
            if block := await asyncio.to_thread(find_block, bot.slug, list(standings.values())):
                raise BotBlocked(block.reason, hint=block.hint)
            for file, one in new.items():
                if standings[file].disk.hash != one.base_hash:
                    raise await self._conflict(bot, standings[file], one.base_hash, one.content)
            saved = [(standings[file], _saved(standings[file], one, by)) for file, one in new.items()]
            changes = [(standing, versions) for standing, versions in saved if versions]
            if await self._books.keep_all(bot, changes, settle):
                await self._books.look(bot)
                return

    async def rollback(self, bot: Bot, file: BotFile, new: NewRollback, *, by: str) -> FileState:
        """An older version becomes the newest; what is in the file now is kept, whatever it is."""
        wanted = await self.get(bot, file, new.version)
        await self._refuse_invalid(file, wanted.content)
        message = new.message or f"Rollback to version {wanted.number}"
        while True:
            standing = await self._look(bot, file)
            if standing.disk.unreadable:
                await self._books.set_aside(bot, file)
                continue
            versions = _rolled_back(standing, wanted, by, message)
            if not versions or await self._books.keep(bot, standing, versions):
                return await self.state(bot, file)

    async def accept(self, bot: Bot, file: BotFile, new: NewAcceptance, *, by: str) -> FileState:
        """What was looked at becomes the next version; another content by now is a conflict."""
        while True:
            standing = await self._look(bot, file)
            if standing.disk.hash != new.hash:
                raise await self._conflict(bot, standing, new.hash, standing.disk.text or "")
            await self._refuse_invalid(file, standing.disk.text or "")
            accepted = [_accepted(standing, by, new.message)]
            if standing.is_accepted or await self._books.keep(bot, standing, accepted):
                return await self.state(bot, file)

    async def history(
        self, bot: Bot, file: BotFile, *, cursor: Cursor | None, limit: int
    ) -> Page[FileVersion]:
        await self._look(bot, file)
        async with self._database.read() as tx:
            found = await store.list_versions(
                tx, bot.id, file, before=_number(cursor) if cursor else None, limit=limit + 1
            )
        return page_of(found, limit, lambda version: Cursor(version.created_at, str(version.number)))

    async def get(self, bot: Bot, file: BotFile, number: int) -> FileVersionDetail:
        async with self._database.read() as tx:
            found = await store.find(tx, bot.id, file, number)
        if found is None:
            raise NotFound(
                f"{file.file_name} has no version {number}.",
                hint=f"List them: forge bots files history {typed(bot.slug, file)}",
            )
        return found

    async def diff(self, bot: Bot, file: BotFile, left: int, right: int | None) -> FileDiff:
        """Between two versions, or from one to the file on disk."""
        old = await self.get(bot, file, left)
        if right is None:
            text = (await self._look(bot, file)).disk.text or ""
            return await _diff(old.content, text, _named(old.number), ON_DISK)
        new = await self.get(bot, file, right)
        return await _diff(old.content, new.content, _named(old.number), _named(new.number))

    async def whole(self, bot: Bot) -> BotFiles:
        """All four files as a conversation needs them; `BotBlocked` when they do not allow one."""
        standings = await self._books.look(bot)
        return await asyncio.to_thread(whole, bot.slug, standings)

    async def contents(self, bot: Bot) -> dict[BotFile, str]:
        """All four files as they are, when all is well with them: what nobody accepted is neither handed on nor built
        upon."""
        standings = await self._books.look(bot)
        return await asyncio.to_thread(texts, bot.slug, standings)

    async def problems(self, bot: Bot) -> tuple[list[FileProblem], str | None]:
        """What is wrong in all files, and why they do not allow a conversation."""
        standings = list((await self._books.look(bot)).values())
        return await asyncio.to_thread(_judged, bot.slug, standings)

    async def notice(self, slug: str | None = None) -> None:
        """Somebody may have edited the files of this bot, or of any: take over what can be, tell of what cannot."""
        async with self._database.read() as tx:
            found = await list_there(tx, slug)
        for bot in found:
            for standing in (await self._books.look(bot)).values():
                await self._tell_once(bot, standing)

    async def _tell_once(self, bot: Bot, standing: Standing) -> None:
        """Of each edit that waits for a person, and when it waits no more."""
        key = (bot.id, standing.file)
        waits = None if standing.is_accepted else standing.disk.hash or standing.problems[0].message
        if self._told.get(key) == waits:
            return
        if waits is None:
            del self._told[key]
        else:
            self._told[key] = waits
        await self._books.tell(bot, standing.file)

    async def _look(self, bot: Bot, file: BotFile) -> Standing:
        return (await self._books.look(bot, [file]))[file]

    async def _refuse_invalid(self, file: BotFile, content: str) -> None:
        if errors := errors_of(await asyncio.to_thread(check, file, content)):
            raise refusal(errors)

    async def _view(self, bot: Bot, standing: Standing) -> FileState:
        text, changes = standing.disk.text, None
        if text is not None and not standing.is_accepted:
            head = await self.get(bot, standing.file, standing.head.number)
            changes = await _diff(head.content, text, _named(head.number), ON_DISK)
        return FileState(
            file=standing.file,
            content=text,
            hash=standing.disk.hash,
            version=standing.head.number,
            is_accepted=standing.is_accepted,
            problems=await asyncio.to_thread(lambda: standing.problems),
            diff=changes,
        )

    async def _conflict(self, bot: Bot, standing: Standing, base_hash: str, content: str) -> FileChanged:
        async with self._database.read() as tx:
            base = await store.find_by_hash(tx, bot.id, standing.file, base_hash)
        current = standing.disk.text or ""
        detail = FileConflict(
            current=await self._view(bot, standing),
            theirs=await _diff(base.content, current, _named(base.number), ON_DISK) if base else None,
            yours=await _diff(current, content, ON_DISK, "what you wrote"),
        )
        return FileChanged(
            f"{standing.file.file_name} was changed since you opened it.",
            hint="Look at the difference, put both together, and save again.",
            detail=detail.model_dump(mode="json"),
        )


async def _diff(left: str, right: str, left_name: str, right_name: str) -> FileDiff:
    return await asyncio.to_thread(diff, left, right, left_name=left_name, right_name=right_name)


def _judged(slug: str, standings: list[Standing]) -> tuple[list[FileProblem], str | None]:
    block = find_block(slug, standings)
    return [problem for standing in standings for problem in standing.problems], block and block.reason


def _saved(standing: Standing, new: NewContent, by: str) -> list[NewVersion]:
    """Empty when nothing changes. A hand edit below the new content is kept as it was; saving it as it is accepts it."""
    given = hash_text(new.content)
    if given != standing.disk.hash:
        return [*_kept(standing), NewVersion(new.content, given, by, new.message, is_written=False)]
    return [] if standing.is_accepted else [_accepted(standing, by, new.message)]


def _rolled_back(standing: Standing, wanted: FileVersionDetail, by: str, message: str) -> list[NewVersion]:
    is_there = standing.disk.hash == wanted.hash
    if is_there and standing.is_accepted:
        return []
    kept = [] if is_there else _kept(standing)
    return [*kept, NewVersion(wanted.content, wanted.hash, by, message, is_written=is_there)]


def _accepted(standing: Standing, by: str, message: str) -> NewVersion:
    text = standing.disk.text or ""
    return NewVersion(text, hash_text(text), by, message or ACCEPTED, is_written=True)


def _kept(standing: Standing) -> list[NewVersion]:
    """An edit that nobody accepted, so that it is not lost."""
    text = standing.disk.text
    if text is None or standing.is_accepted:
        return []
    return [NewVersion(text, hash_text(text), BY_HAND, NOT_ACCEPTED, is_written=True)]


def _named(number: int) -> str:
    return f"version {number}"


def _number(cursor: Cursor) -> int:
    if not cursor.id.isdecimal() or len(cursor.id) > 9:
        raise Malformed("This cursor is of another list.", field="cursor")
    return int(cursor.id)
