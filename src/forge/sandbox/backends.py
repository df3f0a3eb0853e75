"""The back ends this platform might have, the strongest first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forge.sandbox.bubblewrap import Bubblewrap, find_bwraps
from forge.sandbox.landlock import Landlock, landlock_abi
from forge.sandbox.models import Level
from forge.sandbox.plain import Plain
from forge.sandbox.registry import Registries
from forge.sandbox.sandbox import Sandbox
from forge.sandbox.seatbelt import Seatbelt, has_seatbelt


@dataclass(frozen=True)
class Candidate:
    name: str
    make: Callable[[Level], Sandbox]
    """The level is what the self-test found, and goes into every outcome."""


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
