"""A pool of untrusted worker processes that run scripts of skills, each one call at a time.

Failures of a skill are results (`Ended`). Exceptions are errors of Forge: a runtime that is not built, a bug in the host.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from forge.errors import Unavailable
from forge.kernel.background import cancel_and_wait
from forge.skills.execution import MAX_INPUT, HostCall, Language, Program, RunEnd, RunLimits, RunOutcome
from forge.skills.format.contents import MAX_ANY_BYTES
from forge.skills.wasm.compiled import CompiledFiles, Component, Uncompilable
from forge.skills.wasm.runtimes import BUILT, COMPILED, runtimes
from forge.skills.wasm.worker_process import CallRequest, WorkerCall, WorkerGone, WorkerProcess

log = logging.getLogger(__name__)

MIN_WORKERS, MAX_WORKERS = 2, 8
MAX_COMPONENT = MAX_ANY_BYTES
MAX_SOURCE = 1 << 20
MAX_CALLS = 10_000
"""A worker is replaced after this many calls, in case it leaks memory."""
ATTEMPTS = 3


class WorkerPool:
    def __init__(self, cache_dir: Path, size: int | None = None) -> None:
        self.size = size or min(MAX_WORKERS, max(MIN_WORKERS, os.cpu_count() or MIN_WORKERS))
        self.protections: frozenset[str] | None = None
        """Protections of the workers on this machine, in addition to WebAssembly; None before the first worker."""
        self._files = CompiledFiles(cache_dir, BUILT / COMPILED)
        self._slots = asyncio.Semaphore(self.size)
        self._idle: list[WorkerProcess] = []
        self._workers: set[WorkerProcess] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await cancel_and_wait(self._tasks)
        await self._files.close()
        workers = list(self._workers)
        for worker in workers:
            worker.kill()
        for worker in workers:
            await self._stop_worker(worker)

    def warm(self, language: Language) -> None:
        """Compile the runtime of a language in the background, so that the first call need not wait."""
        self._keep(asyncio.create_task(self._compile(language), name=f"the runtime of {language}"))

    async def _compile(self, language: Language) -> None:
        try:
            await self._files.find(_runtime(language))
        except Unavailable as error:  # running a script raises the same error
            log.warning("scripts in %s cannot be run: %s %s", language, error.message, error.hint or "")

    async def check(self, source: bytes) -> str | None:
        """Return why a component cannot be a skill; None if it can."""
        if len(source) > MAX_COMPONENT:
            return f"It is larger than {MAX_COMPONENT >> 20} MB."
        try:
            await self._files.find(await asyncio.to_thread(Component.from_bytes, source))
        except Uncompilable as error:
            return str(error)
        return None

    async def run(
        self, program: Program, input_json: str, limits: RunLimits, host: HostCall, *, invocation: str
    ) -> RunOutcome:
        try:
            component, request = await _call_request(program, input_json, limits)
            for _ in range(ATTEMPTS):
                path = await self._files.find(component)
                ended = await self._call(request.at(path), host, invocation)
                if ended is not None:
                    return ended
                self._files.drop(path)
        except Uncompilable as error:
            return RunOutcome(RunEnd.UNUSABLE, error=str(error))
        return RunOutcome(RunEnd.CRASHED, error="The compiled component cannot be loaded.")

    async def _call(self, request: CallRequest, host: HostCall, invocation: str) -> RunOutcome | None:
        """Run a call on a worker; None if the compiled file is broken."""
        async with self._slots:
            while True:
                async with self._lend_worker() as worker:
                    call = WorkerCall(worker, host, self._keep)
                    try:
                        ended = await call.run(request)
                    except WorkerGone:
                        if not call.began and worker.calls:
                            continue  # it died while idle: try another worker
                        log.warning("the worker of invocation %s ended in the middle", invocation)
                        ended = RunOutcome(RunEnd.CRASHED, error="Its worker process ended unexpectedly.")
                    worker.calls += 1
                    return ended

    @asynccontextmanager
    async def _lend_worker(self) -> AsyncGenerator[WorkerProcess]:
        """Lend an idle or new worker. It returns to the pool only if it is free and alive."""
        worker = self._idle.pop() if self._idle else await self._start_worker()
        try:
            yield worker
        except BaseException:
            worker.is_free = False
            worker.kill()
            raise
        finally:
            if worker.is_free and worker.calls < MAX_CALLS:
                self._idle.append(worker)
            else:
                worker.kill()
                self._keep(asyncio.create_task(self._stop_worker(worker)))

    async def _start_worker(self) -> WorkerProcess:
        await self._files.open()
        worker = await WorkerProcess.start(self._files.folders)
        self._workers.add(worker)
        self.protections = worker.protections
        return worker

    async def _stop_worker(self, worker: WorkerProcess) -> None:
        await worker.wait_closed()
        self._workers.discard(worker)

    def _keep(self, task: "asyncio.Task[Any]") -> None:
        """Keep a task running in the background, until the pool closes."""
        self._tasks.add(task)
        task.add_done_callback(self._drop)

    def _drop(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("%s failed", task.get_name(), exc_info=error)


def _runtime(language: Language) -> Component:
    runtime = runtimes()[language]
    return Component(runtime.sha256, runtime.path)


async def _call_request(
    program: Program, input_json: str, limits: RunLimits
) -> tuple[Component, CallRequest]:
    if len(input_json) > MAX_INPUT:
        raise Uncompilable(f"Its input is larger than {MAX_INPUT >> 20} MB.")
    if program.language is Language.WASM:
        if len(program.source) > MAX_COMPONENT:
            raise Uncompilable(f"It is larger than {MAX_COMPONENT >> 20} MB.")
        return Component.from_bytes(program.source), CallRequest(
            (input_json,), limits, limits.memory_bytes, is_ours=False
        )
    if len(program.source) > MAX_SOURCE:
        raise Uncompilable(f"Its source is larger than {MAX_SOURCE >> 20} MB.")
    try:
        source = program.source.decode()
    except UnicodeDecodeError as error:
        raise Uncompilable("Its source is not UTF-8 text.") from error
    memory = runtimes()[program.language].baseline_bytes + limits.memory_bytes
    return _runtime(program.language), CallRequest((source, input_json), limits, memory, is_ours=True)
