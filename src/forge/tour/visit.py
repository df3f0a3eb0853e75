"""What every stop of the walk has at hand."""

from collections.abc import Generator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import dataclass, field

from forge.demo.serving import ModelServer
from forge.errors import ForgeError, Internal
from forge.events.models import Event
from forge.runs.watched import Watched
from forge.terminal.client import Client
from forge.tour.folder import Folder
from forge.tour.house import House
from forge.tour.narrator import Narrator

PATIENCE_S = 120.0
"""Longer than anything takes on a machine that is busy."""


@dataclass
class Visit:
    client: Client
    house: House
    models: ModelServer
    folder: Folder
    tell: Narrator
    made: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """What there is to look at in the end: its name and its page."""

    def note(self, name: str, page: str) -> None:
        self.made.append((name, page))

    def part(self, title: str) -> AbstractContextManager[None]:
        return part(self.tell, self.folder, title)

    def expect(self, is_true: bool, otherwise: str) -> None:
        if not is_true:
            raise Internal(otherwise)

    def follow(self, run_id: str) -> Generator[tuple[Event, Watched]]:
        """The events of a run to its end, each with what is known of it then."""
        watched = Watched()
        events = self.client.follow(f"run:{run_id}", Event, within_s=PATIENCE_S)
        with closing(events):
            for event in events:
                watched.add(event)
                yield event, watched
                if watched.status.is_final:
                    return


@contextmanager
def part(tell: Narrator, folder: Folder, title: str) -> Generator[None]:
    """One part of the walk. What fails in it is told with its name and the way to the log."""
    tell.heading(title)
    try:
        yield
    except ForgeError as error:
        log = f"The server's log is {folder.log}"
        raise Internal(
            f"The demo stopped at “{title}”: {error.message}",
            hint=f"{error.hint} {log}" if error.hint else log,
        ) from error
