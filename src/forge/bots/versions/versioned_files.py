"""Keep the versions in the database and the files on disk consistent, whenever the process is killed.

There is no transaction over the database and the disk. So a save first inserts a version with `is_written` false, then
writes the file if it is unchanged, then sets `is_written`. If the process is killed

- before the insert: nothing happened;
- before the write: the file is the previous version. The next `reconcile` writes it;
- before the update: the file is the newest version. The next `reconcile` sets `is_written`.

A save only inserts the version and calls `reconcile`, so the recovery path is also the normal path. A file that differs
from a newest version with `is_written` was edited by hand, even if it equals an older version. `reconcile` accepts such an
edit as a version unless a person must decide: edits of SOUL.md and edits with errors wait.

Concurrent saves compete for the same version number: the database lets one insert succeed, and the other starts over.
A reader that finds a difference reads the newest version again, to make sure that no save was in progress.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from forge.bots.errors import FileChanged
from forge.bots.files.folders import BotFolders, Unreadable
from forge.bots.files.identity import parse_identity
from forge.bots.models import Bot, BotFile, BotPart
from forge.bots.notifications import notify_changed
from forge.bots.versions import store
from forge.bots.versions.file_status import FileStatus, read_disk_files
from forge.bots.versions.models import BY_HAND
from forge.bots.versions.store import Head, NewVersion
from forge.errors import Unavailable
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.store.database import Store, Tx

MAX_ATTEMPTS = 100
"""Each attempt but the last found a concurrent change."""
MIN_EDIT_AGE_S = 0.05
"""Minimum age of an edit: many editors truncate a file before they write it."""

_PARTS: dict[BotFile, BotPart] = {
    BotFile.SOUL: "soul",
    BotFile.IDENTITY: "identity",
    BotFile.USER: "user",
    BotFile.SKILLS: "skills",
}


InTransaction = Callable[[Tx], Awaitable[None]]
"""Called in the transaction that inserts the versions."""


class _VersionExists(Exception):
    """The version number is taken: roll back the transaction."""


class VersionedFiles:
    def __init__(self, database: Store, events: EventLog, folders: BotFolders) -> None:
        self._database = database
        self._events = events
        self._folders = folders

    async def reconcile(
        self, bot: Bot, files: Collection[BotFile] = tuple(BotFile)
    ) -> dict[BotFile, FileStatus]:
        """Finish interrupted saves, accept edits that need no decision, and return the status of the files."""
        for _ in range(MAX_ATTEMPTS):
            heads = await self._heads(bot, files)
            disks = await asyncio.to_thread(read_disk_files, self._folders, bot.slug, files)
            found = {file: FileStatus(file, heads[file], disks[file]) for file in files}
            unsettled = {file: status for file, status in found.items() if not status.is_settled}
            if not unsettled:
                return found
            again = await self._heads(bot, unsettled)
            if all(again[file] == status.head for file, status in unsettled.items()):
                changes = [await self._reconcile_file(bot, status) for status in unsettled.values()]
                if not any(changes):
                    return found
        raise Unavailable("The files of this bot keep changing.", hint="Try again.")

    async def add_versions(self, bot: Bot, status: FileStatus, versions: Sequence[NewVersion]) -> bool:
        """Insert the next versions and update the bot; False if a concurrent save was first."""
        async with self._database.begin() as tx:
            return await self._add_versions(tx, bot, status, versions)

    async def add_versions_together(
        self,
        bot: Bot,
        changes: Sequence[tuple[FileStatus, Sequence[NewVersion]]],
        in_transaction: InTransaction,
    ) -> bool:
        """Insert versions of several files and call `in_transaction`, atomically; False if a concurrent save was first."""
        try:
            async with self._database.begin() as tx:
                for status, versions in changes:
                    if not await self._add_versions(tx, bot, status, versions):
                        raise _VersionExists
                await in_transaction(tx)
        except _VersionExists:
            return False
        return True

    async def _add_versions(
        self, tx: Tx, bot: Bot, status: FileStatus, versions: Sequence[NewVersion]
    ) -> bool:
        at, identity = now(), None
        if status.file is BotFile.IDENTITY:
            identity = (await asyncio.to_thread(parse_identity, versions[-1].content)).value
        for number, version in enumerate(versions, status.head.number + 1):
            if not await store.insert(tx, bot.id, status.file, number, version, at):
                return False  # only the first insert can fail, so nothing was inserted
        await store.touch_bot(tx, bot.id, at, identity)
        await notify_changed(tx, self._events, bot.id, _PARTS[status.file])
        return True

    async def notify(self, bot: Bot, file: BotFile) -> None:
        """Notify subscribers of a change on disk that is not in the database."""
        async with self._database.begin() as tx:
            await notify_changed(tx, self._events, bot.id, _PARTS[file])

    async def set_aside(self, bot: Bot, file: BotFile) -> None:
        """Rename an unreadable file."""
        await asyncio.to_thread(self._folders.set_aside, bot.slug, file)

    async def _heads(self, bot: Bot, files: Collection[BotFile]) -> Mapping[BotFile, Head]:
        async with self._database.read() as tx:
            return await store.heads(tx, bot.id, files)

    async def _reconcile_file(self, bot: Bot, status: FileStatus) -> bool:
        """Return whether something was done, so that the status must be read again."""
        if not status.head.is_written:
            await self._finish_save(bot, status)
            return True
        text = status.disk.text
        if text is None or status.is_accepted or status.file is BotFile.SOUL:
            return False
        if await asyncio.to_thread(lambda: status.errors):
            return False
        await asyncio.sleep(MIN_EDIT_AGE_S)
        disks = await asyncio.to_thread(read_disk_files, self._folders, bot.slug, [status.file])
        if disks[status.file] == status.disk:
            edit = NewVersion(text, hash_text(text), BY_HAND, "Edited by hand", is_written=True)
            await self.add_versions(bot, status, [edit])
        return True

    async def _finish_save(self, bot: Bot, status: FileStatus) -> None:
        """Write the newest version, unless the file was edited since."""
        file, head, disk = status.file, status.head, status.disk
        if disk.is_gone or (disk.hash == head.before and disk.hash != head.hash):
            async with self._database.read() as tx:
                version = await store.find(tx, bot.id, file, head.number)
            if version is None or not await asyncio.to_thread(
                self._write, bot.slug, file, version.content, disk.hash
            ):
                return  # `reconcile` reads the file again
        async with self._database.begin() as tx:
            await store.mark_written(tx, bot.id, file, head.number)

    def _write(self, slug: str, file: BotFile, text: str, expect: str | None) -> bool:
        try:
            self._folders.write(slug, file, text, expect=expect)
        except (FileChanged, Unreadable):
            return False
        return True
