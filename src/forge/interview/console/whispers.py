"""Hears what the model is writing, in a thread of its own, and shows it while a command waits for the whole."""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress

from rich.console import Console, RenderableType
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

from forge.errors import ForgeError
from forge.events.models import Event
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Due
from forge.interview.models import InterviewDelta, InterviewTurned, SessionView
from forge.terminal.client import Client
from forge.terminal.follower import RawEvent
from forge.terminal.text import clean

THINKING = "thinking …"
WRITING = "writing …"
WRITING_A_SKILL = "writing it, and trying it out in the sandbox …"
LONGEST = 2000
"""Characters of a question that are shown before it is whole."""


class Whispers:
    """Only decoration: what counts comes with the answer of the server."""

    def __init__(self, client: Client, out: Console) -> None:
        self._client = client
        self._out = out
        self._listening_to: str | None = None
        self._doing = THINKING
        self._text = ""
        self._spinner = Spinner("dots", style="bright_black")

    def listen(self, session_id: str) -> None:
        """Until the command ends; asked for once more, it goes on as it is."""
        if self._listening_to != session_id and self._out.is_terminal and not self._out.quiet:
            self._listening_to = session_id
            threading.Thread(target=self._follow, args=(session_id,), daemon=True).start()

    @contextmanager
    def shown(self, *, is_slow: bool = True) -> Generator[None]:
        """A sign of life, and the words as they come; nothing where nobody watches or nobody has to wait."""
        self._text = ""
        if not is_slow or not self._out.is_terminal or self._out.quiet:
            yield
            return
        with Live(console=self._out, transient=True, refresh_per_second=10, get_renderable=self._draw):
            yield

    def _draw(self) -> RenderableType:
        words = clean(self._text[:LONGEST]) or self._doing
        self._spinner.update(text=Text(f" {words}", "bright_black"))
        return self._spinner

    def _follow(self, session_id: str) -> None:
        with suppress(ForgeError):
            for event in self._client.follow(f"interview:{session_id}", Event, on_ephemeral=self._hear):
                if event.type == InterviewTurned.type:
                    self._doing = _doing(InterviewTurned.model_validate(event.data).session)

    def _hear(self, event: RawEvent) -> None:
        if event["type"] == InterviewDelta.type:
            self._text += InterviewDelta.model_validate(event["data"]).text


def _doing(session: SessionView) -> str:
    if session.due is not Due.WRITE:
        return THINKING
    return WRITING_A_SKILL if session.mode is Mode.SKILL else WRITING
