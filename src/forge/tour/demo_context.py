"""The output of the demo and the shared state of its parts."""

import textwrap
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.text import Text

from forge.bots.chat.terminal.answer_stream import AnswerView
from forge.demo.model_server import ModelServer
from forge.errors import ForgeError, Internal
from forge.events.models import Event
from forge.runs.run_state import RunState
from forge.terminal.client import Client
from forge.terminal.output import console, words, working
from forge.terminal.text import clean
from forge.tour.demo_directory import DemoDirectory
from forge.tour.server_process import ServerProcess

INDENT = "   "
MARGIN = f"{INDENT}│ "
DIM = "bright_black"
LABEL_WIDTH = 9


class Quote(AnswerView):
    """Prints a text while it is streamed. Trailing newlines are held back until more text follows."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._shown = 0

    def write(self, text: str) -> None:
        ready = text.rstrip("\n")
        if len(ready) > self._shown:
            margin = MARGIN if self._shown == 0 else ""
            more = clean(ready[self._shown :]).replace("\n", f"\n{MARGIN}")
            self._out.out(f"{margin}{more}", end="")
            self._shown = len(ready)


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
        self._out.print(Text.assemble((f"{self._part}/{self._parts} ", DIM), (clean(title), "bold")))

    def say(self, text: str) -> None:
        self._indented(text)

    def done(self, text: str) -> None:
        self._out.print(Text.assemble(INDENT, ("✓ ", "green"), clean(text)))

    def skipped(self, text: str) -> None:
        self._out.print(Text.assemble(INDENT, ("- ", "yellow"), clean(text)))

    def line(self, label: str, text: str) -> None:
        """Print a line with a label."""
        self._out.print(Text.assemble(INDENT, (f"{clean(label):<{LABEL_WIDTH}} ", DIM), clean(text)))

    def quote(self, text: str) -> None:
        for line in text.rstrip().splitlines():
            self._out.print(Text.assemble(INDENT, ("│ ", DIM), clean(line)))

    @contextmanager
    def quoting(self) -> Generator["Quote"]:
        """Print a quote while it is streamed."""
        quote = Quote(self._out)
        yield quote
        self._out.out("")

    @contextmanager
    def waiting(self, what: str) -> Generator[None]:
        """Show a spinner in a terminal, a line elsewhere."""
        if not console(stderr=True).is_terminal:
            self._out.print(words(f"{INDENT}… {what}", DIM))
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


TIMEOUT_S = 120.0
"""Longer than any request takes on a busy machine."""


@dataclass
class DemoContext:
    client: Client
    server: ServerProcess
    models: ModelServer
    folder: DemoDirectory
    narrator: Narrator
    links: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Names and pages to list at the end."""

    def add_link(self, name: str, page: str) -> None:
        self.links.append((name, page))

    def part(self, title: str) -> AbstractContextManager[None]:
        return part(self.narrator, self.folder, title)

    def expect(self, is_true: bool, failure: str) -> None:
        if not is_true:
            raise Internal(failure)

    def follow(self, run_id: str) -> Generator[tuple[Event, RunState]]:
        """Follow a run to its end; yield each event with the state of the run."""
        watched = RunState()
        events = self.client.follow(f"run:{run_id}", Event, within_s=TIMEOUT_S)
        with closing(events):
            for event in events:
                watched.add(event)
                yield event, watched
                if watched.status.is_final:
                    return


@contextmanager
def part(narrator: Narrator, folder: DemoDirectory, title: str) -> Generator[None]:
    """Run one part of the demo. Errors are raised with its title and the path of the log."""
    narrator.heading(title)
    try:
        yield
    except ForgeError as error:
        log = f"The server's log is {folder.log}"
        raise Internal(
            f"The demo failed at “{title}”: {error.message}",
            hint=f"{error.hint} {log}" if error.hint else log,
        ) from error
