"""Edits are noticed without being asked for, however an editor makes them."""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.bots.versions.house import FIRST, House, open_house, soul

from forge.bots.models import BotFile
from forge.bots.watching import watch
from forge.kernel.background import in_background
from forge.store.engine import Store
from forge.store.schema import migrate

SOUL, IDENTITY, USER = BotFile.SOUL, BotFile.IDENTITY, BotFile.USER
COFFEE = "Likes coffee.\n"
EDITED = soul("Knows the winds.\n")


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    """On one database: what is noticed has nothing to do with it."""
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    house = await open_house(store, tmp_path / "data")
    house.edit(USER, COFFEE)
    async with in_background(watch(house.folders, house.versions), "watching"):
        await told(house, "user", start=0)  # it is at work
        yield house
    await store.close()


async def told(house: House, *parts: str, start: int = 1) -> None:
    """Wait until the account was told of these, and nothing else, since the watcher began its work."""
    async with asyncio.timeout(60):
        while len(found := (await house.told())[start:]) < len(parts):
            await asyncio.sleep(0.02)
    assert sorted(found) == sorted(parts)


async def test_an_edit_in_place_is_noticed(house: House):
    house.edit(USER, "Likes tea.\n")
    await told(house, "user")
    assert await house.text_of(USER, 3) == "Likes tea.\n"


async def test_an_edited_soul_is_told_of_and_left_alone(house: House):
    house.edit(SOUL, EDITED)
    await told(house, "soul")
    assert len(await house.history(SOUL)) == 1
    house.edit(SOUL, FIRST[SOUL])
    await told(house, "soul", "soul")
    assert (await house.versions.state(house.bot, SOUL)).is_accepted


async def test_an_editor_that_writes_as_vim_does_makes_one_version(house: House):
    """A swap file, a probe, the old file renamed to a backup, a new one written, the backup removed."""
    path = house.path(USER)
    swap, probe, backup = path.with_name(".USER.md.swp"), path.with_name("4913"), path.with_name("USER.md~")
    swap.write_bytes(b"b0VIM 9.0")
    probe.write_text("")
    probe.unlink()
    path.rename(backup)
    path.write_text("Likes tea.\n")
    backup.unlink()
    swap.unlink()
    await told(house, "user")
    assert len(await house.history(USER)) == 3


async def test_a_file_that_replaces_another_is_noticed_with_its_old_times(house: House):
    new = house.path(USER).with_name("draft")
    new.write_text("Likes cocoa.\n".ljust(len(COFFEE)))
    status = house.path(USER).stat()
    os.utime(new, ns=(status.st_atime_ns, status.st_mtime_ns))
    new.rename(house.path(USER))
    await told(house, "user")


async def test_a_checkout_with_git_is_noticed(house: House):
    folder = house.path(SOUL).parent
    git = ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@localhost"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "First"]):
        await asyncio.to_thread(subprocess.run, [*git, *command], check=True)
    house.edit(USER, "Likes tea.\n")
    await told(house, "user")
    await asyncio.to_thread(subprocess.run, [*git, "checkout", "-q", "--", "."], check=True)
    await told(house, "user", "user")
    assert [await house.text_of(USER, number) for number in (2, 3, 4)] == [COFFEE, "Likes tea.\n", COFFEE]


async def test_a_folder_that_goes_and_comes_back_is_noticed(house: House):
    folder = house.path(SOUL).parent
    folder.rename(folder.with_name(".elsewhere"))
    await told(house, "soul", "identity", "user", "skills")
    folder.with_name(".elsewhere").rename(folder)
    await told(house, *["soul", "identity", "user", "skills"] * 2)


async def test_a_mistake_is_told_of_once(house: House):
    house.edit(IDENTITY, "---\ndisplay_name: [\n---\n")
    await told(house, "identity")
    house.edit(USER, "Likes tea.\n")
    await told(house, "identity", "user")


async def test_edits_made_while_forge_was_away_are_noticed_at_its_start(tmp_path: Path):
    store = Store(f"sqlite:///{tmp_path / 'forge.db'}")
    await migrate(store)
    house = await open_house(store, tmp_path / "data")
    house.edit(USER, "Likes tea.\n")
    house.edit(SOUL, EDITED)
    async with in_background(watch(house.folders, house.versions), "watching"):
        await told(house, "user", "soul", start=0)
    await store.close()


async def test_what_could_not_be_looked_at_is_looked_at_again(
    house: House, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    monkeypatch.setattr("forge.bots.watching.AGAIN_S", 0.05)
    real, failures = house.versions.notice, [OSError("the disk is busy")] * 3

    async def notice(slug: str | None = None) -> None:
        if failures:
            raise failures.pop()
        await real(slug)

    monkeypatch.setattr(house.versions, "notice", notice)
    house.edit(USER, "Likes tea.\n")
    await told(house, "user")
    assert "the files of atlas could not be looked at: the disk is busy" in caplog.text
