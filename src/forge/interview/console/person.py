"""Answers an interview by asking a person."""

from forge.errors import Conflict, Internal, Invalid, NotFound
from forge.interview.console import show
from forge.interview.console.keys import save_key
from forge.interview.console.prompts import Aside, Entry, Left, Menu, Prompts
from forge.interview.console.remote import Remote
from forge.interview.console.stage import Stage
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
from forge.terminal.entry import show_error

OTHER = Entry("Other (type your own)")
BACK = Entry("← Back")
SET_UP = "setup"
"""The option that Forge adds where no model has a key."""


class Person:
    def __init__(self, remote: Remote, prompts: Prompts, stage: Stage, *, agrees: bool) -> None:
        """`agrees`: with whatever is ready, without being asked."""
        self._remote = remote
        self._prompts = prompts
        self._stage = stage
        self._agrees = agrees

    def respond(self, view: SessionView) -> SessionView | None:
        """The next turn; None when what is ready shall be made. A refusal is said, and asked again."""
        self._stage.turn(view)
        try:
            return self._respond(view)
        except (Invalid, Conflict) as error:
            show_error(error)
            return self._remote.view(view.session_id)

    def _respond(self, view: SessionView) -> SessionView | None:
        match view.turn:
            case AskQuestion() as turn:
                return self._choose(view, turn)
            case Clarify():
                return self._clarify(view)
            case ShowPreview():
                return self._look(view)
            case ReadyToAssemble() | ReadyToCreateSkill():
                return None if self._agrees else self._at_the_end(view)
            case None:
                raise Internal("Forge has said nothing in this interview.")

    def _choose(self, view: SessionView, turn: AskQuestion) -> SessionView:
        entries = [Entry(option.label, option.reason) for option in turn.options]
        other = len(entries) if turn.allow_free_text else None
        back = len(entries) + turn.allow_free_text if view.lines else None
        entries += [OTHER] * turn.allow_free_text + [BACK] * bool(view.lines)
        while True:
            picked = self._prompts.choose(Menu(entries, back, other, _other_speaker(view)))
            if isinstance(picked, Aside):
                return self._switch(view)
            if isinstance(picked, str):
                return self._say(view, picked)
            if picked == back:
                return self._back(view)
            if picked != other:
                return self._take(view, turn, picked)
            if text := self._prompts.write(hint="in your own words; nothing goes back to the list"):
                return self._say(view, text)

    def _take(self, view: SessionView, turn: AskQuestion, place: int) -> SessionView:
        option = turn.options[place]
        self._stage.answered(option.label)
        if option.id == SET_UP and turn.phase is Phase.MODEL and self._prompts.is_terminal:
            return self.set_up(view)
        return self._remote.answer(view, Chosen(index=place))

    def _clarify(self, view: SessionView) -> SessionView:
        hint = "in your own words; nothing goes back" if view.lines else "in your own words"
        while True:
            if text := self._prompts.write(hint=hint):
                return self._remote.answer(view, Said(text=text))
            if view.lines:
                return self._back(view)

    def _look(self, view: SessionView) -> SessionView:
        entries = [Entry("Go on"), Entry("Go back", "to the question before")]
        if not view.lines:
            entries = [Entry("Change something"), Entry("Leave it as it is")]
        other = len(entries) if view.spoken_by.speaker is InterviewSpeaker.MODEL else None
        entries += [Entry("Say what to change")] * (other is not None)
        picked = self._prompts.choose(Menu(entries, back=1, other=other, switch=_other_speaker(view)))
        if isinstance(picked, Aside):
            return self._switch(view)
        if picked == 1 and not view.lines:
            raise Left()
        text = picked if isinstance(picked, str) else self._prompts.write() if picked == other else ""
        return self._say(view, text) if text else self._remote.answer(view, Confirmed(yes=picked == 0))

    def _at_the_end(self, view: SessionView) -> SessionView | None:
        verb = "Save the changes" if view.mode is Mode.RECONFIGURE else "Create it"
        entries = [
            Entry(verb),
            Entry("Show the files", "exactly as they would be written"),
            Entry("Change something", "go back to a part of the interview"),
            Entry("Leave", "it is kept as a draft"),
        ]
        if view.mode is Mode.RECONFIGURE:
            self._stage.page(show.changes_page(self._remote.make(view, dry_run=True).files))
        while True:
            match self._prompts.choose(Menu(entries)):
                case 0:
                    self._stage.answered(verb)
                    return None
                case 1:
                    self._stage.page(show.files_page(self._remote.make(view, dry_run=True).files))
                case 2:
                    if (changed := self._change(view)) is not None:
                        return changed
                case _:
                    raise Left()

    def _change(self, view: SessionView) -> SessionView | None:
        """None when nothing shall be changed after all."""
        entries = [Entry(phase_label(view.mode, phase), _said_in(view, phase)) for phase in view.back_to]
        in_words = len(entries) if view.spoken_by.speaker is InterviewSpeaker.MODEL else None
        entries += [Entry("Say what to change")] * (in_words is not None) + [Entry("Nothing")]
        picked = self._prompts.choose(Menu(entries, back=len(entries) - 1, other=in_words))
        if isinstance(picked, str):
            return self._say(view, picked)
        if isinstance(picked, Aside) or picked == len(entries) - 1:
            return None
        if picked == in_words:
            text = self._prompts.write(hint="what shall be different?")
            return self._say(view, text) if text else None
        return self._remote.answer(view, WentBack(phase=view.back_to[picked]))

    def _say(self, view: SessionView, text: str) -> SessionView:
        self._stage.answered(text)
        return self._remote.answer(view, Said(text=text))

    def _back(self, view: SessionView) -> SessionView:
        self._stage.answered("Back")
        return self._remote.answer(view, WentBack())

    def _switch(self, view: SessionView) -> SessionView:
        is_model = view.spoken_by.speaker is InterviewSpeaker.MODEL
        return self._remote.switch(view, InterviewSpeaker.GUIDE if is_model else InterviewSpeaker.MODEL)

    def offer_model(self, view: SessionView) -> SessionView:
        """Somebody without a key is told what it would be good for, once."""
        self._stage.introduce(view.spoken_by)
        entries = [
            Entry("Go on without a model", "what comes out is just as real"),
            Entry("Set up a model first", "save the key of a provider: the questions will fit better"),
        ]
        return self.set_up(view) if self._prompts.choose(Menu(entries)) == 1 else view

    def set_up(self, view: SessionView) -> SessionView:
        """A key is saved, and the model takes over; what was asked stays."""
        try:
            if save_key(self._remote.client, self._prompts, self._stage):
                return self._remote.switch(view, InterviewSpeaker.MODEL)
        except (Invalid, Conflict, NotFound) as error:
            show_error(error)
        return self._remote.view(view.session_id)


def _other_speaker(view: SessionView) -> str | None:
    if not view.spoken_by.can_switch:
        return None
    return (
        "ask without the model" if view.spoken_by.speaker is InterviewSpeaker.MODEL else "let the model ask"
    )


def _said_in(view: SessionView, phase: Phase) -> str:
    return "; ".join(" ".join(line.answer.split()) for line in view.lines if line.phase is phase)
