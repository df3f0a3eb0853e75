"""Saving, comparing and rolling back: every change is a version, and no text is lost."""

import pytest
from tests.bots.versions.bot_on_disk import FIRST, START, BotOnDisk, new_content, soul

from forge.bots.errors import BotBlocked, FileChanged
from forge.bots.files.identity import change_identity
from forge.bots.models import BotFile
from forge.bots.versions.models import BY_HAND, FileConflict, FileState, NewAcceptance, NewRollback
from forge.errors import Invalid, Malformed, NotFound
from forge.kernel.hashing import hash_text
from forge.store.database import Tx
from forge.store.pagination import Cursor

SOUL, IDENTITY, USER, SKILLS = BotFile.SOUL, BotFile.IDENTITY, BotFile.USER, BotFile.SKILLS
SECOND = soul("Knows the tides and the winds.\n")
THIRD = soul("Knows nothing.\n")
BROKEN = "---\nname: [\n---\n"


async def test_state_contains_hash_and_version(bot_files: BotOnDisk):
    assert await bot_files.versions.state(bot_files.bot, SOUL) == FileState(
        file=SOUL, content=FIRST[SOUL], hash=hash_text(FIRST[SOUL]), version=1, is_accepted=True
    )


async def test_save_creates_a_version_and_writes_the_file(bot_files: BotOnDisk):
    state = await bot_files.versions.save(
        bot_files.bot, SOUL, new_content(SECOND, FIRST[SOUL], "Winds"), by="Ada"
    )
    assert state == FileState(file=SOUL, content=SECOND, hash=hash_text(SECOND), version=2, is_accepted=True)
    assert bot_files.on_disk(SOUL) == SECOND
    assert await bot_files.history(SOUL) == [(2, "Ada", "Winds"), (1, "Ada", "Created")]
    assert await bot_files.text_of(SOUL, 1) == FIRST[SOUL]
    assert await bot_files.changed_parts() == ["soul"]
    assert (await bot_files.row())[1] > START


async def test_identical_save_changes_nothing(bot_files: BotOnDisk):
    state = await bot_files.versions.save(
        bot_files.bot, SOUL, new_content(FIRST[SOUL], FIRST[SOUL]), by="Ada"
    )
    assert (state.version, await bot_files.changed_parts()) == (1, [])


async def test_saved_identity_updates_the_row(bot_files: BotOnDisk):
    text = change_identity(FIRST[IDENTITY], {"display_name": "Atlas II", "temperature": 0.1})
    await bot_files.versions.save(bot_files.bot, IDENTITY, new_content(text, FIRST[IDENTITY]), by="Ada")
    identity, _ = await bot_files.row()
    assert (identity.display_name, identity.temperature) == ("Atlas II", 0.1)


async def test_invalid_text_is_not_saved_and_problems_are_listed(bot_files: BotOnDisk):
    with pytest.raises(Invalid) as caught:
        await bot_files.versions.save(bot_files.bot, SOUL, new_content(BROKEN, FIRST[SOUL]), by="Ada")
    assert caught.value.message.startswith("SOUL.md, line ")
    assert caught.value.detail
    assert [problem["file"] for problem in caught.value.detail["problems"]] == ["soul"]
    assert bot_files.on_disk(SOUL) == FIRST[SOUL]
    assert len(await bot_files.history(SOUL)) == 1


async def test_draft_is_checked_without_saving(bot_files: BotOnDisk):
    assert await bot_files.versions.find_problems(SOUL, SECOND) == []
    (problem,) = await bot_files.versions.find_problems(SOUL, BROKEN)
    assert problem.line
    assert len(await bot_files.history(SOUL)) == 1


async def test_stale_save_returns_diff(bot_files: BotOnDisk):
    await bot_files.versions.save(bot_files.bot, SOUL, new_content(SECOND, FIRST[SOUL]), by="Ada")
    with pytest.raises(FileChanged) as caught:
        await bot_files.versions.save(bot_files.bot, SOUL, new_content(THIRD, FIRST[SOUL]), by="Bob")
    conflict = FileConflict.model_validate(caught.value.detail)
    assert conflict.current == await bot_files.versions.state(bot_files.bot, SOUL)
    assert conflict.theirs
    assert (conflict.theirs.left, conflict.theirs.right) == ("version 1", "the file on disk")
    assert "Knows the tides and the winds." in [row.right for row in conflict.theirs.rows]
    assert (conflict.yours.left, conflict.yours.right) == ("the file on disk", "your text")
    assert "Knows nothing." in [row.right for row in conflict.yours.rows]
    assert len(await bot_files.history(SOUL)) == 2


async def test_conflict_with_unknown_base_has_no_theirs(bot_files: BotOnDisk):
    with pytest.raises(FileChanged) as caught:
        await bot_files.versions.save(bot_files.bot, SOUL, new_content(THIRD, "unknown base"), by="Bob")
    assert FileConflict.model_validate(caught.value.detail).theirs is None


async def test_rollback_makes_an_old_version_the_newest(bot_files: BotOnDisk):
    await bot_files.versions.save(bot_files.bot, SOUL, new_content(SECOND, FIRST[SOUL]), by="Ada")
    state = await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Bob")
    assert (state.content, state.version, state.is_accepted) == (FIRST[SOUL], 3, True)
    assert bot_files.on_disk(SOUL) == FIRST[SOUL]
    assert (await bot_files.history(SOUL))[0] == (3, "Bob", "Rollback to version 1")
    same = await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Bob")
    assert same.version == 3


async def test_rollback_of_an_identity_updates_the_row(bot_files: BotOnDisk):
    text = change_identity(FIRST[IDENTITY], {"display_name": "Atlas II"})
    await bot_files.versions.save(bot_files.bot, IDENTITY, new_content(text, FIRST[IDENTITY]), by="Ada")
    await bot_files.versions.rollback(bot_files.bot, IDENTITY, NewRollback(version=1), by="Ada")
    assert (await bot_files.row())[0].display_name == "Atlas"


async def test_invalid_version_cannot_be_restored(bot_files: BotOnDisk):
    bot_files.edit(SOUL, BROKEN)
    await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Ada")
    with pytest.raises(Invalid):
        await bot_files.versions.rollback(bot_files.bot, SOUL, NewRollback(version=2), by="Ada")
    assert bot_files.on_disk(SOUL) == FIRST[SOUL]


async def test_unknown_version_is_not_found(bot_files: BotOnDisk):
    with pytest.raises(NotFound):
        await bot_files.versions.get(bot_files.bot, SOUL, 2)
    with pytest.raises(NotFound):
        await bot_files.versions.rollback(bot_files.bot, USER, NewRollback(version=9), by="Ada")


async def test_versions_are_compared_with_each_other_and_with_the_file(bot_files: BotOnDisk):
    await bot_files.versions.save(bot_files.bot, SOUL, new_content(SECOND, FIRST[SOUL]), by="Ada")
    between = await bot_files.versions.diff(bot_files.bot, SOUL, 1, 2)
    to_disk = await bot_files.versions.diff(bot_files.bot, SOUL, 1, None)
    assert (between.left, between.right, between.added, between.removed) == ("version 1", "version 2", 1, 1)
    assert to_disk == between.model_copy(update={"right": "the file on disk"})


async def test_history_is_paginated(bot_files: BotOnDisk):
    base = FIRST[USER]
    for number in range(2, 6):
        text = f"{FIRST[USER]}\n{number} ü\n"
        await bot_files.versions.save(bot_files.bot, USER, new_content(text, base), by="Ada")
        base = text
    seen: list[int] = []
    cursor = None
    while True:
        page = await bot_files.versions.history(bot_files.bot, USER, cursor=cursor, limit=2)
        seen += [version.number for version in page.items]
        if page.next_cursor is None:
            break
        cursor = Cursor.decode(page.next_cursor)
    assert seen == [5, 4, 3, 2, 1]
    assert (await bot_files.all_versions(USER))[0].bytes == len(base.encode())
    with pytest.raises(Malformed):
        await bot_files.versions.history(bot_files.bot, USER, cursor=Cursor(START, "x"), limit=2)


async def test_files_are_versioned_independently(bot_files: BotOnDisk):
    await bot_files.versions.save(bot_files.bot, USER, new_content("Likes tea.\n", FIRST[USER]), by="Ada")
    assert [(await bot_files.versions.state(bot_files.bot, file)).version for file in BotFile] == [1, 1, 2, 1]
    assert await bot_files.changed_parts() == ["user"]


async def test_save_over_a_hand_edit_keeps_it_in_the_history(bot_files: BotOnDisk):
    bot_files.edit(SOUL, SECOND)
    state = await bot_files.versions.save(bot_files.bot, SOUL, new_content(THIRD, SECOND, "Less"), by="Ada")
    assert (state.version, state.is_accepted, bot_files.on_disk(SOUL)) == (3, True, THIRD)
    assert (await bot_files.history(SOUL))[:2] == [
        (3, "Ada", "Less"),
        (2, BY_HAND, "Edited by hand, not accepted"),
    ]
    assert await bot_files.text_of(SOUL, 2) == SECOND


async def test_saving_a_hand_edit_unchanged_accepts_it(bot_files: BotOnDisk):
    bot_files.edit(SOUL, SECOND)
    state = await bot_files.versions.save(bot_files.bot, SOUL, new_content(SECOND, SECOND), by="Ada")
    assert (state.version, state.is_accepted) == (2, True)
    assert (await bot_files.history(SOUL))[0] == (2, "Ada", "Edited by hand, accepted")


async def test_unseen_hand_edit_is_a_conflict(bot_files: BotOnDisk):
    bot_files.edit(SOUL, SECOND)
    with pytest.raises(FileChanged) as caught:
        await bot_files.versions.save(bot_files.bot, SOUL, new_content(THIRD, FIRST[SOUL]), by="Ada")
    assert FileConflict.model_validate(caught.value.detail).current.is_accepted is False
    assert bot_files.on_disk(SOUL) == SECOND


async def test_accept_requires_reviewed_hash(bot_files: BotOnDisk):
    bot_files.edit(SOUL, SECOND)
    seen = NewAcceptance(hash=hash_text(SECOND))
    bot_files.edit(SOUL, THIRD)
    with pytest.raises(FileChanged) as caught:
        await bot_files.versions.accept(bot_files.bot, SOUL, seen, by="Ada")
    assert FileConflict.model_validate(caught.value.detail).current.content == THIRD
    state = await bot_files.versions.accept(
        bot_files.bot, SOUL, NewAcceptance(hash=hash_text(THIRD)), by="Ada"
    )
    assert (state.version, state.is_accepted) == (2, True)
    assert (await bot_files.history(SOUL))[0] == (2, "Ada", "Edited by hand, accepted")
    again = await bot_files.versions.accept(
        bot_files.bot, SOUL, NewAcceptance(hash=hash_text(THIRD)), by="Ada"
    )
    assert again.version == 2


async def test_invalid_hand_edit_cannot_be_accepted(bot_files: BotOnDisk):
    bot_files.edit(SOUL, BROKEN)
    with pytest.raises(Invalid):
        await bot_files.versions.accept(bot_files.bot, SOUL, NewAcceptance(hash=hash_text(BROKEN)), by="Ada")
    assert len(await bot_files.history(SOUL)) == 1


async def test_large_text_of_wide_characters_is_saved(bot_files: BotOnDisk):
    text = soul("🌊" * 190_000)
    state = await bot_files.versions.save(bot_files.bot, SOUL, new_content(text, FIRST[SOUL]), by="Ada")
    assert (state.content, state.is_accepted) == (text, True)
    assert (await bot_files.all_versions(SOUL))[0].bytes == len(text.encode())


async def test_several_files_are_saved_in_one_transaction(bot_files: BotOnDisk):
    identity = change_identity(FIRST[IDENTITY], {"display_name": "Atlas II"})
    new = {
        SOUL: new_content(SECOND, FIRST[SOUL], "Both"),
        IDENTITY: new_content(identity, FIRST[IDENTITY], "Both"),
    }
    transactions: list[Tx] = []

    async def settle(tx: Tx) -> None:
        transactions.append(tx)

    await bot_files.versions.save_all(bot_files.bot, new, by="Ada", in_transaction=settle)
    assert (bot_files.on_disk(SOUL), bot_files.on_disk(IDENTITY), len(transactions)) == (SECOND, identity, 1)
    assert await bot_files.history(SOUL) == [(2, "Ada", "Both"), (1, "Ada", "Created")]
    assert (await bot_files.row())[0].display_name == "Atlas II"
    assert await bot_files.changed_parts() == ["soul", "identity"]


async def test_failed_save_of_several_files_saves_none(bot_files: BotOnDisk):
    async def settle(_tx: Tx) -> None:
        raise NotFound("There is nothing to settle.")

    good = new_content(SECOND, FIRST[SOUL])
    user = new_content("# Preferences\n\nBrief.\n", FIRST[USER])
    for new, error in (
        ({SOUL: good, USER: user}, NotFound),
        ({SOUL: good, IDENTITY: new_content(BROKEN, FIRST[IDENTITY])}, Invalid),
        ({SOUL: good, USER: new_content("Brief.\n", "unknown base")}, FileChanged),
    ):
        with pytest.raises(error):
            await bot_files.versions.save_all(bot_files.bot, new, by="Ada", in_transaction=settle)
        assert (bot_files.on_disk(SOUL), bot_files.on_disk(USER)) == (FIRST[SOUL], FIRST[USER])
        assert len(await bot_files.history(SOUL)) == 1


async def test_several_files_are_not_saved_over_an_unaccepted_soul(bot_files: BotOnDisk):
    async def settle(_tx: Tx) -> None:
        raise AssertionError

    bot_files.edit(SOUL, SECOND)
    with pytest.raises(BotBlocked):
        await bot_files.versions.save_all(
            bot_files.bot, {USER: new_content("Brief.\n", FIRST[USER])}, by="Ada", in_transaction=settle
        )
    assert bot_files.on_disk(USER) == FIRST[USER]
