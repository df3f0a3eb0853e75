"""Shows an interview as it goes on: only what is new since the last turn."""

from rich.console import Console, RenderableType

from forge.interview.console import show
from forge.interview.domain.dialogue import Phase, ReadyToAssemble, ReadyToCreateSkill, ShowPreview
from forge.interview.models import SessionView, SpokenBy


def is_ready(view: SessionView) -> bool:
    return isinstance(view.turn, ReadyToAssemble | ReadyToCreateSkill)


class Stage:
    def __init__(self, out: Console) -> None:
        self.out = out
        self._spoken_by: SpokenBy | None = None
        self._phase: Phase | None = None

    def turn(self, view: SessionView) -> None:
        self.introduce(view.spoken_by)
        self._preview(view)
        self.out.print(show.ready_page(view) if is_ready(view) else show.question(view))

    def introduce(self, spoken: SpokenBy) -> None:
        """Who asks: at the beginning, and when it is somebody else."""
        known = self._spoken_by
        if known is None or (known.speaker, known.why) != (spoken.speaker, spoken.why):
            self.out.print(show.speaker_line(spoken))
        self._spoken_by = spoken

    def answered(self, label: str) -> None:
        self.out.print(show.answered(label))

    def say(self, text: str) -> None:
        self.out.print(show.faint(text))

    def page(self, page: RenderableType) -> None:
        self.out.print(page)

    def _preview(self, view: SessionView) -> None:
        """When another phase begins; and whenever Forge itself wants to show it."""
        is_new = self._phase is not None and view.phase is not self._phase and not is_ready(view)
        if isinstance(view.turn, ShowPreview) or (is_new and show.is_worth_showing(view.preview)):
            self.out.print(show.preview_panel(view.preview, view.mode))
        self._phase = view.phase
