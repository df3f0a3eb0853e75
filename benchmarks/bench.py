"""What every benchmark is given: a folder, a PostgreSQL, how many rounds; and how contenders take turns."""

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
    """On the monotonic clock: when the benchmark that is under way should be over."""
    _folders: "itertools.count[int]" = field(default_factory=itertools.count)

    def size(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    @cached_property
    def postgres(self) -> Postgres:
        """Started when the first benchmark asks for it, the same for all."""
        return Postgres()

    def new_folder(self) -> Path:
        path = self.folder / f"{next(self._folders)}"
        path.mkdir()
        return path

    def new_database(self, kind: str) -> str:
        """The URL of a new, empty database."""
        if kind == "sqlite":
            return f"sqlite:///{self.new_folder() / 'bench.db'}"
        return self.postgres.new_database()

    def rounds(self, full: int) -> Iterator[int]:
        """So many, or as many as there is time for; the first one anyway. A slow machine gets fewer, not a longer wait."""
        began = time.monotonic()
        for number in range(1 if self.quick else full):
            if number and time.monotonic() + (time.monotonic() - began) / number > self.until:
                return
            yield number

    def in_turns(self, contenders: Mapping[str, Callable[[], Numbers]], *, rounds: int) -> "Rounds":
        """A round measures each, one right after another; the order turns around from round to round."""
        done: Rounds = []
        for i in self.rounds(rounds):
            names = list(contenders) if i % 2 == 0 else list(contenders)[::-1]
            done.append({name: contenders[name]() for name in names})
        return done

    def close(self) -> None:
        if "postgres" in self.__dict__:
            self.postgres.stop()


Rounds = list[dict[str, Numbers]]
"""Per round, each contender's numbers."""


def pairs(rounds: Rounds, ours: str, peer: str, number: str) -> list[tuple[float, float]]:
    return [(each[ours][number], each[peer][number]) for each in rounds]
