"""Cache of compiled modules: private to Forge, and loaded only if intact."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.skills.wasm.script_runner import run
from tests.skills.wasm.test_components import ECHO

from forge.skills.execution import Language, RunEnd
from forge.skills.wasm.compiled import CompiledFiles, Component, is_trusted, is_whole
from forge.skills.wasm.worker_pool import WorkerPool

WASM = Language.WASM
OTHERS_UID = 12345


async def compile_file(pool: WorkerPool, cache: Path) -> Path:
    assert (await run(pool, ECHO, WASM)).end is RunEnd.DONE
    return only_file(cache)


def only_file(cache: Path) -> Path:
    (path,) = cache.iterdir()
    return path


async def test_component_is_compiled_once_for_concurrent_callers(tmp_path: Path):
    files = CompiledFiles(tmp_path / "cache", tmp_path / "none")
    found = await asyncio.gather(*(files.find(Component.from_bytes(ECHO)) for _ in range(20)))
    assert len(set(found)) == 1
    assert list((tmp_path / "cache").iterdir()) == [found[0]]
    inode = found[0].stat().st_ino
    again = await CompiledFiles(tmp_path / "cache", tmp_path / "none").find(Component.from_bytes(ECHO))
    assert again.stat().st_ino == inode


async def test_compiled_files_are_private(tmp_path: Path):
    cache = tmp_path / "cache"
    async with WorkerPool(cache) as pool:
        path = await compile_file(pool, cache)
        assert (cache.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize("damage", ["garbage", "cut off", "one byte", "empty"])
async def test_broken_compiled_file_is_recompiled(tmp_path: Path, damage: str):
    cache = tmp_path / "cache"
    async with WorkerPool(cache) as pool:
        path = await compile_file(pool, cache)
    intact = path.read_bytes()
    middle = len(intact) // 2
    path.write_bytes(
        {
            "garbage": b"\x7fELF" + b"x" * 5000,
            "cut off": intact[:middle],
            "one byte": intact[:middle] + bytes([intact[middle] ^ 1]) + intact[middle + 1 :],
            "empty": b"",
        }[damage]
    )
    async with WorkerPool(cache) as pool:
        assert (await run(pool, ECHO, WASM)).end is RunEnd.DONE
    assert path.read_bytes() == intact or is_whole(next(cache.iterdir()))


async def test_compiled_file_damaged_at_runtime_is_recompiled(tmp_path: Path):
    """The worker detects it while loading; the call still succeeds."""
    cache = tmp_path / "cache"
    async with WorkerPool(cache, size=1) as pool:
        path = await compile_file(pool, cache)
        path.unlink()
        path.write_bytes(b"\x7fELF" + b"x" * 5000)
        for member in list(pool._workers):
            member.kill()
        assert (await run(pool, ECHO, WASM)).end is RunEnd.DONE


async def test_deleted_compiled_file_is_recompiled(tmp_path: Path):
    cache = tmp_path / "cache"
    async with WorkerPool(cache, size=1) as pool:
        path = await compile_file(pool, cache)
        path.unlink()
        assert (await run(pool, ECHO, WASM)).end is RunEnd.DONE
        assert path.exists()


async def test_compiled_file_writable_by_others_is_not_loaded(tmp_path: Path):
    cache = tmp_path / "cache"
    async with WorkerPool(cache) as pool:
        path = await compile_file(pool, cache)
    assert is_trusted(path)
    path.chmod(0o666)
    assert not is_trusted(path)
    path.chmod(0o600)
    link = tmp_path / "link"
    link.symlink_to(path)
    assert not is_trusted(link)
    assert not is_trusted(tmp_path / "missing")
    if os.geteuid() == 0:
        os.chown(path, OTHERS_UID, OTHERS_UID)
        assert not is_trusted(path)


async def test_interrupted_compilation_leaves_no_files(tmp_path: Path):
    cache = tmp_path / "cache"
    async with WorkerPool(cache) as pool:
        task = asyncio.create_task(pool.check(ECHO))
        while not list(cache.glob("*.partial")):
            await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not cache.exists() or list(cache.iterdir()) == []


async def test_old_partial_files_are_removed(tmp_path: Path):
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("old.partial", "new.partial"):
        (cache / name).touch()
    os.utime(cache / "old.partial", (0, 0))
    async with WorkerPool(cache) as pool:
        await pool.check(ECHO)
    assert [path.name for path in cache.glob("*.partial")] == ["new.partial"]


async def test_cancelled_caller_does_not_stop_the_compilation(tmp_path: Path):
    cache = tmp_path / "cache"
    async with WorkerPool(cache) as pool:
        first = asyncio.create_task(pool.check(ECHO))
        second = asyncio.create_task(pool.check(ECHO))
        await asyncio.sleep(0.05)
        first.cancel()
        assert await second is None


async def test_runtimes_are_compiled_in_the_background(tmp_path: Path):
    async with WorkerPool(tmp_path / "cache") as pool:
        pool.warm(Language.JS)
        assert (await run(pool, "function run() { return 1 }")).output == 1
