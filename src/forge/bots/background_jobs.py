"""Background jobs of a server: watch the folders of bots for edits, and purge deleted bots.

The watcher polls the metadata of all files a few times per second, which takes about a millisecond for a hundred bots.
File system notifications are not used: they differ between systems and get lost on network drives and container mounts,
when too many files are watched, and when a folder is replaced.
"""

import asyncio
import logging
import os
import re
import time
from datetime import datetime
from pathlib import Path

from sqlalchemy.exc import SQLAlchemyError

from forge.accounts.vault import forget_secrets
from forge.bots import store
from forge.bots.chat.branches import session_stream
from forge.bots.files.folders import BotFolders
from forge.bots.management.service import RESTORE_PERIOD
from forge.bots.models import SLUG_PATTERN, Bot, BotFile
from forge.bots.readiness import bot_scope
from forge.bots.versions.service import Versions
from forge.errors import ForgeError
from forge.events.log import EventLog
from forge.kernel.clock import now
from forge.llm.catalog import forget_choices
from forge.store.database import Store

log = logging.getLogger(__name__)

MIN_SCAN_INTERVAL_S = 0.25
RETRY_S = 5.0
"""Delay after a failure, such as an unavailable database."""
MIN_IDLE_RATIO = 20
"""The pause is at least this many times as long as the scan before it, to limit the load."""

Fingerprint = tuple[object, ...]
MISSING: Fingerprint = ()
_NAMES = ("", *(file.file_name for file in BotFile))


async def watch_folders(folders: BotFolders, versions: Versions) -> None:
    """Watch until cancelled. Edits made while Forge was not running are handled first."""
    watcher = FolderWatcher(versions)
    while True:
        began = time.monotonic()
        try:
            found = await asyncio.to_thread(_scan, folders.root)
        except OSError as error:
            log.warning("cannot scan the bots directory: %s", error)
            await asyncio.sleep(RETRY_S)
            continue
        pause_s = max(MIN_SCAN_INTERVAL_S, MIN_IDLE_RATIO * (time.monotonic() - began))
        await asyncio.sleep(pause_s if await watcher.compare(found) else RETRY_S)


class FolderWatcher:
    """Reconcile all bots at first, then each bot whose folder changed.

    A change is handled once two scans agree, so that an editor can finish writing.
    """

    def __init__(self, versions: Versions) -> None:
        self._versions = versions
        self._noticed: dict[str, Fingerprint] | None = None
        self._before: dict[str, Fingerprint] = {}

    async def compare(self, found: dict[str, Fingerprint]) -> bool:
        """Handle the differences to the last scan; False if something failed and must be retried."""
        before, self._before = self._before, found
        if self._noticed is None:
            self._noticed = dict(found) if await self._reconcile(None) else None
            return self._noticed is not None
        is_done = True
        for slug in found.keys() | self._noticed.keys():
            stamp = found.get(slug, MISSING)
            if stamp != before.get(slug, MISSING) or stamp == self._noticed.get(slug, MISSING):
                continue
            if await self._reconcile(slug):
                self._noticed[slug] = stamp
            else:
                is_done = False
        return is_done

    async def _reconcile(self, slug: str | None) -> bool:
        try:
            await self._versions.reconcile(slug)
        except (SQLAlchemyError, ForgeError, OSError) as error:
            log.warning("cannot reconcile the files of %s: %s", slug or "all bots", error)
            return False
        return True


def _scan(root: Path) -> dict[str, Fingerprint]:
    """Return the metadata of every possible bot folder and its files."""
    try:
        with os.scandir(root) as entries:
            slugs = [entry.name for entry in entries if re.fullmatch(SLUG_PATTERN, entry.name)]
    except FileNotFoundError:
        return {}
    return {slug: tuple(_fingerprint(root / slug / name) for name in _NAMES) for slug in slugs}


def _fingerprint(path: Path) -> object:
    """Return metadata that differs after an edit in place, a rename over the file, or restored timestamps."""
    try:
        status = path.lstat()
    except OSError as error:
        return error.errno
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


PURGE_INTERVAL_S = 3600.0


async def purge_deleted(database: Store, events: EventLog, folders: BotFolders) -> None:
    """Purge deleted bots until cancelled."""
    while True:
        try:
            if purged := await purge_expired(database, events, folders, at=now()):
                log.info("purged %d bots that were deleted %d days ago", purged, RESTORE_PERIOD.days)
        except SQLAlchemyError:
            log.exception("cannot purge deleted bots; retrying later")
        await asyncio.sleep(PURGE_INTERVAL_S)


async def purge_expired(database: Store, events: EventLog, folders: BotFolders, *, at: datetime) -> int:
    """Purge expired bots and return their number. A failure does not stop the others."""
    purged = 0
    async with database.read() as tx:
        old = await store.list_deleted_before(tx, at - RESTORE_PERIOD)
    for bot_id in old:
        try:
            purged += await _purge(database, events, folders, bot_id)
        except (OSError, ForgeError):
            log.exception("cannot remove the folder of bot %s; retrying later", bot_id)
    return purged


async def _purge(database: Store, events: EventLog, folders: BotFolders, bot_id: str) -> bool:
    """Purge a bot. The folder is deleted first: after an interruption, the next run finds the row again."""
    async with database.begin() as tx:
        bot = await store.lock(tx, bot_id)
        if bot is None or bot.deleted_at is None:
            return False
        await asyncio.to_thread(_delete_folder, folders, bot)
        sessions = await store.session_ids(tx, bot_id)
        await events.delete(tx, *map(session_stream, sessions))
        await forget_choices(tx, bot_scope(bot_id))
        await forget_secrets(tx, bot_scope(bot_id))
        await store.purge(tx, bot_id)
    return True


def _delete_folder(folders: BotFolders, bot: Bot) -> None:
    """Delete the folder, also if an interrupted delete left it in place. The slug of a deleted bot stays taken, so the folder is its own."""
    folders.move_to_trash(bot.slug, bot.id)
    folders.delete_from_trash(bot.id)
