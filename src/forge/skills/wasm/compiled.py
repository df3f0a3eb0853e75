"""A cache of compiled components on disk: compiling takes seconds, loading milliseconds.

The engine trusts what it loads. A file is loaded only if no other user could have written it, and its name matches the
source, the engine and the content.
"""

import asyncio
import logging
import os
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path

from forge.errors import Internal
from forge.kernel.background import cancel_and_wait
from forge.skills.wasm import frames
from forge.skills.wasm.engine import compiled_name

log = logging.getLogger(__name__)

SUFFIX, PARTIAL = ".cwasm", ".partial"
MAX_FILES = 50
MAX_REFUSED = 1000
COMPILE_S = 60.0
"""Time limit for components of skills."""
OURS_S = 600.0
ABANDONED_S = 3600.0
"""Age at which a partial file is considered left by a killed process."""


@dataclass(frozen=True)
class Component:
    """A component to compile: bytes of a skill, or a runtime that comes with Forge."""

    digest: str
    source: bytes | Path

    @property
    def is_ours(self) -> bool:
        return isinstance(self.source, Path)

    @classmethod
    def from_bytes(cls, source: bytes) -> "Component":
        return cls(sha256(source).hexdigest(), source)


class Uncompilable(Exception):
    """The component cannot be used; the message is for its author."""


class CompiledFiles:
    def __init__(self, folder: Path, shipped: Path) -> None:
        self._folder = folder
        self._shipped = shipped
        """Read-only folder with the runtimes a checkout compiled when it was set up."""
        self._known: dict[str, Path] = {}
        self._refused: dict[str, Uncompilable] = {}
        self._broken: set[Path] = set()
        self._pending: dict[str, asyncio.Task[Path]] = {}
        self._one_at_a_time = asyncio.Lock()

    @property
    def folders(self) -> list[Path]:
        return [self._folder, self._shipped]

    async def open(self) -> None:
        """Create the folder. Call this before starting a worker, which can only read existing folders."""
        await asyncio.to_thread(_open_folder, self._folder)

    async def find(self, component: Component) -> Path:
        """Return the compiled file, compiling if needed. Concurrent callers share one compilation, which none can cancel."""
        name = compiled_name(component.digest)
        if (known := self._known.get(name)) and known.exists():
            return known
        if refused := self._refused.get(name):
            raise Uncompilable(*refused.args)
        task = self._pending.get(name)
        if task is None:
            task = self._pending[name] = asyncio.create_task(self._make(name, component))
            task.add_done_callback(lambda done: self._settle(name, done))
        return await asyncio.shield(task)

    def drop(self, path: Path) -> None:
        """Remove a file that could not be loaded."""
        log.warning("a compiled component could not be loaded and is compiled again: %s", path.name)
        self._known = {name: known for name, known in self._known.items() if known != path}
        self._broken.add(path)
        with suppress(OSError):
            path.unlink()

    async def close(self) -> None:
        await cancel_and_wait(self._pending.values())

    def _settle(self, name: str, done: "asyncio.Task[Path]") -> None:
        self._pending.pop(name, None)
        if done.cancelled():
            return
        match done.exception():
            case None:
                self._known[name] = done.result()
            case Uncompilable() as refused:
                if len(self._refused) >= MAX_REFUSED:
                    self._refused.clear()
                self._refused[name] = refused
            case _:
                pass  # the waiting callers get the exception

    async def _make(self, name: str, component: Component) -> Path:
        if found := await asyncio.to_thread(self._look, name):
            return found
        async with self._one_at_a_time:
            return await self._compile(name, component)

    def _look(self, name: str) -> Path | None:
        for folder in self.folders:
            for path in folder.glob(f"{name}.*{SUFFIX}"):
                is_good = path not in self._broken and is_trusted(folder) and is_trusted(path)
                if is_good and is_whole(path):
                    with suppress(OSError):
                        os.utime(path)
                    return path
        return None

    async def _compile(self, name: str, component: Component) -> Path:
        await self.open()
        with _partial(self._folder) as (handle, path):
            await _run_compiler(component, handle)
            return await asyncio.to_thread(self._keep, name, path)

    def _keep(self, name: str, partial: Path) -> Path:
        path = self._folder / f"{name}.{_digest(partial)}{SUFFIX}"
        partial.replace(path)
        self._broken.discard(path)
        by_age = sorted(self._folder.glob(f"*{SUFFIX}"), key=lambda one: one.stat().st_mtime)
        for old in by_age[:-MAX_FILES]:
            old.unlink(missing_ok=True)
        return path


def is_trusted(path: Path) -> bool:
    """Return whether only this user or root can write the file."""
    try:
        found = path.lstat()
    except OSError:
        return False
    is_real = stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return is_real and found.st_uid in {os.geteuid(), 0} and not found.st_mode & 0o022


def is_whole(path: Path) -> bool:
    try:
        return path.name.split(".")[1] == _digest(path)
    except OSError:
        return False


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _open_folder(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    folder.chmod(0o700)
    for path in folder.glob(f"*{PARTIAL}"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > ABANDONED_S:
                path.unlink()


@contextmanager
def _partial(folder: Path) -> Generator[tuple[int, Path]]:
    """Yield a new private file, deleted afterwards unless it was renamed."""
    handle, name = tempfile.mkstemp(suffix=PARTIAL, dir=folder)
    try:
        yield handle, Path(name)
    finally:
        os.close(handle)
        Path(name).unlink(missing_ok=True)


async def _run_compiler(component: Component, target: int) -> None:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-m", "forge.skills.wasm.compiler"),
        *(str(target), "ours" if component.is_ours else "given"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
        env={},
        pass_fds=(target,),
    )
    source = component.source
    given = await asyncio.to_thread(source.read_bytes) if isinstance(source, Path) else source
    try:
        async with asyncio.timeout(OURS_S if component.is_ours else COMPILE_S):
            output, errors = await process.communicate(given)
    except TimeoutError:
        raise Uncompilable(f"Compiling takes longer than {COMPILE_S:g} seconds.") from None
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        problem = frames.unpack(output[frames.LENGTH.size :])["problem"]
    elif (process.returncode or 0) < 0 and not component.is_ours:
        problem = "Compiling takes too much memory or time."
    else:
        raise Internal(f"the compiler of components failed: {errors.decode(errors='replace')[-2000:]}")
    if problem:
        raise Uncompilable(problem)
