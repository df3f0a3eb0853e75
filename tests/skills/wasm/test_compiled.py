"""What is compiled is kept where only Forge writes, and loaded only when it is what it says."""

import asyncio
import os
from pathlib import Path

import pytest
from tests.skills.wasm.running import run
from tests.skills.wasm.test_components import ECHO

from forge.skills.execution import Language, RunEnd
from forge.skills.wasm.compiled import CompiledFiles, Component, is_trusted, is_whole
from forge.skills.wasm.crew import Crew

WASM = Language.WASM
OTHERS_UID = 12345


async def one_file(crew: Crew, cache: Path) -> Path:
    assert (await run(crew, ECHO, WASM)).end is RunEnd.DONE
    return only_file(cache)


def only_file(cache: Path) -> Path:
    (path,) = cache.iterdir()
    return path


async def test_a_component_is_compiled_once_for_all_who_want_it(tmp_path: Path):
    files = CompiledFiles(tmp_path / "cache", tmp_path / "none")
    found = await asyncio.gather(*(files.find(Component.given(ECHO)) for _ in range(20)))
    assert len(set(found)) == 1
    assert list((tmp_path / "cache").iterdir()) == [found[0]]
    made = found[0].stat().st_ino
    again = await CompiledFiles(tmp_path / "cache", tmp_path / "none").find(Component.given(ECHO))
    assert again.stat().st_ino == made


async def test_only_forge_can_read_and_write_what_is_compiled(tmp_path: Path):
    cache = tmp_path / "cache"
    async with Crew(cache) as crew:
        path = await one_file(crew, cache)
        assert (cache.stat().st_mode & 0o777, path.stat().st_mode & 0o777) == (0o700, 0o600)


@pytest.mark.parametrize("harm", ["garbage", "cut off", "one byte", "empty"])
async def test_a_broken_file_is_never_loaded_and_is_made_again(tmp_path: Path, harm: str):
    cache = tmp_path / "cache"
    async with Crew(cache) as crew:
        path = await one_file(crew, cache)
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "garbage": b"\x7fELF" + b"x" * 5000,
            "cut off": whole[:middle],
            "one byte": whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :],
            "empty": b"",
        }[harm]
    )
    async with Crew(cache) as crew:
        assert (await run(crew, ECHO, WASM)).end is RunEnd.DONE
    assert path.read_bytes() == whole or is_whole(next(cache.iterdir()))


async def test_a_file_that_breaks_while_forge_runs_is_made_again(tmp_path: Path):
    """A worker that has to load it finds out; the call does not notice."""
    cache = tmp_path / "cache"
    async with Crew(cache, size=1) as crew:
        path = await one_file(crew, cache)
        path.unlink()
        path.write_bytes(b"\x7fELF" + b"x" * 5000)
        for member in list(crew._members):
            member.kill()
        assert (await run(crew, ECHO, WASM)).end is RunEnd.DONE


async def test_a_file_that_vanishes_is_made_again(tmp_path: Path):
    cache = tmp_path / "cache"
    async with Crew(cache, size=1) as crew:
        path = await one_file(crew, cache)
        path.unlink()
        assert (await run(crew, ECHO, WASM)).end is RunEnd.DONE
        assert path.exists()


async def test_a_file_others_could_have_written_is_not_believed(tmp_path: Path):
    cache = tmp_path / "cache"
    async with Crew(cache) as crew:
        path = await one_file(crew, cache)
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


async def test_an_interrupted_compiler_leaves_nothing(tmp_path: Path):
    cache = tmp_path / "cache"
    async with Crew(cache) as crew:
        task = asyncio.create_task(crew.check(ECHO))
        while not list(cache.glob("*.partial")):
            await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not cache.exists() or list(cache.iterdir()) == []


async def test_what_a_killed_compiler_left_is_removed(tmp_path: Path):
    cache = tmp_path / "cache"
    cache.mkdir()
    for name in ("old.partial", "new.partial"):
        (cache / name).touch()
    os.utime(cache / "old.partial", (0, 0))
    async with Crew(cache) as crew:
        await crew.check(ECHO)
    assert [path.name for path in cache.glob("*.partial")] == ["new.partial"]


async def test_who_stops_waiting_does_not_stop_the_compiler(tmp_path: Path):
    cache = tmp_path / "cache"
    async with Crew(cache) as crew:
        first = asyncio.create_task(crew.check(ECHO))
        second = asyncio.create_task(crew.check(ECHO))
        await asyncio.sleep(0.05)
        first.cancel()
        assert await second is None


async def test_the_runtimes_are_made_ready_beside_everything_else(tmp_path: Path):
    async with Crew(tmp_path / "cache") as crew:
        crew.warm(Language.JS)
        assert (await run(crew, "function run() { return 1 }")).output == 1
