"""The back ends this platform might have, the strongest first."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from forge.sandbox.bubblewrap import Bubblewrap, find_bwraps
from forge.sandbox.landlock import Landlock, landlock_abi
from forge.sandbox.models import Level
from forge.sandbox.plain import Plain
from forge.sandbox.sandbox import Sandbox
from forge.sandbox.seatbelt import Seatbelt, has_seatbelt


@dataclass(frozen=True)
class Candidate:
    name: str
    make: Callable[[Level], Sandbox]
    """The level is what the self-test found, and goes into every outcome."""


def candidates() -> Iterator[Candidate]:
    for program in find_bwraps():
        yield Candidate(Bubblewrap.name, lambda level, program=program: Bubblewrap(program, level))
    if landlock_abi():
        yield Candidate(Landlock.name, Landlock)
    if has_seatbelt():
        yield Candidate(Seatbelt.name, Seatbelt)
    yield Candidate(Plain.name, Plain)
