"""Print an interview as it proceeds: each turn once, and a progress line while the server is busy."""

import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from rich.console import Console

from forge.errors import ForgeError
from forge.events.models import Event
from forge.interview.cli import renderers
from forge.interview.domain.dialogue import Mode, Phase, ReadyToAssemble, ReadyToCreateSkill, ShowPreview
from forge.interview.domain.state import Due, InterviewSpeaker
from forge.interview.models import InterviewDelta, InterviewTurned, SessionView, SpokenBy
from forge.terminal.client import Client
from forge.terminal.follower import RawEvent
from forge.terminal.output import FAINT, words, working

THINKING = "thinking …"
MAX_PREVIEW = 2000
"""Characters shown of a question that is not complete yet."""


def is_ready(view: SessionView) -> bool:
    return isinstance(view.turn, ReadyToAssemble | ReadyToCreateSkill)


class InterviewDisplay:
    """Prints turns. Skips what has not changed since the previous one."""

    def __init__(self, out: Console) -> None:
        self.print = out.print
        self._spoken_by: SpokenBy | None = None
        self._phase: Phase | None = None

    def turn(self, view: SessionView) -> None:
        """Print a turn. Print the preview before it when a new phase begins, and when the turn asks to show it."""
        self.speaker(view.spoken_by)
        preview = renderers.preview_page(view.preview, view.mode)
        is_new_phase = self._phase not in (None, view.phase) and not is_ready(view)
        if isinstance(view.turn, ShowPreview) or (is_new_phase and preview.row_count):
            self.print(words("\nSo far", FAINT), preview, sep="\n")
        self._phase = view.phase
        self.print(renderers.ready_page(view) if is_ready(view) else renderers.question(view))

    def speaker(self, spoken: SpokenBy) -> None:
        """Print who asks, if that changed."""
        known = self._spoken_by
        if known is None or (known.speaker, known.why) != (spoken.speaker, spoken.why):
            self.print(renderers.speaker_line(spoken))
        self._spoken_by = spoken

    def answer(self, label: str) -> None:
        self.print(renderers.answered(label))

    def note(self, text: str) -> None:
        self.print(words(text, FAINT))


class ProgressLine:
    """A spinner with the text the model is writing, received in a thread. The result itself comes with the response."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._session_id: str | None = None
        self._activity = THINKING
        self._text = ""
        self._show: Callable[[str], None] | None = None

    @contextmanager
    def shown(self, view: SessionView) -> Generator[None]:
        """Show the line during a call, unless the guide asks: it responds immediately."""
        is_slow = view.mode is Mode.SKILL or view.spoken_by.speaker is InterviewSpeaker.MODEL
        if not is_slow or not sys.stderr.isatty():
            yield
            return
        if self._session_id is None:
            self._session_id = view.session_id
            threading.Thread(target=self._follow_events, args=(view.session_id,), daemon=True).start()
        self._text = ""
        with working(self._activity) as self._show:
            yield
        self._show = None

    def _follow_events(self, session_id: str) -> None:
        with suppress(ForgeError):
            for event in self._client.follow(f"interview:{session_id}", Event, on_ephemeral=self._on_delta):
                if event.type == InterviewTurned.type:
                    self._activity = _activity(InterviewTurned.model_validate(event.data).session)
                    self._update()

    def _on_delta(self, event: RawEvent) -> None:
        if event["type"] == InterviewDelta.type:
            self._text += InterviewDelta.model_validate(event["data"]).text
            self._update()

    def _update(self) -> None:
        if show := self._show:
            show(self._text[:MAX_PREVIEW] or self._activity)


def _activity(session: SessionView) -> str:
    if session.due is not Due.WRITE:
        return THINKING
    return "writing the skill and testing it …" if session.mode is Mode.SKILL else "writing …"
