"""Concurrent saves and killed processes: no lost updates and no spurious edits."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.bots.versions.bot_on_disk import FIRST, BotOnDisk, another_process, new_content, soul

from forge.bots.errors import FileChanged
from forge.bots.models import BotFile
from forge.bots.versions.models import BY_HAND, FileState, NewAcceptance, NewRollback
from forge.kernel.hashing import hash_text

SOUL, USER = BotFile.SOUL, BotFile.USER
ROOT = Path(__file__).parents[3]
ROUNDS = 15
EDITED = soul("Knows the winds.\n")


async def save(bot_files: BotOnDisk, file: BotFile, text: str, base: str, by: str) -> FileState | FileChanged:
    try:
        return await bot_files.versions.save(bot_files.bot, file, new_content(text, base, text[-40:]), by=by)
    except FileChanged as error:
        return error


@pytest.mark.parametrize("file", [SOUL, USER])
async def test_concurrent_saves_conflict(bot_files: BotOnDisk, file: BotFile):
    """Every save is a version or a conflict, within one process and across two."""
    base, seen = FIRST[file], [FIRST[file]]
    editors = [bot_files, another_process(bot_files), bot_files]
    for turn in range(ROUNDS):
        texts = [soul(f"Turn {turn}, editor {number}.\n") for number in range(len(editors))]
        saves = [save(one, file, text, base, "Ada") for one, text in zip(editors, texts, strict=True)]
        results = await asyncio.gather(*saves)
        saved = [text for text, result in zip(texts, results, strict=True) if isinstance(result, FileState)]
        assert len(saved) == 1, results
        base = bot_files.on_disk(file)
        assert saved == [base]
        seen.append(base)
    kept = [await bot_files.text_of(file, number) for number in range(1, ROUNDS + 2)]
    assert kept == seen
    assert BY_HAND not in [author for _, author, _ in await bot_files.history(file)]


async def test_reader_never_mistakes_save_for_edit(bot_files: BotOnDisk):
    reader, base = another_process(bot_files), FIRST[SOUL]
    for turn in range(ROUNDS):
        text = soul(f"Turn {turn}.\n")
        reads = [reader.versions.state(bot_files.bot, SOUL) for _ in range(4)]
        results = await asyncio.gather(save(bot_files, SOUL, text, base, "Ada"), *reads)
        assert [result.is_accepted for result in results if isinstance(result, FileState)] == [True] * 5
        base = text
    assert BY_HAND not in [author for _, author, _ in await bot_files.history(SOUL)]


async def test_concurrent_accept_and_rollback_are_both_in_the_history(bot_files: BotOnDisk):
    bot_files.edit(SOUL, EDITED)
    other = another_process(bot_files)
    await asyncio.gather(
        bot_files.versions.accept(bot_files.bot, SOUL, NewAcceptance(hash=hash_text(EDITED)), by="Ada"),
        other.versions.rollback(bot_files.bot, SOUL, NewRollback(version=1), by="Bob"),
        return_exceptions=True,
    )
    state = await bot_files.versions.state(bot_files.bot, SOUL)
    assert state.is_accepted
    assert EDITED in [await bot_files.text_of(SOUL, one.number) for one in await bot_files.all_versions(SOUL)]


@pytest.mark.parametrize("when", ["before", "after"])
async def test_killed_save_is_finished_by_next_read(bot_files: BotOnDisk, store_url: str, when: str):
    data_dir = bot_files.folders.root.parent
    arguments = [when, store_url, str(data_dir), bot_files.bot.model_dump_json(), EDITED]
    done = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "tests.bots.versions.editor", *arguments],
        cwd=ROOT,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert bot_files.on_disk(SOUL) == (EDITED if when == "after" else FIRST[SOUL])
    found = await bot_files.versions.bot_files(bot_files.bot)
    assert (found.soul_text, found.soul_version, bot_files.on_disk(SOUL)) == (EDITED, 2, EDITED)
    assert await bot_files.history(SOUL) == [(2, "Ada", "Saved and killed"), (1, "Ada", "Created")]
    bot_files.edit(SOUL, FIRST[SOUL])  # a hand edit, with the text from before the killed save
    assert (await bot_files.versions.state(bot_files.bot, SOUL)).is_accepted is False
    assert bot_files.on_disk(SOUL) == FIRST[SOUL]


async def test_edit_after_a_killed_save_is_detected(bot_files: BotOnDisk, store_url: str):
    data_dir = bot_files.folders.root.parent
    arguments = ["before", store_url, str(data_dir), bot_files.bot.model_dump_json(), EDITED]
    await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-m", "tests.bots.versions.editor", *arguments],
        cwd=ROOT,
        check=False,
    )
    mine = soul("Knows the moon.\n")
    bot_files.edit(SOUL, mine)
    state = await bot_files.versions.state(bot_files.bot, SOUL)
    assert (state.content, state.version, state.is_accepted) == (mine, 2, False)
    bot_files.edit(SOUL, FIRST[SOUL])
    assert (await bot_files.versions.state(bot_files.bot, SOUL)).is_accepted is False
    assert bot_files.on_disk(SOUL) == FIRST[SOUL]
