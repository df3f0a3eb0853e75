"""What Forge and a worker say to each other in the course of one call, and when Forge stops listening."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic_core import to_json

from forge.skills.execution import (
    Ended,
    HostCall,
    HostError,
    HostRefusal,
    RunEnd,
    RunLimits,
)
from forge.skills.wasm import frames
from forge.skills.wasm.member import START_S, Gone, Member
from forge.skills.wasm.texts import MAX_ASKED, MAX_VALUES, has_more_values, read_arguments, read_json

GRACE_S = 0.1
"""A worker stops a skill by itself; one that does not is killed this much later."""
MAX_REPLY = 4 << 20


@dataclass(frozen=True)
class Order:
    """What a worker is asked to call, and with what."""

    texts: tuple[str, ...]
    limits: RunLimits
    memory_bytes: int
    is_ours: bool
    path: Path = Path()

    def at(self, path: Path) -> "Order":
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


class Conversation:
    def __init__(self, member: Member, host: HostCall, keep: Callable[["asyncio.Task[Any]"], None]) -> None:
        self._member = member
        self._host = host
        self._keep = keep
        self._refusal = ""
        self.began = False

    async def hold(self, order: Order) -> Ended | None:
        """None if the worker cannot load what it should call. Raises Gone when it dies."""
        self._member.is_free = False
        try:
            async with asyncio.timeout(START_S):
                await self._member.tell(order.message())
                first = await self._member.hear()
        except TimeoutError as error:
            raise Gone from error
        if "broken" in first:
            self._member.is_free = True
            return None
        self.began = True
        deadline = asyncio.get_running_loop().time() + order.limits.seconds
        return await self._until(deadline, order.limits)

    async def _until(self, deadline: float, limits: RunLimits) -> Ended:
        clock = asyncio.timeout_at(deadline + GRACE_S)
        try:
            async with clock:
                while "call" in (message := await self._member.hear()):
                    await self._member.tell(await self._serve(message, deadline))
        except TimeoutError:
            if not clock.expired():
                raise
            took_ms = (limits.seconds + GRACE_S) * 1000
            return Ended(RunEnd.TIME, error=_words(RunEnd.TIME, limits), duration_ms=took_ms)
        self._member.is_free = True
        return self._ended(message, limits)

    async def _serve(self, message: frames.Message, deadline: float) -> frames.Message:
        """What the host answers, as long as there is time. A host that does not end when it is told to is left behind."""
        if has_more_values(message["args"], MAX_ASKED):
            return {"err": f"{message['call']} was given more than {MAX_ASKED:,} values"}
        arguments = read_arguments(message["args"])
        if arguments is None:
            return {"err": "the arguments are no JSON object"}
        work = asyncio.ensure_future(self._host(message["call"], arguments))
        try:
            left = deadline - asyncio.get_running_loop().time()
            await asyncio.wait([work, self._member.ended], timeout=left, return_when=asyncio.FIRST_COMPLETED)
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
            return {"err": f"the answer has more than {MAX_REPLY >> 20} MB"}
        return {"ok": text}

    def _ended(self, message: frames.Message, limits: RunLimits) -> Ended:
        end = RunEnd(message["end"])
        ended = Ended(
            end, None, message.get("error", ""), message["fuel"], message["memory"], message["seconds"] * 1000
        )
        if end is RunEnd.DONE:
            return _read(ended, message["output"])
        if end is RunEnd.REFUSED:
            return replace(ended, error=self._refusal)
        if end in {RunEnd.RAISED, RunEnd.UNUSABLE, RunEnd.OUTPUT}:
            return ended
        return replace(ended, error=_words(end, limits))


def _read(ended: Ended, text: str) -> Ended:
    if has_more_values(text, MAX_VALUES):
        return replace(ended, end=RunEnd.OUTPUT, error=f"It gave more than {MAX_VALUES:,} values.")
    try:
        return replace(ended, output=read_json(text))
    except ValueError as error:
        return replace(ended, end=RunEnd.OUTPUT, error=f"What it gave is no JSON: {error}")


def _words(end: RunEnd, limits: RunLimits) -> str:
    return {
        RunEnd.FUEL: f"It used up its {limits.fuel:,} instructions.",
        RunEnd.MEMORY: f"It needs more than {limits.memory_bytes >> 20} MB of memory.",
        RunEnd.TIME: f"It took longer than {limits.seconds:g} seconds.",
        RunEnd.STACK: "It called itself too deeply.",
    }[end]
