"""The folder watcher detects edits, however an editor makes them."""

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
async def bot_files(tmp_path: Path) -> AsyncIterator[BotOnDisk]:
    """Open a bot on SQLite; the watcher does not depend on the database."""
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    yield await open_bot(store, tmp_path / "data")
    await store.close()


class ReconcileProbe:
    """Records calls of `reconcile`, and lets the next `failures` calls fail."""

    def __init__(self, versions: Versions) -> None:
        self._reconcile = versions.reconcile
        self.is_busy = False
        self.ended = 0
        self.failures = 0

    async def __call__(self, slug: str | None = None) -> None:
        self.is_busy = True
        try:
            if self.failures:
                self.failures -= 1
                raise OSError("the disk is busy")
            await self._reconcile(slug)
        finally:
            self.is_busy = False
            self.ended += 1


@pytest.fixture
def probe(bot_files: BotOnDisk, monkeypatch: pytest.MonkeyPatch) -> ReconcileProbe:
    probe = ReconcileProbe(bot_files.versions)
    monkeypatch.setattr(bot_files.versions, "reconcile", probe)
    return probe


@pytest.fixture
async def watched(bot_files: BotOnDisk, probe: ReconcileProbe) -> AsyncIterator[BotOnDisk]:
    async with in_background(watch_folders(bot_files.folders, bot_files.versions), "watching"):
        await wait_for_changes(bot_files)
        yield bot_files


async def wait_for_changes(bot_files: BotOnDisk, *parts: str) -> None:
    """Wait until exactly these parts were published as changed and the watcher is idle."""
    probe = bot_files.versions.reconcile
    assert isinstance(probe, ReconcileProbe)
    async with asyncio.timeout(PATIENCE_S):
        while len(found := await bot_files.changed_parts()) < len(parts) or probe.is_busy or not probe.ended:
            await asyncio.sleep(0.02)
    assert found == list(parts)


async def test_edit_in_place_is_detected(watched: BotOnDisk):
    watched.edit(USER, "Likes tea.\n")
    await wait_for_changes(watched, "user")
    assert await watched.text_of(USER, 2) == "Likes tea.\n"


async def test_edited_soul_is_notified_and_unchanged(watched: BotOnDisk):
    watched.edit(SOUL, EDITED)
    await wait_for_changes(watched, "soul")
    assert len(await watched.history(SOUL)) == 1
    watched.edit(SOUL, FIRST[SOUL])
    await wait_for_changes(watched, "soul", "soul")
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
    await wait_for_changes(watched, "user")
    assert len(await watched.history(USER)) == 2


async def test_replaced_file_with_old_timestamps_is_detected(watched: BotOnDisk):
    new = watched.path(USER).with_name("draft")
    new.write_text("Likes tea.\n".ljust(len(FIRST[USER].encode())))
    status = watched.path(USER).stat()
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.rename(watched.path(USER))
    await wait_for_changes(watched, "user")


async def test_git_checkout_is_detected(watched: BotOnDisk):
    folder = watched.path(SOUL).parent
    git = ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@localhost"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
        await asyncio.to_thread(subprocess.run, [*git, *command], check=True)
    watched.edit(USER, "Likes tea.\n")
    await wait_for_changes(watched, "user")
    await asyncio.to_thread(subprocess.run, [*git, "checkout", "-q", "--", "."], check=True)
    await wait_for_changes(watched, "user", "user")
    assert [await watched.text_of(USER, number) for number in (1, 2, 3)] == [
        FIRST[USER],
        "Likes tea.\n",
        FIRST[USER],
    ]


async def test_removed_and_restored_folder_is_detected(watched: BotOnDisk):
    folder = watched.path(SOUL).parent
    folder.rename(folder.with_name(".elsewhere"))
    await wait_for_changes(watched, "soul", "identity", "user", "skills")
    folder.with_name(".elsewhere").rename(folder)
    await wait_for_changes(watched, *["soul", "identity", "user", "skills"] * 2)


async def test_error_is_notified_once(watched: BotOnDisk):
    watched.edit(IDENTITY, "---\ndisplay_name: [\n---\n")
    await wait_for_changes(watched, "identity")
    watched.edit(USER, "Likes tea.\n")
    await wait_for_changes(watched, "identity", "user")


async def test_edits_while_stopped_are_detected_at_start(bot_files: BotOnDisk, probe: ReconcileProbe):
    bot_files.edit(USER, "Likes tea.\n")
    bot_files.edit(SOUL, EDITED)
    async with in_background(watch_folders(bot_files.folders, bot_files.versions), "watching"):
        await wait_for_changes(bot_files, "user", "soul")
    assert probe.ended == 1


async def test_failed_reconcile_is_retried(
    bot_files: BotOnDisk,
    probe: ReconcileProbe,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    monkeypatch.setattr("forge.bots.background_jobs.RETRY_S", 0.05)
    probe.failures = 2
    async with in_background(watch_folders(bot_files.folders, bot_files.versions), "watching"):
        bot_files.edit(USER, "Likes tea.\n")
        await wait_for_changes(bot_files, "user")
        probe.failures = 2
        bot_files.edit(USER, "Likes coffee.\n")
        await wait_for_changes(bot_files, "user", "user")
    assert "cannot reconcile the files of all bots: the disk is busy" in caplog.text
    assert "cannot reconcile the files of atlas: the disk is busy" in caplog.text


@pytest.mark.parametrize("name", [b"\xff", "\u00e9".encode(), b"a b", b"--"])
async def test_unrelated_folder_is_ignored(watched: BotOnDisk, name: bytes):
    (watched.folders.root / os.fsdecode(name)).mkdir()
    watched.edit(USER, "Likes tea.\n")
    await wait_for_changes(watched, "user")
    watched.edit(USER, "Likes coffee.\n")
    await wait_for_changes(watched, "user", "user")


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
    await wait_for_changes(watched, "user")
