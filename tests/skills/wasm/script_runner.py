"""Run a script with a host that answers from a dictionary and records its calls."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from forge.skills.execution import HostError, HostRefusal, Language, Program, RunLimits, RunOutcome
from forge.skills.wasm.worker_pool import WorkerPool

MB = 1 << 20
LIMITS = RunLimits(16 * MB, 20_000_000_000, 10.0)
SHORT = RunLimits(16 * MB, 10**15, 1.0)
"""So much fuel that only the time limit is reached."""


@dataclass
class Host:
    """Refuses operations without an answer."""

    answers: dict[str, Any] = field(default_factory=dict[str, Any])
    calls: list[tuple[str, dict[str, Any]]] = field(default_factory=list[tuple[str, dict[str, Any]]])

    async def __call__(self, op: str, args: dict[str, Any]) -> Any:
        self.calls.append((op, args))
        if op not in self.answers:
            raise HostRefusal(f"{op} was not granted")
        answer = self.answers[op]
        if isinstance(answer, Exception):
            raise answer
        return answer(args) if isinstance(answer, Callable) else answer


async def never_answer(op: str, args: dict[str, Any]) -> None:
    await asyncio.Event().wait()


async def run(
    pool: WorkerPool,
    source: str | bytes,
    language: Language = Language.JS,
    *,
    input_json: str = "{}",
    limits: RunLimits = LIMITS,
    host: Any = None,
) -> RunOutcome:
    data = source.encode() if isinstance(source, str) else source
    return await pool.run(
        Program(language, data), input_json, limits, host or Host({"log": None}), invocation="test"
    )


MISSING = HostError("there is no such file")
