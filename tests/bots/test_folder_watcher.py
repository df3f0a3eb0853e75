"""Edits are noticed without being asked for, however an editor makes them."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.bots.versions.bot_on_disk import FIRST, BotOnDisk, open_bot, soul
from tests.support.timeouts import PATIENCE_S

from forge.bots.background_jobs import watch_folders
from forge.bots.models import BotFile
from forge.bots.versions.service import Versions
from forge.kernel.background import in_background
from forge.store.database import Store
from forge.store.schema import migrate

SOUL, IDENTITY, USER = BotFile.SOUL, BotFile.IDENTITY, BotFile.USER
EDITED = soul("Knows the winds.\n")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[BotOnDisk]:
    """On one database: what is noticed has nothing to do with it."""
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    yield await open_bot(store, tmp_path / "data")
    await store.close()


class Noticing:
    """Whether the watcher is at it; it fails as often as it is told to."""

    def __init__(self, versions: Versions) -> None:
        self._notice = versions.reconcile
        self.is_busy = False
        self.ended = 0
        self.failures = 0

    async def __call__(self, slug: str | None = None) -> None:
        self.is_busy = True
        try:
            if self.failures:
                self.failures -= 1
                raise OSError("the disk is busy")
            await self._notice(slug)
        finally:
            self.is_busy = False
            self.ended += 1


@pytest.fixture
def noticing(house: BotOnDisk, monkeypatch: pytest.MonkeyPatch) -> Noticing:
    noticing = Noticing(house.versions)
    monkeypatch.setattr(house.versions, "reconcile", noticing)
    return noticing


@pytest.fixture
async def watched(house: BotOnDisk, noticing: Noticing) -> AsyncIterator[BotOnDisk]:
    async with in_background(watch_folders(house.folders, house.versions), "watching"):
        await told(house)
        yield house


async def told(house: BotOnDisk, *parts: str) -> None:
    """Wait until the account was told of these, and nothing else, and the watcher rests."""
    noticing = house.versions.reconcile
    assert isinstance(noticing, Noticing)
    async with asyncio.timeout(PATIENCE_S):
        while len(found := await house.told()) < len(parts) or noticing.is_busy or not noticing.ended:
            await asyncio.sleep(0.02)
    assert found == list(parts)


async def test_edit_in_place_is_detected(watched: BotOnDisk):
    watched.edit(USER, "Likes tea.\n")
    await told(watched, "user")
    assert await watched.text_of(USER, 2) == "Likes tea.\n"


async def test_edited_soul_is_notified_and_unchanged(watched: BotOnDisk):
    watched.edit(SOUL, EDITED)
    await told(watched, "soul")
    assert len(await watched.history(SOUL)) == 1
    watched.edit(SOUL, FIRST[SOUL])
    await told(watched, "soul", "soul")
    assert (await watched.versions.state(watched.bot, SOUL)).is_accepted


async def test_vim_style_save_creates_one_version(watched: BotOnDisk):
    """A swap file, a probe, the old file renamed to a backup, a new one written, the backup removed."""
    path = watched.path(USER)
    swap, probe, backup = path.with_name(".USER.md.swp"), path.with_name("4913"), path.with_name("USER.md~")
    swap.write_bytes(b"b0VIM 9.0")
    probe.write_text("")
    probe.unlink()
    path.rename(backup)
    path.write_text("Likes tea.\n")
    backup.unlink()
    swap.unlink()
    await told(watched, "user")
    assert len(await watched.history(USER)) == 2


async def test_replaced_file_with_old_timestamps_is_detected(watched: BotOnDisk):
    new = watched.path(USER).with_name("draft")
    new.write_text("Likes tea.\n".ljust(len(FIRST[USER].encode())))
    status = watched.path(USER).stat()
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.rename(watched.path(USER))
    await told(watched, "user")


async def test_git_checkout_is_detected(watched: BotOnDisk):
    folder = watched.path(SOUL).parent
    git = ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@localhost"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
        await asyncio.to_thread(subprocess.run, [*git, *command], check=True)
    watched.edit(USER, "Likes tea.\n")
    await told(watched, "user")
    await asyncio.to_thread(subprocess.run, [*git, "checkout", "-q", "--", "."], check=True)
    await told(watched, "user", "user")
    assert [await watched.text_of(USER, number) for number in (1, 2, 3)] == [
        FIRST[USER],
        "Likes tea.\n",
        FIRST[USER],
    ]


async def test_removed_and_restored_folder_is_detected(watched: BotOnDisk):
    folder = watched.path(SOUL).parent
    folder.rename(folder.with_name(".elsewhere"))
    await told(watched, "soul", "identity", "user", "skills")
    folder.with_name(".elsewhere").rename(folder)
    await told(watched, *["soul", "identity", "user", "skills"] * 2)


async def test_error_is_notified_once(watched: BotOnDisk):
    watched.edit(IDENTITY, "---\ndisplay_name: [\n---\n")
    await told(watched, "identity")
    watched.edit(USER, "Likes tea.\n")
    await told(watched, "identity", "user")


async def test_edits_while_stopped_are_detected_at_start(house: BotOnDisk, noticing: Noticing):
    house.edit(USER, "Likes tea.\n")
    house.edit(SOUL, EDITED)
    async with in_background(watch_folders(house.folders, house.versions), "watching"):
        await told(house, "user", "soul")
    assert noticing.ended == 1


async def test_failed_reconcile_is_retried(
    house: BotOnDisk, noticing: Noticing, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("forge.bots.background_jobs.RETRY_S", 0.05)
    noticing.failures = 2
    async with in_background(watch_folders(house.folders, house.versions), "watching"):
        house.edit(USER, "Likes tea.\n")
        await told(house, "user")
        noticing.failures = 2
        house.edit(USER, "Likes coffee.\n")
        await told(house, "user", "user")
    assert "cannot reconcile the files of all bots: the disk is busy" in caplog.text
    assert "cannot reconcile the files of atlas: the disk is busy" in caplog.text


@pytest.mark.parametrize("name", [b"\xff", "\u00e9".encode(), b"a b", b"--"])
async def test_unrelated_folder_is_ignored(watched: BotOnDisk, name: bytes):
    (watched.folders.root / os.fsdecode(name)).mkdir()
    watched.edit(USER, "Likes tea.\n")
    await told(watched, "user")
    watched.edit(USER, "Likes coffee.\n")
    await told(watched, "user", "user")


async def test_missing_root_does_not_stop_watcher(
    watched: BotOnDisk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("forge.bots.background_jobs.RETRY_S", 0.05)
    root = watched.folders.root
    root.rename(root.with_name("elsewhere"))
    root.write_text("no folder")
    async with asyncio.timeout(PATIENCE_S):
        while "cannot scan the bots directory" not in caplog.text:
            await asyncio.sleep(0.02)
    root.unlink()
    root.with_name("elsewhere").rename(root)
    watched.edit(USER, "Likes tea.\n")
    await told(watched, "user")
