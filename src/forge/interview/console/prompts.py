"""How something is asked at a terminal. With arrow keys where there is one, with numbers where there is only a pipe."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Protocol

from forge.errors import ForgeError


@dataclass(frozen=True)
class Entry:
    """One line of a list."""

    label: str
    reason: str = ""


class Aside(Enum):
    """What can be wished for beside the entries of a list."""

    SWITCH = auto()
    """Another one shall ask: the model, or Forge's own guide."""


@dataclass(frozen=True)
class Menu:
    entries: Sequence[Entry]
    back: int | None = None
    """The entry that goes back, which has a key of its own."""
    other: int | None = None
    """The entry that stands for words of one's own."""
    switch: str | None = None
    """Who would ask instead, in words; None where nobody could."""


class Left(Exception):
    """Somebody does not want to go on; nothing of the interview is lost."""

    def __init__(self, *, is_interrupt: bool = False, error: ForgeError | None = None) -> None:
        """`error`: nobody wanted to leave, but there is nobody to ask any more."""
        super().__init__("somebody left")
        self.is_interrupt = is_interrupt
        self.error = error


class Prompts(Protocol):
    """Every method raises `Left` when the person does."""

    is_terminal: bool

    def choose(self, menu: Menu) -> int | str | Aside:
        """The place of an entry; or words, where the person could say them at once."""
        ...

    def write(self, *, hint: str = "") -> str:
        """Some words; none at all are possible."""
        ...

    def write_hidden(self, label: str) -> str: ...
