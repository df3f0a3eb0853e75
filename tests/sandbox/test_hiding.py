"""Commands that exceed limits and hide it from the supervisor."""

import asyncio
import os
import textwrap
from dataclasses import replace
from pathlib import Path

from tests.sandbox.conftest import PYTHON, QUICK, Run
from tests.sandbox.test_running import until

from forge.sandbox.models import End

SMALL = replace(QUICK, disk_bytes=16 << 20, file_bytes=64 << 20, inodes=200, memory_bytes=128 << 20)
START = """
import ctypes, mmap, os, socket, time
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
def large(name):
    fd = os.open(name, os.O_RDWR | os.O_CREAT)
    os.posix_fallocate(fd, 0, 12 << 20)
    return fd
"""


def hiding(script: str) -> tuple[str, str, str]:
    return PYTHON, "-c", START + textwrap.dedent(script) + "\ntime.sleep(10)"


async def test_unmapped_shared_memory_counts(run: Run):
    script = """
        held = []
        for _ in range(10):
            held.append(mmap.mmap(-1, 32 << 20))
            for at in range(0, 32 << 20, 4096):
                held[-1][at] = 1
            held[-1].madvise(mmap.MADV_DONTNEED)
    """
    assert (await run(*hiding(script), limits=SMALL)).end is End.MEMORY


async def test_untouched_shared_memory_does_not_count(run: Run):
    script = "held = mmap.mmap(-1, 1 << 30); time.sleep(0.3); os._exit(0)"
    assert (await run(*hiding(script), limits=SMALL)).end is End.EXITED


async def test_deleted_files_that_are_only_mapped_count(run: Run):
    script = """
        for _ in range(10):
            fd = large("ghost")
            libc.mmap(None, 4096, 1, 1, fd, 0)
            os.unlink("ghost")
            os.close(fd)
    """
    assert (await run(*hiding(script), limits=SMALL)).end is End.DISK


async def test_deleted_files_in_flight_count(run: Run):
    script = """
        here, there = socket.socketpair()
        for _ in range(10):
            fd = large("ghost")
            socket.send_fds(here, [b"x"], [fd])
            os.unlink("ghost")
            os.close(fd)
    """
    assert (await run(*hiding(script), limits=SMALL)).end is End.DISK


async def test_files_too_deep_for_a_path_count(run: Run):
    script = """
        for _ in range(60):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        for n in range(2):
            os.close(large(str(n)))
    """
    assert (await run(*hiding(script), limits=SMALL)).end is End.DISK


async def test_inodes_too_deep_for_a_path_count(run: Run):
    script = """
        for _ in range(60):
            os.mkdir("d" * 200)
            os.chdir("d" * 200)
        for n in range(400):
            open(str(n), "w").close()
    """
    assert (await run(*hiding(script), limits=SMALL)).end is End.INODES


async def test_files_in_unreadable_folder_count(run: Run, workdir: Path):
    script = """
        os.mkdir("closed")
        os.chmod("closed", 0o300)
        for n in range(2):
            os.close(large(f"closed/{n}"))
    """
    outcome = await run(*hiding(script), limits=SMALL)
    (workdir / "closed").chmod(0o700)
    assert outcome.end is End.DISK


async def test_memory_is_measured_while_many_files_are_counted(run: Run, workdir: Path):
    """Another process fills the disk, which makes the supervisor count all files."""
    for folder in map(str, range(4)):
        (workdir / folder).mkdir()
        (workdir / folder / "file").touch()
        for n in range(20_000):
            os.link(workdir / folder / "file", workdir / folder / str(n))
    script = """
        open("started", "w").close()
        time.sleep(1)
        for _ in range(4):
            if os.fork() == 0:
                held = bytearray(os.urandom(1 << 20)) * 60
                time.sleep(1.5)
                os._exit(0)
        for _ in range(4):
            os.wait()
        os._exit(0)
    """
    task = asyncio.ensure_future(run(*hiding(script), limits=replace(SMALL, inodes=1 << 20)))
    await until((workdir / "started").exists)
    with (workdir.parent / "of somebody else").open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 24 << 20)
        assert (await task).end is End.MEMORY


async def test_concurrent_deletion_does_not_hide_growth(run: Run, workdir: Path):
    """Free space of the file system increases although the folder grows."""
    ballast = workdir.parent / "ballast"
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, 64 << 20)
    script = """
        open("started", "w").close()
        while os.path.exists("started"):
            time.sleep(0.01)
        held = [large(str(n)) for n in range(2)]
    """
    task = asyncio.ensure_future(run(*hiding(script), limits=SMALL))
    await until((workdir / "started").exists)
    free = os.statvfs(workdir).f_bfree
    ballast.unlink()
    os.sync()  # some file systems free deleted space only at the next commit
    await until(lambda: os.statvfs(workdir).f_bfree > free)
    (workdir / "started").unlink()
    assert (await task).end is End.DISK
