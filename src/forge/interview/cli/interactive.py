"""Answer an interview by asking the user."""

from collections.abc import Callable

from forge.accounts.models import SecretView
from forge.errors import Conflict, Internal, Invalid, NotFound
from forge.interview.cli import renderers
from forge.interview.cli.display import InterviewDisplay
from forge.interview.cli.prompts import SWITCH, Entry, ExitInterview, Menu, Prompts
from forge.interview.cli.session_client import SessionClient
from forge.interview.domain.dialogue import (
    AskQuestion,
    Chosen,
    Clarify,
    Confirmed,
    Mode,
    Phase,
    ReadyToAssemble,
    ReadyToCreateSkill,
    Said,
    ShowPreview,
    WentBack,
    phase_label,
)
from forge.interview.domain.state import InterviewSpeaker
from forge.interview.models import SessionView
from forge.llm.models import ModelsView
from forge.terminal.entry import show_error

OTHER = Entry("Other (type your own)")
BACK = Entry("← Back")
CHANGE = Entry("Describe a change")
SET_UP = "setup"
"""Id of the option that Forge adds while no model has a key."""


class InteractiveResponder:
    def __init__(
        self, client: SessionClient, prompts: Prompts, display: InterviewDisplay, *, confirms: bool
    ) -> None:
        """With `confirms`, accept the result without asking."""
        self._client = client
        self._prompts = prompts
        self._display = display
        self._confirms = confirms

    def respond(self, view: SessionView) -> SessionView | None:
        """Answer a turn and return the next one, or None once the result is confirmed. Ask again after an error."""
        self._display.turn(view)
        try:
            return self._respond(view)
        except (Invalid, Conflict) as error:
            show_error(error)
            return self._client.view(view.session_id)

    def _respond(self, view: SessionView) -> SessionView | None:
        match view.turn:
            case AskQuestion() as turn:
                return self._answer_question(view, turn)
            case Clarify():
                return self._answer_in_words(view)
            case ShowPreview():
                return self._answer_preview(view)
            case ReadyToAssemble() | ReadyToCreateSkill():
                return None if self._confirms else self._review(view)
            case None:
                raise Internal("The interview has no current turn.")

    def _choose(
        self,
        view: SessionView,
        entries: list[Entry],
        act: Callable[[int], SessionView | None],
        *,
        other: Entry | None = None,
        hint: str = "in your own words; leave it empty to return to the list",
        back: Entry | None = None,
    ) -> SessionView | None:
        """Show the entries, one for free text and one that goes back. Call `act` with the index of an entry, back included."""
        count = len(entries)
        shown = [*entries, *([other] if other else []), *([back] if back else [])]
        menu = Menu(
            shown,
            back=len(shown) - 1 if back else None,
            other=count if other else None,
            switch=_switch_label(view),
        )
        while True:
            picked = self._prompts.choose(menu)
            if picked == SWITCH:
                is_model = view.spoken_by.speaker is InterviewSpeaker.MODEL
                return self._client.switch(
                    view, InterviewSpeaker.GUIDE if is_model else InterviewSpeaker.MODEL
                )
            if picked == menu.other:
                picked = self._prompts.read_text(hint=hint)
            if isinstance(picked, int):
                return act(count if picked == menu.back else picked)
            if picked:
                self._display.answer(picked)
                return self._client.answer(view, Said(text=picked))

    def _answer_question(self, view: SessionView, turn: AskQuestion) -> SessionView | None:
        def act(index: int) -> SessionView:
            if index == len(turn.options):
                return self._go_back(view)
            option = turn.options[index]
            self._display.answer(option.label)
            if option.id == SET_UP and turn.phase is Phase.MODEL and self._prompts.is_terminal:
                return self.set_up_model(view)
            return self._client.answer(view, Chosen(index=index))

        entries = [Entry(option.label, option.reason) for option in turn.options]
        other = OTHER if turn.allow_free_text else None
        return self._choose(view, entries, act, other=other, back=BACK if view.lines else None)

    def _answer_in_words(self, view: SessionView) -> SessionView:
        hint = "in your own words; leave it empty to go back" if view.lines else "in your own words"
        while True:
            if text := self._prompts.read_text(hint=hint):
                return self._client.answer(view, Said(text=text))
            if view.lines:
                return self._go_back(view)

    def _answer_preview(self, view: SessionView) -> SessionView | None:
        def act(index: int) -> SessionView:
            if index == 1 and not view.lines:
                raise ExitInterview()
            return self._client.answer(view, Confirmed(yes=index == 0))

        first, back = (
            (Entry("Continue"), BACK)
            if view.lines
            else (Entry("Change something"), Entry("Leave it as it is"))
        )
        return self._choose(view, [first], act, other=_change_entry(view), back=back)

    def _review(self, view: SessionView) -> SessionView | None:
        confirm = "Save the changes" if view.mode is Mode.RECONFIGURE else "Create it"
        entries = [
            Entry(confirm),
            Entry("Show the files", "exactly as they would be written"),
            Entry("Change something", "go back to a part of the interview"),
            Entry("Leave", "the interview is saved as a draft"),
        ]
        if view.mode is Mode.RECONFIGURE:
            self._display.print(renderers.changes_page(self._client.create(view, dry_run=True).files))
        while True:
            match self._prompts.choose(Menu(entries)):
                case 0:
                    self._display.answer(confirm)
                    return None
                case 1:
                    self._display.print(renderers.files_page(self._client.create(view, dry_run=True).files))
                case 2:
                    if (changed := self._change(view)) is not None:
                        return changed
                case _:
                    raise ExitInterview()

    def _change(self, view: SessionView) -> SessionView | None:
        """Return None when nothing is to be changed after all."""

        def act(index: int) -> SessionView | None:
            if index == len(view.back_to):
                return None
            return self._client.answer(view, WentBack(phase=view.back_to[index]))

        entries = [Entry(phase_label(view.mode, phase), _answers_of(view, phase)) for phase in view.back_to]
        return self._choose(view, entries, act, other=_change_entry(view), back=Entry("Cancel"))

    def _go_back(self, view: SessionView) -> SessionView:
        self._display.answer("Back")
        return self._client.answer(view, WentBack())

    def offer_model(self, view: SessionView) -> SessionView:
        """Offer to set up a model before the first question."""
        self._display.speaker(view.spoken_by)
        entries = [
            Entry("Continue without a model", "the bot or skill is created all the same"),
            Entry("Set up a model first", "save the key of a provider: the questions will fit better"),
        ]
        return self.set_up_model(view) if self._prompts.choose(Menu(entries)) == 1 else view

    def set_up_model(self, view: SessionView) -> SessionView:
        """Save a key and let the model take over. The current turn stays."""
        try:
            if self._save_key():
                return self._client.switch(view, InterviewSpeaker.MODEL)
        except (Invalid, Conflict, NotFound) as error:
            show_error(error)
        return self._client.view(view.session_id)

    def _save_key(self) -> bool:
        """Save the key of a provider in the vault. Return False when none was entered."""
        client = self._client.client
        found = client.get("/models", ModelsView).providers
        providers = [(one.name, one.key_name) for one in found if one.key_name and not one.has_key]
        entries = [Entry(name, f"its key is saved as {key_name}") for name, key_name in providers]
        picked = self._prompts.choose(Menu([*entries, Entry("None of these")], back=len(entries)))
        if not isinstance(picked, int) or picked >= len(entries):
            return False
        key_name = providers[picked][1]
        value = self._prompts.read_hidden(f"{key_name} (not shown)")
        if value:
            client.put(f"/secrets/{key_name}", SecretView, {"value": value, "scope": ""})
            self._display.note(f"Saved {key_name}, encrypted.")
        return bool(value)


def _switch_label(view: SessionView) -> str | None:
    if not view.spoken_by.can_switch:
        return None
    is_model = view.spoken_by.speaker is InterviewSpeaker.MODEL
    return "ask without the model" if is_model else "let the model ask"


def _change_entry(view: SessionView) -> Entry | None:
    return CHANGE if view.spoken_by.speaker is InterviewSpeaker.MODEL else None


def _answers_of(view: SessionView, phase: Phase) -> str:
    return "; ".join(" ".join(line.answer.split()) for line in view.lines if line.phase is phase)
