"""Read, check, save, compare, roll back and accept the files of a bot."""

import asyncio
from collections.abc import Callable, Mapping

from forge.bots.errors import BotBlocked, FileChanged
from forge.bots.files.folders import BotFolders
from forge.bots.files.problems import errors_of, find_problems, invalid_file
from forge.bots.models import Bot, BotFile, FileProblem
from forge.bots.store import list_existing
from forge.bots.versions import store
from forge.bots.versions.diff import diff
from forge.bots.versions.file_status import BotFiles, FileStatus, accepted_texts, find_block, read_bot_files
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
    file_arguments,
)
from forge.bots.versions.store import NewVersion
from forge.bots.versions.versioned_files import InTransaction, VersionedFiles
from forge.errors import Malformed, NotFound
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.store.database import Store, Tx
from forge.store.pagination import Cursor, Page, make_page

ATTEMPTS = 5
"""Attempts of an edit without `base_hash` if the file changes concurrently."""
ON_DISK = "the file on disk"
CREATED = "Created"
ACCEPTED = "Edited by hand, accepted"
NOT_ACCEPTED = "Edited by hand, not accepted"


class Versions:
    def __init__(self, database: Store, events: EventLog, folders: BotFolders) -> None:
        self._database = database
        self._files = VersionedFiles(database, events, folders)
        self._notified: dict[tuple[str, BotFile], str] = {}

    async def create_first(self, tx: Tx, bot_id: str, contents: Mapping[BotFile, str], *, by: str) -> None:
        """Insert version 1 of each file of a new bot."""
        at = now()
        for file, text in contents.items():
            version = NewVersion(text, hash_text(text), by, CREATED, is_written=True)
            await store.insert(tx, bot_id, file, 1, version, at)

    async def state(self, bot: Bot, file: BotFile) -> FileState:
        return await self._view(bot, await self._status(bot, file))

    async def find_problems(self, file: BotFile, content: str) -> list[FileProblem]:
        return await asyncio.to_thread(find_problems, file, content)

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
        """Apply an edit function. Without `base_hash`, it is retried on the current file, so concurrent changes are kept."""
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
        """Save new content as a version. Raises FileChanged if the file is not `base_hash`."""
        await self._check_valid(file, new.content)
        while True:
            status = await self._status(bot, file)
            if status.disk.hash != new.base_hash:
                raise await self._conflict(bot, status, new.base_hash, new.content)
            versions = _versions_to_save(status, new, by)
            if not versions or await self._files.add_versions(bot, status, versions):
                return await self.state(bot, file)

    async def save_all(
        self, bot: Bot, new: Mapping[BotFile, NewContent], *, by: str, in_transaction: InTransaction
    ) -> None:
        """Save several files and call `in_transaction`, atomically. Raises BotBlocked if an edit waits for a decision."""
        for file, one in new.items():
            await self._check_valid(file, one.content)
        while True:
            statuses = await self._files.reconcile(bot)
            if block := await asyncio.to_thread(find_block, bot.slug, list(statuses.values())):
                raise BotBlocked(block.reason, hint=block.hint)
            for file, one in new.items():
                if statuses[file].disk.hash != one.base_hash:
                    raise await self._conflict(bot, statuses[file], one.base_hash, one.content)
            saved = [
                (statuses[file], _versions_to_save(statuses[file], one, by)) for file, one in new.items()
            ]
            changes = [(status, versions) for status, versions in saved if versions]
            if await self._files.add_versions_together(bot, changes, in_transaction):
                await self._files.reconcile(bot)
                return

    async def rollback(self, bot: Bot, file: BotFile, new: NewRollback, *, by: str) -> FileState:
        """Save an older version as the newest. The current content of the file is kept."""
        wanted = await self.get(bot, file, new.version)
        await self._check_valid(file, wanted.content)
        message = new.message or f"Rollback to version {wanted.number}"
        while True:
            status = await self._status(bot, file)
            if status.disk.unreadable:
                await self._files.set_aside(bot, file)
                continue
            versions = _versions_to_roll_back(status, wanted, by, message)
            if not versions or await self._files.add_versions(bot, status, versions):
                return await self.state(bot, file)

    async def accept(self, bot: Bot, file: BotFile, new: NewAcceptance, *, by: str) -> FileState:
        """Accept the reviewed content as the next version. Raises FileChanged if the file changed since."""
        while True:
            status = await self._status(bot, file)
            if status.disk.hash != new.hash:
                raise await self._conflict(bot, status, new.hash, status.disk.text or "")
            await self._check_valid(file, status.disk.text or "")
            accepted = [_accepted_version(status, by, new.message)]
            if status.is_accepted or await self._files.add_versions(bot, status, accepted):
                return await self.state(bot, file)

    async def history(
        self, bot: Bot, file: BotFile, *, cursor: Cursor | None, limit: int
    ) -> Page[FileVersion]:
        await self._status(bot, file)
        async with self._database.read() as tx:
            found = await store.list_versions(
                tx, bot.id, file, before=_version_number(cursor) if cursor else None, limit=limit + 1
            )
        return make_page(found, limit, lambda version: Cursor(version.created_at, str(version.number)))

    async def get(self, bot: Bot, file: BotFile, number: int) -> FileVersionDetail:
        async with self._database.read() as tx:
            found = await store.find(tx, bot.id, file, number)
        if found is None:
            raise NotFound(
                f"{file.file_name} has no version {number}.",
                hint=f"List them: forge bots files history {file_arguments(bot.slug, file)}",
            )
        return found

    async def diff(self, bot: Bot, file: BotFile, left: int, right: int | None) -> FileDiff:
        """Compare two versions, or a version with the file on disk."""
        old = await self.get(bot, file, left)
        if right is None:
            text = (await self._status(bot, file)).disk.text or ""
            return await _diff(old.content, text, _version_label(old.number), ON_DISK)
        new = await self.get(bot, file, right)
        return await _diff(old.content, new.content, _version_label(old.number), _version_label(new.number))

    async def bot_files(self, bot: Bot) -> BotFiles:
        """Return all four files, parsed. Raises BotBlocked if they may not be used."""
        statuses = await self._files.reconcile(bot)
        return await asyncio.to_thread(read_bot_files, bot.slug, statuses)

    async def contents(self, bot: Bot) -> dict[BotFile, str]:
        """Return the texts of all four files. Raises BotBlocked if they may not be used, as an unaccepted soul may not be copied."""
        statuses = await self._files.reconcile(bot)
        return await asyncio.to_thread(accepted_texts, bot.slug, statuses)

    async def problems(self, bot: Bot) -> tuple[list[FileProblem], str | None]:
        """Return the problems of all files, and why they block the bot."""
        statuses = list((await self._files.reconcile(bot)).values())
        return await asyncio.to_thread(_problems_and_block, bot.slug, statuses)

    async def reconcile(self, slug: str | None = None) -> None:
        """Handle edits on disk of one bot or all bots: accept what can be accepted, notify about the rest."""
        async with self._database.read() as tx:
            found = await list_existing(tx, slug)
        for bot in found:
            for status in (await self._files.reconcile(bot)).values():
                await self._notify_once(bot, status)

    async def _notify_once(self, bot: Bot, status: FileStatus) -> None:
        """Notify once about an edit that waits for a decision, and once when it no longer does."""
        key = (bot.id, status.file)
        waits = None if status.is_accepted else status.disk.hash or status.problems[0].message
        if self._notified.get(key) == waits:
            return
        if waits is None:
            del self._notified[key]
        else:
            self._notified[key] = waits
        await self._files.notify(bot, status.file)

    async def _status(self, bot: Bot, file: BotFile) -> FileStatus:
        return (await self._files.reconcile(bot, [file]))[file]

    async def _check_valid(self, file: BotFile, content: str) -> None:
        if errors := errors_of(await asyncio.to_thread(find_problems, file, content)):
            raise invalid_file(errors)

    async def _view(self, bot: Bot, status: FileStatus) -> FileState:
        text, changes = status.disk.text, None
        if text is not None and not status.is_accepted:
            head = await self.get(bot, status.file, status.head.number)
            changes = await _diff(head.content, text, _version_label(head.number), ON_DISK)
        return FileState(
            file=status.file,
            content=text,
            hash=status.disk.hash,
            version=status.head.number,
            is_accepted=status.is_accepted,
            problems=await asyncio.to_thread(lambda: status.problems),
            diff=changes,
        )

    async def _conflict(self, bot: Bot, status: FileStatus, base_hash: str, content: str) -> FileChanged:
        async with self._database.read() as tx:
            base = await store.find_by_hash(tx, bot.id, status.file, base_hash)
        current = status.disk.text or ""
        detail = FileConflict(
            current=await self._view(bot, status),
            theirs=await _diff(base.content, current, _version_label(base.number), ON_DISK) if base else None,
            yours=await _diff(current, content, ON_DISK, "your text"),
        )
        return FileChanged(
            f"{status.file.file_name} changed since you opened it.",
            hint="Review the differences, merge them, and save again.",
            detail=detail.model_dump(mode="json"),
        )


async def _diff(left: str, right: str, left_name: str, right_name: str) -> FileDiff:
    return await asyncio.to_thread(diff, left, right, left_name=left_name, right_name=right_name)


def _problems_and_block(slug: str, statuses: list[FileStatus]) -> tuple[list[FileProblem], str | None]:
    block = find_block(slug, statuses)
    return [problem for status in statuses for problem in status.problems], block and block.reason


def _versions_to_save(status: FileStatus, new: NewContent, by: str) -> list[NewVersion]:
    """Return the versions to insert; empty if nothing changes. An unaccepted edit that is replaced is kept as a version."""
    new_hash = hash_text(new.content)
    if new_hash != status.disk.hash:
        return [
            *_unaccepted_edit(status),
            NewVersion(new.content, new_hash, by, new.message, is_written=False),
        ]
    return [] if status.is_accepted else [_accepted_version(status, by, new.message)]


def _versions_to_roll_back(
    status: FileStatus, wanted: FileVersionDetail, by: str, message: str
) -> list[NewVersion]:
    is_on_disk = status.disk.hash == wanted.hash
    if is_on_disk and status.is_accepted:
        return []
    kept = [] if is_on_disk else _unaccepted_edit(status)
    return [*kept, NewVersion(wanted.content, wanted.hash, by, message, is_written=is_on_disk)]


def _accepted_version(status: FileStatus, by: str, message: str) -> NewVersion:
    text = status.disk.text or ""
    return NewVersion(text, hash_text(text), by, message or ACCEPTED, is_written=True)


def _unaccepted_edit(status: FileStatus) -> list[NewVersion]:
    """Return an unaccepted edit as a version, so that it is not lost."""
    text = status.disk.text
    if text is None or status.is_accepted:
        return []
    return [NewVersion(text, hash_text(text), BY_HAND, NOT_ACCEPTED, is_written=True)]


def _version_label(number: int) -> str:
    return f"version {number}"


def _version_number(cursor: Cursor) -> int:
    if not cursor.id.isdecimal() or len(cursor.id) > 9:
        raise Malformed("This cursor belongs to another list.", field="cursor")
    return int(cursor.id)
