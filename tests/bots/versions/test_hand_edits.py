"""Files edited outside of Forge: accepted, shown or blocked, and never overwritten."""

import asyncio
import os

import pytest
from tests.bots.versions.bot_on_disk import FIRST, START, BotOnDisk, another_process, soul

from forge.bots.errors import BotBlocked
from forge.bots.files.identity import change_identity
from forge.bots.models import BotFile, Identity, SkillEntry
from forge.bots.versions.file_status import BotFiles
from forge.bots.versions.models import BY_HAND, NewRollback

SOUL, IDENTITY, USER, SKILLS = BotFile.SOUL, BotFile.IDENTITY, BotFile.USER, BotFile.SKILLS
EDITED = soul("Knows the winds.\n")
BAD_IDENTITY = "---\ndisplay_name: Atlas\ncategory: assistant\ntemperature: hot\n---\n"


async def test_valid_edit_of_the_user_file_becomes_a_version(bot_files: BotOnDisk):
    bot_files.edit(USER, "Likes tea.\n")
    state = await bot_files.versions.state(bot_files.bot, USER)
    assert (state.content, state.version, state.is_accepted, state.diff) == ("Likes tea.\n", 2, True, None)
    assert (await bot_files.history(USER))[0] == (2, BY_HAND, "Edited by hand")
    assert await bot_files.changed_parts() == ["user"]


async def test_identity_edit_updates_the_row(bot_files: BotOnDisk):
    bot_files.edit(IDENTITY, change_identity(FIRST[IDENTITY], {"display_name": "Atlas II"}))
    await bot_files.versions.state(bot_files.bot, IDENTITY)
    identity, updated_at = await bot_files.row()
    assert identity.display_name == "Atlas II"
    assert updated_at > START


async def test_soul_edit_waits_for_acceptance(bot_files: BotOnDisk):
    bot_files.edit(SOUL, EDITED)
    state = await bot_files.versions.state(bot_files.bot, SOUL)
    assert (state.content, state.version, state.is_accepted) == (EDITED, 1, False)
    assert state.diff
    assert (state.diff.left, state.diff.right, state.diff.added, state.diff.removed) == (
        "version 1",
        "the file on disk",
        1,
        1,
    )
    assert len(await bot_files.history(SOUL)) == 1
    with pytest.raises(BotBlocked) as caught:
        await bot_files.versions.bot_files(bot_files.bot)
    assert caught.value.message == "SOUL.md was changed outside of Forge and the change was not accepted."
    assert caught.value.hint
    for verb in ("diff", "accept", "rollback"):
        assert f"forge bots files {verb} atlas soul" in caught.value.hint


async def test_rollback_keeps_the_edit_in_the_history(bot_files: BotOnDisk):
    bot_files.edit(SOUL, EDITED)
    state = await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Ada")
    assert (state.content, state.version, state.is_accepted) == (FIRST[SOUL], 3, True)
    assert await bot_files.history(SOUL) == [
        (3, "Ada", "Rollback to version 1"),
        (2, BY_HAND, "Edited by hand, not accepted"),
        (1, "Ada", "Created"),
    ]
    assert await bot_files.text_of(SOUL, 2) == EDITED
    assert (await bot_files.versions.bot_files(bot_files.bot)).soul_version == 3


async def test_old_soul_restored_by_hand_waits_for_acceptance(bot_files: BotOnDisk):
    await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Ada")
    bot_files.edit(SOUL, EDITED)
    await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Ada")
    bot_files.edit(SOUL, EDITED)
    state = await bot_files.versions.state(bot_files.bot, SOUL)
    assert (state.is_accepted, bot_files.on_disk(SOUL)) == (False, EDITED)
    back = await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=2), by="Ada")
    assert (back.content, back.is_accepted, back.version) == (EDITED, True, 4)


async def test_invalid_edit_is_kept_and_blocks_the_bot(bot_files: BotOnDisk):
    bot_files.edit(IDENTITY, BAD_IDENTITY)
    state = await bot_files.versions.state(bot_files.bot, IDENTITY)
    assert (state.content, state.version, state.is_accepted) == (BAD_IDENTITY, 1, False)
    assert [problem.line for problem in state.problems] == [4]
    with pytest.raises(BotBlocked, match=r"^IDENTITY\.md, line 4: ") as caught:
        await bot_files.versions.bot_files(bot_files.bot)
    assert "\n" not in caught.value.message
    problems, reason = await bot_files.versions.problems(bot_files.bot)
    assert (problems, reason) == (state.problems, caught.value.message)
    assert (await bot_files.row())[0] == Identity(display_name="Atlas")
    bot_files.edit(IDENTITY, FIRST[IDENTITY])
    assert await bot_files.versions.problems(bot_files.bot) == ([], None)


async def test_rollback_keeps_the_invalid_edit_in_the_history(bot_files: BotOnDisk):
    bot_files.edit(IDENTITY, BAD_IDENTITY)
    await bot_files.versions.rollback(bot_files.bot, IDENTITY, NewRollback(version=1), by="Ada")
    assert await bot_files.text_of(IDENTITY, 2) == BAD_IDENTITY
    assert bot_files.on_disk(IDENTITY) == FIRST[IDENTITY]
    assert (await bot_files.row())[0] == Identity(display_name="Atlas")


async def test_missing_file_blocks_the_bot_until_rolled_back(bot_files: BotOnDisk):
    bot_files.path(USER).unlink()
    state = await bot_files.versions.state(bot_files.bot, USER)
    assert (state.content, state.hash, state.is_accepted) == (None, None, False)
    assert [problem.message for problem in state.problems] == ["The file is missing."]
    with pytest.raises(BotBlocked, match=r"USER\.md: The file is missing\."):
        await bot_files.versions.bot_files(bot_files.bot)
    state = await bot_files.versions.rollback(bot_files.bot, USER, NewRollback(version=1), by="Ada")
    assert (state.content, state.is_accepted, bot_files.on_disk(USER)) == (FIRST[USER], True, FIRST[USER])


@pytest.mark.parametrize("kind", ["directory", "bytes", "nul", "link", "pipe"])
async def test_binary_file_blocks_and_is_set_aside(bot_files: BotOnDisk, kind: str):
    path = bot_files.path(SOUL)
    path.unlink()
    match kind:
        case "directory":
            path.mkdir()
            (path / "inside").write_text("kept")
        case "bytes":
            path.write_bytes(b"line\n\xff\xfe")
        case "nul":
            path.write_bytes(b"line\n\x00")
        case "link":
            path.symlink_to("/etc/passwd")
        case _:
            os.mkfifo(path)
    state = await bot_files.versions.state(bot_files.bot, SOUL)
    assert (state.content, state.is_accepted, len(state.problems)) == (None, False, 1)
    with pytest.raises(BotBlocked):
        await bot_files.versions.bot_files(bot_files.bot)
    state = await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Ada")
    assert (state.content, state.is_accepted) == (FIRST[SOUL], True)
    aside = [one for one in path.parent.iterdir() if one.name.startswith("SOUL.md.")]
    assert len(aside) == 1
    if kind == "bytes":
        assert aside[0].read_bytes() == b"line\n\xff\xfe"
    if kind == "directory":
        assert (aside[0] / "inside").read_text() == "kept"


async def test_missing_folder_blocks_the_bot_until_each_file_is_rolled_back(bot_files: BotOnDisk):
    folder = bot_files.path(SOUL).parent
    folder.rename(folder.with_name("elsewhere"))
    problems, reason = await bot_files.versions.problems(bot_files.bot)
    assert len(problems) == 4
    assert reason == "SOUL.md: The file is missing."
    for file in BotFile:
        await bot_files.versions.rollback(bot_files.bot, file, NewRollback(version=1), by="Ada")
    assert await bot_files.versions.problems(bot_files.bot) == ([], None)


async def test_bot_is_read_from_its_files(bot_files: BotOnDisk):
    bot_files.edit(IDENTITY, change_identity(FIRST[IDENTITY], {"temperature": 0}))
    bot_files.edit(USER, "Likes tea.\n")
    bot_files.edit(SKILLS, '[skills.tides]\nskill_name = "tides"\n')
    found = await bot_files.versions.bot_files(bot_files.bot)
    assert found == BotFiles(
        soul=found.soul,
        soul_text=FIRST[SOUL],
        soul_version=1,
        identity=Identity(display_name="Atlas", temperature=0),
        user="Likes tea.",
        skills=[SkillEntry(skill_name="tides")],
    )
    assert (found.soul.name, found.soul.traits, found.soul.tone) == ("Atlas", ["calm"], "warm")


async def test_concurrent_reconciles_create_one_version(bot_files: BotOnDisk):
    others = [bot_files, another_process(bot_files), another_process(bot_files)]
    for number in range(2, 12):
        bot_files.edit(USER, f"Likes tea, {number} cups.\n")
        reads = [other.versions.state(bot_files.bot, USER) for other in others for _ in range(2)]
        assert {state.version for state in await asyncio.gather(*reads)} == {number}
    assert len(await bot_files.history(USER)) == 11
    assert await bot_files.changed_parts() == ["user"] * 10


async def test_edit_is_notified_once_and_when_resolved(bot_files: BotOnDisk):
    bot_files.edit(SOUL, EDITED)
    await bot_files.versions.reconcile("atlas")
    await bot_files.versions.reconcile("atlas")
    assert await bot_files.changed_parts() == ["soul"]
    bot_files.edit(SOUL, soul("Knows the moon.\n"))
    await bot_files.versions.reconcile("atlas")
    bot_files.path(IDENTITY).unlink()
    await bot_files.versions.reconcile("atlas")
    assert await bot_files.changed_parts() == ["soul", "soul", "identity"]
    bot_files.edit(SOUL, FIRST[SOUL])
    await bot_files.versions.reconcile("atlas")
    await bot_files.versions.reconcile("nobody")
    assert await bot_files.changed_parts() == ["soul", "soul", "identity", "soul"]
