"""One worker of the crew, seen from Forge: a process to send messages to, to hear from, and to kill."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import cast

from forge.skills.wasm import frames

log = logging.getLogger(__name__)

START_S = 60.0
"""On a busy machine; a quiet one takes a fifth of a second."""
MAX_SAID = 4000


class Gone(Exception):
    """The process ended."""


class Member:
    def __init__(self, process: asyncio.subprocess.Process, protections: frozenset[str]) -> None:
        self._process = process
        self.ended = asyncio.create_task(process.wait(), name="the end of a worker")
        self.protections = protections
        self.calls = 0
        self.is_free = True
        """Whether it has nothing to do, and can be given something."""

    @classmethod
    async def start(cls, folders: Iterable[Path]) -> "Member":
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "forge.skills.wasm.worker", *map(str, folders)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={},
            limit=1 << 20,
        )
        member = cls(process, frozenset())
        try:
            async with asyncio.timeout(START_S):
                ready = await member.hear()
        except BaseException:
            member.kill()
            await member.bury()
            raise
        member.protections = frozenset(ready["ready"])
        return member

    @property
    def pid(self) -> int:
        return self._process.pid

    async def tell(self, message: frames.Message) -> None:
        pipe = cast("asyncio.StreamWriter", self._process.stdin)
        try:
            pipe.write(frames.pack(message))
            await pipe.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise Gone from error

    async def hear(self) -> frames.Message:
        pipe = cast("asyncio.StreamReader", self._process.stdout)
        try:
            length = frames.LENGTH.unpack(await pipe.readexactly(frames.LENGTH.size))[0]
            if length > frames.MAX_BYTES:
                self.kill()
                raise Gone
            return frames.unpack(await pipe.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionResetError) as error:
            raise Gone from error

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def bury(self) -> None:
        """Waits for the end of a process that was killed, or ended by itself; what it said last goes to the log."""
        pipe = cast("asyncio.StreamReader", self._process.stderr)
        said = await pipe.read(MAX_SAID)
        await self.ended
        if said:
            log.warning("a worker of skills ended: %s", said.decode(errors="replace"))
