"""The crew: a few processes that run scripts of skills, each one call at a time, none of them trusted.

Whatever a skill does is an end (`Ended`). What is raised is ours: a runtime that is not built, a host with a defect.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self

from forge.errors import Unavailable
from forge.kernel.background import end
from forge.skills.contents import MAX_ANY_BYTES
from forge.skills.execution import MAX_INPUT, Ended, HostCall, Language, Program, RunEnd, RunLimits
from forge.skills.wasm.compiled import CompiledFiles, Component, Uncompilable
from forge.skills.wasm.conversation import Conversation, Order
from forge.skills.wasm.member import Gone, Member
from forge.skills.wasm.runtimes import BUILT, COMPILED, runtimes

log = logging.getLogger(__name__)

MIN_WORKERS, MAX_WORKERS = 2, 8
MAX_COMPONENT = MAX_ANY_BYTES
MAX_SOURCE = 1 << 20
MAX_CALLS = 10_000
"""Then a process makes room for a new one: whatever little it leaks ends with it."""
ATTEMPTS = 3


class Crew:
    def __init__(self, cache_dir: Path, size: int | None = None) -> None:
        self.size = size or min(MAX_WORKERS, max(MIN_WORKERS, os.cpu_count() or MIN_WORKERS))
        self.protections: frozenset[str] | None = None
        """What the workers are locked in with on this machine, beside WebAssembly itself; None before the first one."""
        self._files = CompiledFiles(cache_dir, BUILT / COMPILED)
        self._places = asyncio.Semaphore(self.size)
        self._idle: list[Member] = []
        self._members: set[Member] = set()
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await end(self._tasks)
        await self._files.close()
        members = list(self._members)
        for member in members:
            member.kill()
        for member in members:
            await self._dismiss(member)

    def warm(self, language: Language) -> None:
        """Has the runtime of a language compiled, beside everything else, so that the first call need not wait."""
        self._keep(asyncio.create_task(self._compile(language), name=f"the runtime of {language}"))

    async def _compile(self, language: Language) -> None:
        try:
            await self._files.find(_runtime(language))
        except Unavailable as error:  # whoever runs a script is told the same
            log.warning("scripts in %s cannot be run: %s %s", language, error.message, error.hint or "")

    async def check(self, source: bytes) -> str | None:
        """Why this component cannot be a skill; None if it can."""
        if len(source) > MAX_COMPONENT:
            return f"It has more than {MAX_COMPONENT >> 20} MB."
        try:
            await self._files.find(await asyncio.to_thread(Component.given, source))
        except Uncompilable as error:
            return str(error)
        return None

    async def run(
        self, program: Program, input_json: str, limits: RunLimits, host: HostCall, *, invocation: str
    ) -> Ended:
        try:
            component, order = await _order(program, input_json, limits)
            for _ in range(ATTEMPTS):
                path = await self._files.find(component)
                ended = await self._call(order.at(path), host, invocation)
                if ended is not None:
                    return ended
                self._files.drop(path)
        except Uncompilable as error:
            return Ended(RunEnd.UNUSABLE, error=str(error))
        return Ended(RunEnd.CRASHED, error="What was compiled of it cannot be loaded.")

    async def _call(self, order: Order, host: HostCall, invocation: str) -> Ended | None:
        """None if what was compiled is broken."""
        async with self._places:
            while True:
                async with self._hired() as member:
                    conversation = Conversation(member, host, self._keep)
                    try:
                        ended = await conversation.hold(order)
                    except Gone:
                        if not conversation.began and member.calls:
                            continue  # it had died unnoticed, before there was anything to do
                        log.warning("the worker of invocation %s ended in the middle", invocation)
                        ended = Ended(RunEnd.CRASHED, error="The process it ran in ended.")
                    member.calls += 1
                    return ended

    @asynccontextmanager
    async def _hired(self) -> AsyncGenerator[Member]:
        """Somebody idle, or somebody new. Whoever is not done, or has died, does not come back."""
        member = self._idle.pop() if self._idle else await self._recruit()
        try:
            yield member
        except BaseException:
            member.is_free = False
            member.kill()
            raise
        finally:
            if member.is_free and member.calls < MAX_CALLS:
                self._idle.append(member)
            else:
                member.kill()
                self._keep(asyncio.create_task(self._dismiss(member)))

    async def _recruit(self) -> Member:
        await self._files.open()
        member = await Member.start(self._files.folders)
        self._members.add(member)
        self.protections = member.protections
        return member

    async def _dismiss(self, member: Member) -> None:
        await member.bury()
        self._members.discard(member)

    def _keep(self, task: "asyncio.Task[Any]") -> None:
        """Goes on beside the call that began it; ends with the crew at the latest."""
        self._tasks.add(task)
        task.add_done_callback(self._drop)

    def _drop(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("%s failed", task.get_name(), exc_info=error)


def _runtime(language: Language) -> Component:
    runtime = runtimes()[language]
    return Component(runtime.sha256, runtime.path)


async def _order(program: Program, input_json: str, limits: RunLimits) -> tuple[Component, Order]:
    if len(input_json) > MAX_INPUT:
        raise Uncompilable(f"Its input has more than {MAX_INPUT >> 20} MB.")
    if program.language is Language.WASM:
        if len(program.source) > MAX_COMPONENT:
            raise Uncompilable(f"It has more than {MAX_COMPONENT >> 20} MB.")
        return Component.given(program.source), Order(
            (input_json,), limits, limits.memory_bytes, is_ours=False
        )
    if len(program.source) > MAX_SOURCE:
        raise Uncompilable(f"Its source has more than {MAX_SOURCE >> 20} MB.")
    try:
        source = program.source.decode()
    except UnicodeDecodeError as error:
        raise Uncompilable("Its source is no UTF-8 text.") from error
    memory = runtimes()[program.language].baseline_bytes + limits.memory_bytes
    return _runtime(program.language), Order((source, input_json), limits, memory, is_ours=True)
