"""Select the strongest backend that works on this machine and run commands in it."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forge.errors import ForgeError, SandboxTooWeak, Unavailable
from forge.sandbox.backends.backend import Backend
from forge.sandbox.backends.bubblewrap import Bubblewrap, find_bwraps
from forge.sandbox.backends.landlock import Landlock, landlock_abi
from forge.sandbox.backends.launched_process import Plain
from forge.sandbox.backends.seatbelt import Seatbelt, has_seatbelt
from forge.sandbox.isolation_check import IsolationResult, check_isolation
from forge.sandbox.models import Command, Guarantee, Level, Outcome, Refused, SandboxReport
from forge.sandbox.registry_gateway.access import Registries


@dataclass(frozen=True)
class Candidate:
    name: str
    make: Callable[[Level], Backend]
    """Creates the backend with the level found by the isolation check, which is part of every outcome."""


def candidates(registries: Registries) -> Iterator[Candidate]:
    for program in find_bwraps():
        yield Candidate(
            Bubblewrap.name, lambda level, program=program: Bubblewrap(program, level, registries)
        )
    if landlock_abi():
        yield Candidate(Landlock.name, lambda level: Landlock(level, registries))
    if has_seatbelt():
        yield Candidate(Seatbelt.name, lambda level: Seatbelt(level, registries))
    yield Candidate(Plain.name, lambda level: Plain(level, registries))


_INSTALL = (
    "Install bubblewrap (apt install bubblewrap, or dnf, pacman) and allow user namespaces "
    "(sysctl kernel.unprivileged_userns_clone=1, on Ubuntu kernel.apparmor_restrict_unprivileged_userns=0)"
)
_MACOS = "macOS supports partial isolation at most: run Forge in a Linux virtual machine"
_RETRY_HINT = "Fix the problem and try again: the next command repeats the check."


@dataclass(frozen=True)
class Trial:
    candidate: Candidate
    observed: IsolationResult

    @property
    def rank(self) -> tuple[int, bool]:
        """Sort key, lowest is best. Among backends without isolation, one that can run commands is preferred."""
        return list(Level).index(self.observed.level), self.observed.problem is not None


@dataclass(frozen=True)
class Selection:
    sandbox: Backend
    report: SandboxReport
    problem: str | None
    """Why no backend could be checked, such as a full disk. Such a selection is not cached."""


class Sandboxes:
    """Runs commands for other packages; refuses them below the required isolation level."""

    def __init__(self, required: Level = Level.ISOLATED, hidden: tuple[Path, ...] = ()) -> None:
        self._required = required
        self.hidden = hidden
        """Paths that no command may see, such as the data directory; passed to `toolchain`."""
        self._registries = Registries()
        self._lock = asyncio.Lock()
        self._selection: Selection | None = None

    @property
    def report(self) -> SandboxReport | None:
        """None until the first command or `open`."""
        return self._selection.report if self._selection else None

    async def open(self) -> SandboxReport:
        """Select a backend. The first call checks the candidates; concurrent calls wait for its result."""
        return (await self._select()).report

    async def run(self, command: Command) -> Outcome:
        chosen = await self._select()
        if not chosen.report.level.satisfies(self._required):
            raise _refusal(chosen)
        return await chosen.sandbox.run(command)

    async def _select(self) -> Selection:
        async with self._lock:
            if self._selection is not None:
                return self._selection
            chosen = self._pick([tried async for tried in _try_all(self._registries)])
            if chosen.problem is None:
                self._selection = chosen
            return chosen

    def _pick(self, tried: list[Trial]) -> Selection:
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
        return Selection(best.candidate.make(level), report, problem)


async def _try_all(registries: Registries) -> AsyncIterator[Trial]:
    for candidate in candidates(registries):
        tried = Trial(candidate, await _try(candidate))
        yield tried
        if tried.observed.level is Level.ISOLATED:
            return


async def _try(candidate: Candidate) -> IsolationResult:
    try:
        return await check_isolation(candidate.make(Level.NONE))
    except (OSError, ForgeError) as error:
        return IsolationResult({}, str(error))


def _refused(tried: list[Trial], best: Trial) -> Iterator[Refused]:
    for each in tried:
        if each is not best or each.observed.problem:
            broken = ", ".join(name for name, holds in each.observed.guarantees.items() if not holds)
            yield Refused(
                backend=each.candidate.name, why=each.observed.problem or f"does not hold: {broken}"
            )


def _refusal(chosen: Selection) -> Unavailable:
    report = chosen.report
    if chosen.problem:
        return Unavailable(f"The sandbox is not available: {chosen.problem}", hint=report.advice)
    return SandboxTooWeak(
        f"Commands can only be run {_in_words(report.level)} here, and the settings require "
        f"{_in_words(report.required)}.",
        hint=report.advice,
    )


def _advice(level: Level, problem: str | None) -> str | None:
    if problem:
        return _RETRY_HINT
    if level is Level.ISOLATED:
        return None
    install = _MACOS if sys.platform == "darwin" else _INSTALL
    return f"{install}; or accept less isolation with FORGE_SANDBOX_REQUIRED={level}."


def _in_words(level: Level) -> str:
    return {
        Level.ISOLATED: "isolated",
        Level.PARTIAL: "partly isolated",
        Level.NONE: "without isolation",
    }[level]
