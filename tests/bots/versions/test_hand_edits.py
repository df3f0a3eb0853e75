"""Files that somebody edits beside Forge: taken over, shown or blocked, and never overwritten."""

import asyncio
import os

import pytest
from tests.bots.versions.house import FIRST, START, House, another_process, soul

from forge.bots.errors import BotBlocked
from forge.bots.files.identity import change_identity
from forge.bots.models import BotFile, Identity, SkillEntry
from forge.bots.versions.models import BY_HAND, NewRollback
from forge.bots.versions.whole import BotFiles

SOUL, IDENTITY, USER, SKILLS = BotFile.SOUL, BotFile.IDENTITY, BotFile.USER, BotFile.SKILLS
EDITED = soul("Knows the winds.\n")
BAD_IDENTITY = "---\ndisplay_name: Atlas\ncategory: assistant\ntemperature: hot\n---\n"


async def test_a_valid_edit_of_a_file_that_is_no_soul_becomes_a_version(house: House):
    house.edit(USER, "Likes tea.\n")
    state = await house.versions.state(house.bot, USER)
    assert (state.content, state.version, state.is_accepted, state.diff) == ("Likes tea.\n", 2, True, None)
    assert (await house.history(USER))[0] == (2, BY_HAND, "Edited by hand")
    assert await house.told() == ["user"]


async def test_an_edited_identity_is_the_one_of_the_row(house: House):
    house.edit(IDENTITY, change_identity(FIRST[IDENTITY], {"display_name": "Atlas II"}))
    await house.versions.state(house.bot, IDENTITY)
    identity, updated_at = await house.row()
    assert identity.display_name == "Atlas II"
    assert updated_at > START


async def test_an_edited_soul_waits_for_a_person(house: House):
    house.edit(SOUL, EDITED)
    state = await house.versions.state(house.bot, SOUL)
    assert (state.content, state.version, state.is_accepted) == (EDITED, 1, False)
    assert state.diff
    assert (state.diff.left, state.diff.right, state.diff.added, state.diff.removed) == (
        "version 1",
        "the file on disk",
        1,
        1,
    )
    assert len(await house.history(SOUL)) == 1
    with pytest.raises(BotBlocked) as caught:
        await house.versions.whole(house.bot)
    assert caught.value.message == "SOUL.md was changed outside of Forge and nobody has accepted it."
    assert caught.value.hint
    for verb in ("diff", "accept", "rollback"):
        assert f"forge bots files {verb} atlas soul" in caught.value.hint


async def test_rolling_back_keeps_the_edit_in_the_history(house: House):
    house.edit(SOUL, EDITED)
    state = await house.versions.rollback(house.bot, SOUL, NewRollback(version=1), by="Ada")
    assert (state.content, state.version, state.is_accepted) == (FIRST[SOUL], 3, True)
    assert await house.history(SOUL) == [
        (3, "Ada", "Rollback to version 1"),
        (2, BY_HAND, "Edited by hand, not accepted"),
        (1, "Ada", "Created"),
    ]
    assert await house.text_of(SOUL, 2) == EDITED
    assert (await house.versions.whole(house.bot)).soul_version == 3


async def test_an_old_soul_that_is_put_back_by_hand_waits_too(house: House):
    await house.versions.rollback(house.bot, SOUL, NewRollback(version=1), by="Ada")
    house.edit(SOUL, EDITED)
    await house.versions.rollback(house.bot, SOUL, NewRollback(version=1), by="Ada")
    house.edit(SOUL, EDITED)
    state = await house.versions.state(house.bot, SOUL)
    assert (state.is_accepted, house.on_disk(SOUL)) == (False, EDITED)
    back = await house.versions.rollback(house.bot, SOUL, NewRollback(version=2), by="Ada")
    assert (back.content, back.is_accepted, back.version) == (EDITED, True, 4)


async def test_an_edit_with_a_mistake_stays_and_blocks(house: House):
    house.edit(IDENTITY, BAD_IDENTITY)
    state = await house.versions.state(house.bot, IDENTITY)
    assert (state.content, state.version, state.is_accepted) == (BAD_IDENTITY, 1, False)
    assert [problem.line for problem in state.problems] == [4]
    with pytest.raises(BotBlocked, match=r"^IDENTITY\.md, line 4: ") as caught:
        await house.versions.whole(house.bot)
    assert "\n" not in caught.value.message
    problems, reason = await house.versions.problems(house.bot)
    assert (problems, reason) == (state.problems, caught.value.message)
    assert (await house.row())[0] == Identity(display_name="Atlas")
    house.edit(IDENTITY, FIRST[IDENTITY])
    assert await house.versions.problems(house.bot) == ([], None)


async def test_a_mistake_is_kept_when_it_is_rolled_back(house: House):
    house.edit(IDENTITY, BAD_IDENTITY)
    await house.versions.rollback(house.bot, IDENTITY, NewRollback(version=1), by="Ada")
    assert await house.text_of(IDENTITY, 2) == BAD_IDENTITY
    assert house.on_disk(IDENTITY) == FIRST[IDENTITY]
    assert (await house.row())[0] == Identity(display_name="Atlas")


async def test_a_file_that_is_gone_blocks_and_comes_back(house: House):
    house.path(USER).unlink()
    state = await house.versions.state(house.bot, USER)
    assert (state.content, state.hash, state.is_accepted) == (None, None, False)
    assert [problem.message for problem in state.problems] == ["The file is gone."]
    with pytest.raises(BotBlocked, match=r"USER\.md: The file is gone\."):
        await house.versions.whole(house.bot)
    state = await house.versions.rollback(house.bot, USER, NewRollback(version=1), by="Ada")
    assert (state.content, state.is_accepted, house.on_disk(USER)) == (FIRST[USER], True, FIRST[USER])


@pytest.mark.parametrize("what", ["directory", "bytes", "nul", "link", "pipe"])
async def test_what_is_no_text_blocks_and_is_kept_aside(house: House, what: str):
    path = house.path(SOUL)
    path.unlink()
    match what:
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
    state = await house.versions.state(house.bot, SOUL)
    assert (state.content, state.is_accepted, len(state.problems)) == (None, False, 1)
    with pytest.raises(BotBlocked):
        await house.versions.whole(house.bot)
    state = await house.versions.rollback(house.bot, SOUL, NewRollback(version=1), by="Ada")
    assert (state.content, state.is_accepted) == (FIRST[SOUL], True)
    aside = [one for one in path.parent.iterdir() if one.name.startswith("SOUL.md.")]
    assert len(aside) == 1
    if what == "bytes":
        assert aside[0].read_bytes() == b"line\n\xff\xfe"
    if what == "directory":
        assert (aside[0] / "inside").read_text() == "kept"


async def test_a_folder_that_is_gone_blocks_and_comes_back_file_by_file(house: House):
    folder = house.path(SOUL).parent
    folder.rename(folder.with_name("elsewhere"))
    problems, reason = await house.versions.problems(house.bot)
    assert len(problems) == 4
    assert reason == "SOUL.md: The file is gone."
    for file in BotFile:
        await house.versions.rollback(house.bot, file, NewRollback(version=1), by="Ada")
    assert await house.versions.problems(house.bot) == ([], None)


async def test_the_whole_bot_is_what_its_files_say(house: House):
    house.edit(IDENTITY, change_identity(FIRST[IDENTITY], {"temperature": 0}))
    house.edit(USER, "Likes tea.\n")
    house.edit(SKILLS, '[skills.tides]\nskill_name = "tides"\n')
    found = await house.versions.whole(house.bot)
    assert found == BotFiles(
        soul=found.soul,
        soul_text=FIRST[SOUL],
        soul_version=1,
        identity=Identity(display_name="Atlas", temperature=0),
        user="Likes tea.",
        skills=[SkillEntry(skill_name="tides")],
    )
    assert (found.soul.name, found.soul.traits, found.soul.tone) == ("Atlas", ["calm"], "warm")


async def test_many_who_notice_the_same_edit_make_one_version(house: House):
    others = [house, another_process(house), another_process(house)]
    for number in range(2, 12):
        house.edit(USER, f"Likes tea, {number} cups.\n")
        looks = [other.versions.state(house.bot, USER) for other in others for _ in range(2)]
        assert {state.version for state in await asyncio.gather(*looks)} == {number}
    assert len(await house.history(USER)) == 11
    assert await house.told() == ["user"] * 10


async def test_an_edit_is_told_of_once_and_when_it_is_over(house: House):
    house.edit(SOUL, EDITED)
    await house.versions.notice("atlas")
    await house.versions.notice("atlas")
    assert await house.told() == ["soul"]
    house.edit(SOUL, soul("Knows the moon.\n"))
    await house.versions.notice("atlas")
    house.path(IDENTITY).unlink()
    await house.versions.notice("atlas")
    assert await house.told() == ["soul", "soul", "identity"]
    house.edit(SOUL, FIRST[SOUL])
    await house.versions.notice("atlas")
    await house.versions.notice("nobody")
    assert await house.told() == ["soul", "soul", "identity", "soul"]
