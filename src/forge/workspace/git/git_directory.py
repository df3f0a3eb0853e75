"""Forge's git directory of a workspace, outside of its files: nothing in the project configures it.

A repository can make git run commands: hooks, filters, diff drivers, helpers, monitors. All of them are set in
the configuration, and git only reads the configuration written here. Attributes in the project could still request
a filter by name or another encoding; `info/attributes` has precedence and disables that, so that files are stored
byte by byte.
"""

import asyncio
import fcntl
import os
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from forge.errors import Unavailable
from forge.workspace.filesystem.entries import TEMPORARY
from forge.workspace.filesystem.files import write_atomically

LOCK_TIMEOUT_S = 30.0
_LOCK_POLL_S = 0.02

_CONFIG = """\
[core]
	repositoryFormatVersion = 0
	bare = false
	fileMode = true
	symlinks = true
	ignoreCase = false
	precomposeUnicode = false
	protectHFS = false
	protectNTFS = false
	autocrlf = false
	quotePath = false
	logAllRefUpdates = true
	hooksPath = /dev/null
	attributesFile = /dev/null
	excludesFile = /dev/null
	fsmonitor = false
	untrackedCache = false
	fsync = committed
	fsyncMethod = batch
[gc]
	auto = 0
[maintenance]
	auto = false
[commit]
	gpgSign = false
[protocol]
	allow = never
[credential]
	helper =
[submodule]
	recurse = false
"""
_ATTRIBUTES = "* -text !eol !crlf -ident -filter -working-tree-encoding !diff !merge !export-ignore !export-subst !whitespace\n"
_EXCLUDE = "".join(
    f"{line}\n"
    for line in (
        f"{TEMPORARY}*",
        *("node_modules/", ".venv/", "venv/", "__pycache__/", "*.pyc"),
        *(".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".tox/", ".nox/", ".cache/"),
    )
)
_LOCKS = ("index.lock", "HEAD.lock", "packed-refs.lock", "config.lock", "refs/heads/*.lock", "logs/HEAD.lock")


class GitDirectory:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.index = path / "index"
        self.spool = path / "forge-spool"

    def is_made(self) -> bool:
        return (self.path / "HEAD").is_file() and (self.path / "objects").is_dir()

    def prepare(self) -> None:
        """Write the git configuration each time, so that it always matches this version of Forge."""
        self.spool.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.path / "info").mkdir(exist_ok=True)
        for name, text in (("config", _CONFIG), ("info/attributes", _ATTRIBUTES), ("info/exclude", _EXCLUDE)):
            _write_if_different(self.path / name, text.encode())

    @asynccontextmanager
    async def exclusive(self) -> AsyncGenerator[int]:
        """Lock the directory against all processes. Every git child inherits the descriptor of the lock, so one that
        outlives us keeps it locked until it exits. Lock files of git that remain after that are stale."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self.path / "forge.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            await _lock(descriptor)
            self._clear()
            yield descriptor
        finally:
            os.close(descriptor)

    def _clear(self) -> None:
        for pattern in _LOCKS:
            for path in self.path.glob(pattern):
                path.unlink(missing_ok=True)
        for path in self.spool.glob("*"):
            path.unlink(missing_ok=True)


async def _lock(descriptor: int) -> None:
    until = time.monotonic() + LOCK_TIMEOUT_S
    while True:
        with suppress(BlockingIOError):
            return fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if time.monotonic() > until:
            raise Unavailable("The history of this workspace is in use by another process.")
        await asyncio.sleep(_LOCK_POLL_S)


def _write_if_different(path: Path, data: bytes) -> None:
    with suppress(FileNotFoundError):
        if path.read_bytes() == data:
            return
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        write_atomically(directory, path.name, data, mode=0o600)
    finally:
        os.close(directory)
