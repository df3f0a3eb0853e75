"""Chooses the strongest back end that works here, once, and refuses commands when it is too weak."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

from forge.errors import ForgeError, SandboxTooWeak
from forge.sandbox.backends import Candidate, candidates
from forge.sandbox.models import Command, Level, Outcome, Refused, SandboxReport
from forge.sandbox.registry import Registries
from forge.sandbox.sandbox import Sandbox
from forge.sandbox.selftest import Observed, observe

_INSTALL = (
    "Install bubblewrap (apt install bubblewrap, or dnf, pacman) and allow user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0)"
)
_MACOS = "On macOS partial is the best there is: run Forge in a Linux virtual machine"


@dataclass(frozen=True)
class Tried:
    candidate: Candidate
    observed: Observed

    @property
    def rank(self) -> tuple[int, bool]:
        """The lowest is the best. Of two without any protection, the one that at least runs."""
        return list(Level).index(self.observed.level), self.observed.problem is not None


class Sandboxes:
    """The door to processes for everybody else."""

    def __init__(self, required: Level = Level.ISOLATED) -> None:
        self._required = required
        self._registries = Registries()
        self._lock = asyncio.Lock()
        self._chosen: tuple[Sandbox, SandboxReport] | None = None

    @property
    def report(self) -> SandboxReport | None:
        """None until the first command, or `open`."""
        return self._chosen[1] if self._chosen else None

    async def open(self) -> SandboxReport:
        """Try out what there is. The first call does it, the others wait for its result."""
        return (await self._choose())[1]

    async def run(self, command: Command) -> Outcome:
        sandbox, report = await self._choose()
        if not report.level.satisfies(self._required):
            raise SandboxTooWeak(
                f"Commands can only be run {_in_words(report.level)} here, and the settings require "
                f"{_in_words(self._required)}.",
                hint=report.advice,
            )
        return await sandbox.run(command)

    async def _choose(self) -> tuple[Sandbox, SandboxReport]:
        async with self._lock:
            if self._chosen is None:
                self._chosen = self._pick([tried async for tried in _try_all(self._registries)])
            return self._chosen

    def _pick(self, tried: list[Tried]) -> tuple[Sandbox, SandboxReport]:
        best = min(tried, key=lambda each: each.rank)
        level = best.observed.level
        report = SandboxReport(
            backend=best.candidate.name,
            level=level,
            guarantees=best.observed.guarantees,
            tried=[*_refused(tried, best)],
            required=self._required,
            advice=None if level is Level.ISOLATED else _advice(level),
        )
        return best.candidate.make(level), report


async def _try_all(registries: Registries) -> AsyncIterator[Tried]:
    for candidate in candidates(registries):
        tried = Tried(candidate, await _try(candidate))
        yield tried
        if tried.observed.level is Level.ISOLATED:
            return


async def _try(candidate: Candidate) -> Observed:
    try:
        return await observe(candidate.make(Level.NONE))
    except (OSError, ForgeError) as error:
        return Observed({}, str(error))


def _refused(tried: list[Tried], best: Tried) -> Iterator[Refused]:
    for each in tried:
        if each is not best:
            broken = ", ".join(name for name, holds in each.observed.guarantees.items() if not holds)
            yield Refused(
                backend=each.candidate.name, why=each.observed.problem or f"does not hold: {broken}"
            )


def _advice(level: Level) -> str:
    install = _MACOS if sys.platform == "darwin" else _INSTALL
    return f"{install}; or accept less with FORGE_SANDBOX_REQUIRED={level}."


def _in_words(level: Level) -> str:
    return {
        Level.ISOLATED: "isolated",
        Level.PARTIAL: "partly isolated",
        Level.NONE: "without isolation",
    }[level]
