"""Notices while Forge runs that somebody edits the files of bots, without being asked.

Looks at the stamps of all files several times a second. That is a thousandth of a second's work for a hundred bots, and
it is the same on every file system: the notices of systems are not, and get lost on network drives and mounts of
containers, when too much is watched, and when a folder is replaced by another one.
"""

import asyncio
import logging
import os
import re
import time
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from forge.bots.folder import Folders
from forge.bots.models import SLUG_PATTERN, BotFile
from forge.bots.versions.service import Versions
from forge.errors import ForgeError

log = logging.getLogger(__name__)

PAUSE_S = 0.25
AGAIN_S = 5.0
"""After something could not be looked at, as while the database is away."""
SHARE = 20
"""The pause is at least so many times as long as the look before it: nobody's machine is busy with this."""

Stamp = tuple[object, ...]
GONE: Stamp = ()
_NAMES = ("", *(file.file_name for file in BotFile))


async def watch(folders: Folders, versions: Versions) -> None:
    """Until cancelled. What was edited while Forge was away comes first."""
    watcher = Watcher(versions)
    while True:
        began = time.monotonic()
        try:
            found = await asyncio.to_thread(_look, folders.root)
        except OSError as error:
            log.warning("the folder of all bots could not be looked at: %s", error)
            await asyncio.sleep(AGAIN_S)
            continue
        pause_s = max(PAUSE_S, SHARE * (time.monotonic() - began))
        await asyncio.sleep(pause_s if await watcher.compare(found) else AGAIN_S)


class Watcher:
    """Knows what was noticed: all bots at first, then each whose folder is another.

    A folder is noticed once it was the same twice, so that an editor can finish.
    """

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._noticed: dict[str, Stamp] | None = None
        self._before: dict[str, Stamp] = {}

    async def compare(self, found: dict[str, Stamp]) -> bool:
        """False when something could not be looked at; it is tried again the next time."""
        before, self._before = self._before, found
        if self._noticed is None:
            self._noticed = dict(found) if await self._notice(None) else None
            return self._noticed is not None
        is_done = True
        for slug in found.keys() | self._noticed.keys():
            stamp = found.get(slug, GONE)
            if stamp != before.get(slug, GONE) or stamp == self._noticed.get(slug, GONE):
                continue
            if await self._notice(slug):
                self._noticed[slug] = stamp
            else:
                is_done = False
        return is_done

    async def _notice(self, slug: str | None) -> bool:
        try:
            await self._versions.notice(slug)
        except (SQLAlchemyError, ForgeError, OSError) as error:
            log.warning("the files of %s could not be looked at: %s", slug or "bots", error)
            return False
        return True


def _look(root: Path) -> dict[str, Stamp]:
    """Of every folder that can be a bot's, when and to what it and its files were last changed, as the system sees
    it."""
    try:
        with os.scandir(root) as entries:
            slugs = [entry.name for entry in entries if re.fullmatch(SLUG_PATTERN, entry.name)]
    except FileNotFoundError:
        return {}
    return {slug: tuple(_stamp(root / slug / name) for name in _NAMES) for slug in slugs}


def _stamp(path: Path) -> object:
    """Another one after every way to change a file: in place, by renaming another one, with the old times put back."""
    try:
        status = path.lstat()
    except OSError as error:
        return error.errno
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns
