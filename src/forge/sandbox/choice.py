"""Chooses the strongest back end that works here, once, and refuses commands when it is too weak."""

import asyncio
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path

from forge.errors import ForgeError, SandboxTooWeak, Unavailable
from forge.sandbox.backends import Candidate, candidates
from forge.sandbox.models import Command, Guarantee, Level, Outcome, Refused, SandboxReport
from forge.sandbox.registry import Registries
from forge.sandbox.sandbox import Sandbox
from forge.sandbox.selftest import Observed, observe

_INSTALL = (
    "Install bubblewrap (apt install bubblewrap, or dnf, pacman) and allow user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0)"
)
_MACOS = "On macOS partial is the best there is: run Forge in a Linux virtual machine"
_AGAIN = "Mend that, and do it again: the next command tries it out anew."


@dataclass(frozen=True)
class Tried:
    candidate: Candidate
    observed: Observed

    @property
    def rank(self) -> tuple[int, bool]:
        """The lowest is the best. Of two without any protection, the one that at least runs."""
        return list(Level).index(self.observed.level), self.observed.problem is not None


@dataclass(frozen=True)
class Chosen:
    sandbox: Sandbox
    report: SandboxReport
    problem: str | None
    """Why nothing could be tried out. That says nothing about the machine: it may be a disk that is full."""


class Sandboxes:
    """The door to processes for everybody else."""

    def __init__(self, required: Level = Level.ISOLATED, hidden: tuple[Path, ...] = ()) -> None:
        self._required = required
        self.hidden = hidden
        """What no command may see, whichever programs lie around it: the data directory. It is for `toolchain`."""
        self._registries = Registries()
        self._lock = asyncio.Lock()
        self._chosen: Chosen | None = None

    @property
    def report(self) -> SandboxReport | None:
        """None until the first command, or `open`."""
        return self._chosen.report if self._chosen else None

    async def open(self) -> SandboxReport:
        """Try out what there is. The first call does it, the others wait for its result."""
        return (await self._choose()).report

    async def run(self, command: Command) -> Outcome:
        chosen = await self._choose()
        if not chosen.report.level.satisfies(self._required):
            raise _refusal(chosen)
        return await chosen.sandbox.run(command)

    async def _choose(self) -> Chosen:
        async with self._lock:
            if self._chosen is not None:
                return self._chosen
            chosen = self._pick([tried async for tried in _try_all(self._registries)])
            if chosen.problem is None:
                self._chosen = chosen
            return chosen

    def _pick(self, tried: list[Tried]) -> Chosen:
        best = min(tried, key=lambda each: each.rank)
        level, problem = best.observed.level, best.observed.problem
        report = SandboxReport(
            backend=best.candidate.name,
            level=level,
            guarantees=best.observed.guarantees or dict.fromkeys(Guarantee, False),
            tried=[*_refused(tried, best)],
            required=self._required,
            advice=_advice(level, problem),
        )
        return Chosen(best.candidate.make(level), report, problem)


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
        if each is not best or each.observed.problem:
            broken = ", ".join(name for name, holds in each.observed.guarantees.items() if not holds)
            yield Refused(
                backend=each.candidate.name, why=each.observed.problem or f"does not hold: {broken}"
            )


def _refusal(chosen: Chosen) -> Unavailable:
    report = chosen.report
    if chosen.problem:
        return Unavailable(f"Commands cannot be locked in for now: {chosen.problem}", hint=report.advice)
    return SandboxTooWeak(
        f"Commands can only be run {_in_words(report.level)} here, and the settings require "
        f"{_in_words(report.required)}.",
        hint=report.advice,
    )


def _advice(level: Level, problem: str | None) -> str | None:
    if problem:
        return _AGAIN
    if level is Level.ISOLATED:
        return None
    install = _MACOS if sys.platform == "darwin" else _INSTALL
    return f"{install}; or accept less with FORGE_SANDBOX_REQUIRED={level}."


def _in_words(level: Level) -> str:
    return {
        Level.ISOLATED: "isolated",
        Level.PARTIAL: "partly isolated",
        Level.NONE: "without isolation",
    }[level]
