"""The environment of every benchmark (a folder, PostgreSQL, the number of rounds), and contenders that take turns."""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from tests.support.postgres import Postgres

Numbers = dict[str, float]


@dataclass
class Bench:
    folder: Path
    quick: bool
    until: float = math.inf
    """On the monotonic clock: when the current benchmark should be finished."""
    _folders: "itertools.count[int]" = field(default_factory=itertools.count)

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    @cached_property
    def postgres(self) -> Postgres:
        """Started when first used, and shared by all benchmarks."""
        return Postgres()

    def new_folder(self) -> Path:
        path = self.folder / f"{next(self._folders)}"
        path.mkdir()
        return path

    def new_database(self, kind: str) -> str:
        """Create an empty database and return its URL."""
        if kind == "sqlite":
            return f"sqlite:///{self.new_folder() / 'bench.db'}"
        return self.postgres.new_database()

    def rounds(self, full: int) -> Iterator[int]:
        """Yield the rounds, stopping early when the time is up. There is at least one, so a slow machine measures
        fewer rounds instead of taking longer."""
        began = time.monotonic()
        for number in range(1 if self.quick else full):
            if number and time.monotonic() + (time.monotonic() - began) / number > self.until:
                return
            yield number

    def in_turns(self, contenders: Mapping[str, Callable[[], Numbers]], *, rounds: int) -> "Rounds":
        """In each round, measure the contenders one right after the other; the order alternates between rounds."""
        done: Rounds = []
        for i in self.rounds(rounds):
            names = list(contenders) if i % 2 == 0 else list(contenders)[::-1]
            done.append({name: contenders[name]() for name in names})
        return done

    def close(self) -> None:
        if "postgres" in self.__dict__:
            self.postgres.stop()


Rounds = list[dict[str, Numbers]]
"""The numbers of each contender, by round."""


def pairs(rounds: Rounds, ours: str, peer: str, number: str) -> list[tuple[float, float]]:
    return [(each[ours][number], each[peer][number]) for each in rounds]
