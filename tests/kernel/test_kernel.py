"""Ids, hashes, locks and background tasks."""

import asyncio
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.timeouts import PATIENCE_S

from forge.kernel.background import cancel_and_wait, in_background
from forge.kernel.hashing import canonical_json, hash_json
from forge.kernel.ids import derived_id, new_id
from forge.kernel.lock import DirectoryLock, LockHeld

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
)


def test_ids_are_valid_unique_and_sort_by_time():
    ids = []
    for _ in range(50):
        ids.append(new_id())
        time.sleep(0.001)
    parsed = [uuid.UUID(text) for text in ids]
    assert {(one.version, one.variant) for one in parsed} == {(7, uuid.RFC_4122)}
    assert ids == sorted(set(ids))


def test_derived_id_depends_on_its_parts_only():
    assert derived_id("a", "b") == derived_id("a", "b")
    assert (
        len({derived_id("a", "b"), derived_id("ab", ""), derived_id("a", "b", ""), derived_id("b", "a")}) == 4
    )


@given(JSON)
def test_equal_values_have_equal_hashes(value: object):
    def shuffled(item: object) -> object:
        if isinstance(item, dict):
            return {key: shuffled(item[key]) for key in reversed(list(item))}
        return [shuffled(child) for child in item] if isinstance(item, list) else item

    assert canonical_json(value) == canonical_json(shuffled(value))
    assert hash_json(value) == hash_json(shuffled(value))


def test_directory_lock_is_exclusive_and_released(tmp_path: Path):
    with DirectoryLock(tmp_path), pytest.raises(LockHeld) as held, DirectoryLock(tmp_path):
        pass
    assert held.value.pid == str(os.getpid())
    with DirectoryLock(tmp_path):
        pass


def test_killed_process_releases_the_lock(tmp_path: Path):
    code = (
        "import sys, time, pathlib; from forge.kernel.lock import DirectoryLock\n"
        "with DirectoryLock(pathlib.Path(sys.argv[1])): print('held', flush=True); time.sleep(60)"
    )
    owner = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert owner.stdout is not None
    assert owner.stdout.readline() == b"held\n"
    with pytest.raises(LockHeld), DirectoryLock(tmp_path):
        pass
    owner.kill()
    owner.communicate()
    with DirectoryLock(tmp_path):
        pass


async def test_background_task_ends_with_its_block():
    ended = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            ended.set()

    async with in_background(work(), "work"):
        await asyncio.sleep(0)
    assert ended.is_set()


async def test_failed_background_task_is_logged(caplog: pytest.LogCaptureFixture):
    async def broken() -> None:
        raise ValueError("oops")

    async with in_background(broken(), "broken"):
        await asyncio.sleep(0.01)
    assert [record.getMessage() for record in caplog.records] == ["the background task 'broken' failed"]


async def test_task_that_ignores_cancellation_is_cancelled_again(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("forge.kernel.background.CANCEL_RETRY_S", 0.01)
    losses = 0

    async def stubborn() -> None:
        nonlocal losses
        while losses < 3:
            try:
                await asyncio.sleep(60)
            except asyncio.CancelledError:
                losses += 1  # as when clean-up fails and the failure is handled

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    async with asyncio.timeout(PATIENCE_S):
        await cancel_and_wait([task])
    assert losses == 3
