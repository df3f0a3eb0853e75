"""How the demo tells what it does: a heading for each part, what is asked and answered, what came of it."""

import textwrap
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from forge.terminal.output import console, words, working
from forge.terminal.text import clean

INDENT = "   "
MARGIN = f"{INDENT}│ "
FAINT = "bright_black"
LABEL_WIDTH = 8


class Quote:
    """Words that are shown as they come. An end of line waits for what follows it."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._heard = ""
        self._shown = 0

    def add(self, piece: str) -> None:
        self._heard += piece
        ready = self._heard.rstrip("\n")
        if len(ready) > self._shown:
            margin = MARGIN if self._shown == 0 else ""
            text = clean(ready[self._shown :]).replace("\n", f"\n{MARGIN}")
            self._out.out(f"{margin}{text}", end="")
            self._shown = len(ready)

    def complete(self, whole: str) -> None:
        """The rest, if not all of it came in pieces."""
        self.add(whole[len(self._heard) :])


class Narrator:
    def __init__(self, parts: int) -> None:
        self._out = console()
        self._parts = parts
        self._part = 0

    def begin(self, *lines: str) -> None:
        for line in lines:
            self._out.print(words(line))

    def end(self, line: str) -> None:
        self._out.print()
        self._out.print(words(line))

    def heading(self, title: str) -> None:
        self._part += 1
        self._out.print()
        self._out.print(Text.assemble((f"{self._part}/{self._parts} ", FAINT), (clean(title), "bold")))

    def say(self, text: str) -> None:
        self._indented(text)

    def done(self, text: str) -> None:
        self._out.print(Text.assemble(INDENT, ("✓ ", "green"), clean(text)))

    def skipped(self, text: str) -> None:
        self._out.print(Text.assemble(INDENT, ("- ", "yellow"), clean(text)))

    def line(self, label: str, text: str) -> None:
        """Who says it, and what."""
        self._out.print(Text.assemble(INDENT, (f"{clean(label):<{LABEL_WIDTH}} ", FAINT), clean(text)))

    def quote(self, text: str) -> None:
        for line in text.rstrip().splitlines():
            self._out.print(Text.assemble(INDENT, ("│ ", FAINT), clean(line)))

    @contextmanager
    def quoting(self) -> Generator["Quote"]:
        """The same, piece by piece as it comes."""
        quote = Quote(self._out)
        yield quote
        self._out.out("")

    @contextmanager
    def waiting(self, what: str) -> Generator[None]:
        """A sign of life: it moves in a terminal, and is a line elsewhere."""
        if not console(stderr=True).is_terminal:
            self._out.print(words(f"{INDENT}… {what}", FAINT))
        with working(f"{what} …"):
            yield

    @contextmanager
    def timed(self, what: str, done: Callable[[float], str]) -> Generator[None]:
        begun = time.monotonic()
        with self.waiting(what):
            yield
        self.done(done(time.monotonic() - begun))

    def links(self, pairs: list[tuple[str, str]]) -> None:
        width = max(len(name) for name, _ in pairs)
        for name, url in pairs:
            self._out.print(words(f"{INDENT}{name:<{width}}  {url}"), soft_wrap=True)

    def _indented(self, text: str) -> None:
        width = min(self._out.width, 110) - len(INDENT)
        for line in textwrap.wrap(clean(text), width):
            self._out.print(words(f"{INDENT}{line}"))
