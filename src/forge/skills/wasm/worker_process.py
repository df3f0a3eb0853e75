"""A worker process as seen from Forge, and the protocol of one call."""

import asyncio
import logging
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from pydantic_core import to_json

from forge.skills.execution import (
    HostCall,
    HostError,
    HostRefusal,
    RunEnd,
    RunLimits,
    RunOutcome,
)
from forge.skills.wasm import frames
from forge.skills.wasm.strict_json import MAX_ASKED, MAX_VALUES, has_more_values, read_arguments, read_json

log = logging.getLogger(__name__)

START_S = 60.0
"""Enough for a busy machine; usually 0.2 seconds."""
MAX_SAID = 4000


class WorkerGone(Exception):
    """The process ended."""


class WorkerProcess:
    def __init__(self, process: asyncio.subprocess.Process, protections: frozenset[str]) -> None:
        self._process = process
        self.ended = asyncio.create_task(process.wait(), name="the end of a worker")
        self.protections = protections
        self.calls = 0
        self.is_free = True
        """Whether it is idle and can take a call."""

    @classmethod
    async def start(cls, folders: Iterable[Path]) -> "WorkerProcess":
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-m", "forge.skills.wasm.worker", *map(str, folders)),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd="/",
            env={},
            limit=1 << 20,
        )
        worker = cls(process, frozenset())
        try:
            async with asyncio.timeout(START_S):
                ready = await worker.receive()
        except BaseException:
            worker.kill()
            await worker.wait_closed()
            raise
        worker.protections = frozenset(ready["ready"])
        return worker

    @property
    def pid(self) -> int:
        return self._process.pid

    async def send(self, message: frames.Message) -> None:
        pipe = cast("asyncio.StreamWriter", self._process.stdin)
        try:
            pipe.write(frames.pack(message))
            await pipe.drain()
        except (BrokenPipeError, ConnectionResetError) as error:
            raise WorkerGone from error

    async def receive(self) -> frames.Message:
        pipe = cast("asyncio.StreamReader", self._process.stdout)
        try:
            length = frames.LENGTH.unpack(await pipe.readexactly(frames.LENGTH.size))[0]
            if length > frames.MAX_BYTES:
                self.kill()
                raise WorkerGone
            return frames.unpack(await pipe.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionResetError) as error:
            raise WorkerGone from error

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self._process.kill()

    async def wait_closed(self) -> None:
        """Wait for the process to end, and log its last error output."""
        pipe = cast("asyncio.StreamReader", self._process.stderr)
        said = await pipe.read(MAX_SAID)
        await self.ended
        if said:
            log.warning("a worker of skills ended: %s", said.decode(errors="replace"))


GRACE_S = 0.1
"""A worker that has not stopped the skill this long after its deadline is killed."""
MAX_REPLY = 4 << 20


@dataclass(frozen=True)
class CallRequest:
    """A call to send to a worker."""

    texts: tuple[str, ...]
    limits: RunLimits
    memory_bytes: int
    is_ours: bool
    path: Path = Path()

    def at(self, path: Path) -> "CallRequest":
        return replace(self, path=path)

    def message(self) -> frames.Message:
        return {
            "path": str(self.path),
            "texts": self.texts,
            "fuel": self.limits.fuel,
            "memory": self.memory_bytes,
            "seconds": self.limits.seconds,
            "is_ours": self.is_ours,
        }


class WorkerCall:
    def __init__(
        self, worker: WorkerProcess, host: HostCall, keep: Callable[["asyncio.Task[Any]"], None]
    ) -> None:
        self._worker = worker
        self._host = host
        self._keep = keep
        self._refusal = ""
        self.began = False

    async def run(self, request: CallRequest) -> RunOutcome | None:
        """Run the call. Returns None if the worker cannot load the component; raises Gone if it dies."""
        self._worker.is_free = False
        try:
            async with asyncio.timeout(START_S):
                await self._worker.send(request.message())
                first = await self._worker.receive()
        except TimeoutError as error:
            raise WorkerGone from error
        if "broken" in first:
            self._worker.is_free = True
            return None
        self.began = True
        deadline = asyncio.get_running_loop().time() + request.limits.seconds
        return await self._until(deadline, request.limits)

    async def _until(self, deadline: float, limits: RunLimits) -> RunOutcome:
        clock = asyncio.timeout_at(deadline + GRACE_S)
        try:
            async with clock:
                while "call" in (message := await self._worker.receive()):
                    await self._worker.send(await self._serve(message, deadline))
        except TimeoutError:
            if not clock.expired():
                raise
            took_ms = (limits.seconds + GRACE_S) * 1000
            return RunOutcome(RunEnd.TIME, error=_limit_message(RunEnd.TIME, limits), duration_ms=took_ms)
        self._worker.is_free = True
        return self._ended(message, limits)

    async def _serve(self, message: frames.Message, deadline: float) -> frames.Message:
        """Answer a host call within the remaining time. An operation that ignores its cancellation is left in the background."""
        if has_more_values(message["args"], MAX_ASKED):
            return {"err": f"the arguments of {message['call']} have more than {MAX_ASKED:,} values"}
        arguments = read_arguments(message["args"])
        if arguments is None:
            return {"err": "the arguments are not a JSON object"}
        work = asyncio.ensure_future(self._host(message["call"], arguments))
        try:
            left = deadline - asyncio.get_running_loop().time()
            await asyncio.wait([work, self._worker.ended], timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            if not work.done():
                work.cancel()
                self._keep(work)
        return self._reply(work) if work.done() else {"stop": RunEnd.TIME}

    def _reply(self, work: "asyncio.Future[Any]") -> frames.Message:
        try:
            text = to_json(work.result(), inf_nan_mode="null").decode()
        except HostError as error:
            return {"err": str(error)}
        except HostRefusal as error:
            self._refusal = str(error)
            return {"stop": RunEnd.REFUSED}
        if len(text) > MAX_REPLY:
            return {"err": f"the result is larger than {MAX_REPLY >> 20} MB"}
        return {"ok": text}

    def _ended(self, message: frames.Message, limits: RunLimits) -> RunOutcome:
        end = RunEnd(message["end"])
        ended = RunOutcome(
            end, None, message.get("error", ""), message["fuel"], message["memory"], message["seconds"] * 1000
        )
        if end is RunEnd.DONE:
            return _parse_output(ended, message["output"])
        if end is RunEnd.REFUSED:
            return replace(ended, error=self._refusal)
        if end in {RunEnd.RAISED, RunEnd.UNUSABLE, RunEnd.OUTPUT}:
            return ended
        return replace(ended, error=_limit_message(end, limits))


def _parse_output(ended: RunOutcome, text: str) -> RunOutcome:
    if has_more_values(text, MAX_VALUES):
        return replace(ended, end=RunEnd.OUTPUT, error=f"Its output has more than {MAX_VALUES:,} values.")
    try:
        return replace(ended, output=read_json(text))
    except ValueError as error:
        return replace(ended, end=RunEnd.OUTPUT, error=f"Its output is not JSON: {error}")


def _limit_message(end: RunEnd, limits: RunLimits) -> str:
    return {
        RunEnd.FUEL: f"It exceeded its limit of {limits.fuel:,} instructions.",
        RunEnd.MEMORY: f"It exceeded its memory limit of {limits.memory_bytes >> 20} MB.",
        RunEnd.TIME: f"It exceeded its time limit of {limits.seconds:g} seconds.",
        RunEnd.STACK: "It exceeded the maximum recursion depth.",
    }[end]
