"""Keeps the versions of a file and the file itself in step, whoever is killed when.

There are two truths, the file and its newest version, and no transaction over both. So a version is kept first, marked
as not written; then the file is written, if it still is what it was; then the mark is taken away. Killed

- before the first: nothing happened;
- after it: the file is the version before the newest, which is not written. Whoever looks next writes the file;
- after the second: the file is the newest version, which is not written. Whoever looks next takes the mark away.

Nobody who saves writes the file himself: he keeps the version and looks, so the way after a kill is the way of every
day. A file that differs from a newest version that *is* written was edited by hand, even if it is an older version again.
Only what is in nobody's way is done by looking: edits of the soul, and those with mistakes, wait for a person.

Two who keep a version at the same time want the same number. The database gives it to one of them; the other looks
again. A reader who finds a difference makes sure that nobody was just saving, by asking for the newest version again.
"""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence

from forge.bots.errors import FileChanged
from forge.bots.files.identity import parse_identity
from forge.bots.folder import Folders, Unreadable
from forge.bots.models import Bot, BotFile, BotPart
from forge.bots.telling import tell_changed
from forge.bots.versions import store
from forge.bots.versions.models import BY_HAND
from forge.bots.versions.standing import Standing, read_disk
from forge.bots.versions.store import Head, NewVersion
from forge.errors import Unavailable
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.kernel.hashing import hash_text
from forge.store.engine import Store, Tx

MAX_LOOKS = 100
"""Each of them but the last finds that somebody has just changed something."""
MOMENT_S = 0.05
"""So long an edit must have been there to be taken over: many editors empty a file before they write it."""

_PARTS: dict[BotFile, BotPart] = {
    BotFile.SOUL: "soul",
    BotFile.IDENTITY: "identity",
    BotFile.USER: "user",
    BotFile.SKILLS: "skills",
}


Settle = Callable[[Tx], Awaitable[None]]
"""What has to become true together with new versions, in their transaction."""


class _Overtaken(Exception):
    """Somebody else made the next version first; undoes what was kept so far."""


class Books:
    def __init__(self, database: Store, events: EventLog, folders: Folders) -> None:
        self._database = database
        self._events = events
        self._folders = folders

    async def look(self, bot: Bot, files: Collection[BotFile] = tuple(BotFile)) -> dict[BotFile, Standing]:
        """How the files stand once everything is done that needs nobody's decision."""
        for _ in range(MAX_LOOKS):
            heads = await self._heads(bot, files)
            disks = await asyncio.to_thread(read_disk, self._folders, bot.slug, files)
            found = {file: Standing(file, heads[file], disks[file]) for file in files}
            open_ones = {file: standing for file, standing in found.items() if not standing.is_settled}
            if not open_ones:
                return found
            again = await self._heads(bot, open_ones)
            if all(again[file] == standing.head for file, standing in open_ones.items()):
                changes = [await self._settle(bot, standing) for standing in open_ones.values()]
                if not any(changes):
                    return found
        raise Unavailable("The files of this bot change all the time.", hint="Try again.")

    async def keep(self, bot: Bot, standing: Standing, versions: Sequence[NewVersion]) -> bool:
        """As the next versions, with what that changes in the bot's row; False when somebody else was first."""
        async with self._database.begin() as tx:
            return await self._keep(tx, bot, standing, versions)

    async def keep_all(
        self, bot: Bot, changes: Sequence[tuple[Standing, Sequence[NewVersion]]], settle: Settle
    ) -> bool:
        """Versions of several files, and whatever else has to be true with them: all of it or nothing."""
        try:
            async with self._database.begin() as tx:
                for standing, versions in changes:
                    if not await self._keep(tx, bot, standing, versions):
                        raise _Overtaken
                await settle(tx)
        except _Overtaken:
            return False
        return True

    async def _keep(self, tx: Tx, bot: Bot, standing: Standing, versions: Sequence[NewVersion]) -> bool:
        at, identity = now(), None
        if standing.file is BotFile.IDENTITY:
            identity = (await asyncio.to_thread(parse_identity, versions[-1].content)).value
        for number, version in enumerate(versions, standing.head.number + 1):
            if not await store.insert(tx, bot.id, standing.file, number, version, at):
                return False  # the first of them, so nothing was kept
        await store.touch_bot(tx, bot.id, at, identity)
        await tell_changed(tx, self._events, bot.id, _PARTS[standing.file])
        return True

    async def tell(self, bot: Bot, file: BotFile) -> None:
        """Something about this file is different now, though nothing in the database is."""
        async with self._database.begin() as tx:
            await tell_changed(tx, self._events, bot.id, _PARTS[file])

    async def set_aside(self, bot: Bot, file: BotFile) -> None:
        """What cannot be read is kept beside the file, under another name."""
        await asyncio.to_thread(self._folders.set_aside, bot.slug, file)

    async def _heads(self, bot: Bot, files: Collection[BotFile]) -> Mapping[BotFile, Head]:
        async with self._database.read() as tx:
            return await store.heads(tx, bot.id, files)

    async def _settle(self, bot: Bot, standing: Standing) -> bool:
        """True when something was done, so that it stands otherwise now."""
        if not standing.head.is_written:
            await self._finish(bot, standing)
            return True
        text = standing.disk.text
        if text is None or standing.is_accepted or standing.file is BotFile.SOUL:
            return False
        if await asyncio.to_thread(lambda: standing.errors):
            return False
        await asyncio.sleep(MOMENT_S)
        disks = await asyncio.to_thread(read_disk, self._folders, bot.slug, [standing.file])
        if disks[standing.file] == standing.disk:
            edit = NewVersion(text, hash_text(text), BY_HAND, "Edited by hand", is_written=True)
            await self.keep(bot, standing, [edit])
        return True

    async def _finish(self, bot: Bot, standing: Standing) -> None:
        """Write the newest version, unless somebody has written something else meanwhile."""
        file, head, disk = standing.file, standing.head, standing.disk
        if disk.is_gone or (disk.hash == head.before and disk.hash != head.hash):
            async with self._database.read() as tx:
                version = await store.find(tx, bot.id, file, head.number)
            if version is None or not await asyncio.to_thread(
                self._write, bot.slug, file, version.content, disk.hash
            ):
                return  # look again
        async with self._database.begin() as tx:
            await store.mark_written(tx, bot.id, file, head.number)

    def _write(self, slug: str, file: BotFile, text: str, expect: str | None) -> bool:
        try:
            self._folders.write(slug, file, text, expect=expect)
        except (FileChanged, Unreadable):
            return False
        return True
