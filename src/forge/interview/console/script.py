"""Answers an interview from a file. Strictly: a question without an answer, or an answer without a question, ends it."""

from collections import deque

from forge.errors import Invalid
from forge.interview.console.answers_file import NO, YES, AnswersFile, Given
from forge.interview.console.remote import Remote
from forge.interview.console.stage import Stage, is_ready
from forge.interview.domain.dialogue import (
    AskQuestion,
    Chosen,
    Confirmed,
    QuestionOption,
    Said,
    ShowPreview,
    WentBack,
    phase_label,
    words_of,
)
from forge.interview.models import SessionView

BACK = "back"
SKIP = "skip"
PREVIEW = "preview"


class Script:
    def __init__(self, remote: Remote, answers: AnswersFile, stage: Stage, *, agrees: bool) -> None:
        self._remote = remote
        self._answers = answers
        self._stage = stage
        self._agrees = agrees or answers.confirm

    def respond(self, view: SessionView) -> SessionView | None:
        """The next turn; None when what is ready shall be made."""
        self._stage.turn(view)
        if is_ready(view):
            self._check_end()
            return None
        given = self._take(view)
        if given is None:
            return self._remote.answer(view, Confirmed(yes=True))
        self._stage.answered(given.text)
        try:
            return self._remote.answer(view, self._answer(view, given))
        except Invalid as error:
            raise self._refused(view, given, error.message) from error

    def _check_end(self) -> None:
        left = list(self._answers.left())
        if left:
            more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
            raise Invalid(
                f"{self._answers.path}:{left[0].line}: nothing was asked that {left[0].text!r} answers{more}.",
                hint="Remove it, or compare it with the questions: forge interview show SESSION",
            )
        if not self._agrees:
            raise Invalid(
                "All is answered, but nobody confirmed it: nothing was made.",
                hint="Say `confirm: true` in the file, or --yes; --dry-run only shows the files.",
            )

    def _take(self, view: SessionView) -> Given | None:
        """By the question, then by its phase, then the next one of the list. A preview needs none to go on."""
        if isinstance(view.turn, ShowPreview):
            return self._for_preview()
        asked = _question(view).casefold()
        keys = [key for key, left in self._answers.by_question.items() if left and key.casefold() in asked]
        for queue in (
            *(self._queue(key) for key in sorted(keys, key=len, reverse=True)),
            self._queue(view.phase),
        ):
            if queue:
                return queue.popleft()
        if self._answers.in_order:
            return self._answers.in_order.popleft()
        raise Invalid(
            f"{self._answers.path} has no answer to question {view.question_count + 1} "
            f"({phase_label(view.mode, view.phase)}): “{_question(view)}”",
            hint=_possible(view),
        )

    def _for_preview(self) -> Given | None:
        if queue := self._queue(PREVIEW):
            return queue.popleft()
        queue = self._answers.in_order
        return queue.popleft() if queue and queue[0].text.casefold() in YES | NO | {BACK} else None

    def _queue(self, key: str) -> deque[Given]:
        return self._answers.by_question.get(key, deque())

    def _answer(self, view: SessionView, given: Given) -> Chosen | Said | Confirmed | WentBack:
        said = given.text.casefold()
        if said == BACK:
            return WentBack()
        match view.turn:
            case AskQuestion() as turn:
                return self._option(view, turn, given)
            case ShowPreview() if said in YES | NO:
                return Confirmed(yes=said in YES)
            case _:
                return Said(text=given.text)

    def _option(self, view: SessionView, turn: AskQuestion, given: Given) -> Chosen | Said:
        place = place_of(given.text, turn.options)
        if place is not None:
            return Chosen(index=place)
        if given.text.isdigit():
            raise self._refused(view, given, f"there are {len(turn.options)} options.")
        if given.text == SKIP:
            raise self._refused(view, given, "the rest cannot be skipped yet.")
        if not turn.allow_free_text:
            raise self._refused(view, given, "it is not one of the options.")
        return Said(text=given.text)

    def _refused(self, view: SessionView, given: Given, why: str) -> Invalid:
        return Invalid(
            f"{self._answers.path}:{given.line}: {given.text!r} does not answer “{_question(view)}”: {why}",
            hint=_possible(view),
        )


def place_of(text: str, options: list[QuestionOption]) -> int | None:
    """By label or id, by yes or no where that is how a label begins, or by number, from 1."""
    said = text.casefold()
    for place, option in enumerate(options):
        if said in (option.label.strip().casefold(), option.id.casefold()):
            return place
    if said in YES | NO:
        word = "yes" if said in YES else "no"
        begins = [place for place, option in enumerate(options) if option.label.casefold().startswith(word)]
        return begins[0] if len(begins) == 1 else None
    if text.isascii() and text.isdigit() and 1 <= int(text) <= len(options):
        return int(text) - 1
    return None


def _question(view: SessionView) -> str:
    return words_of(view.turn) or PREVIEW


def _possible(view: SessionView) -> str | None:
    """What could be said, in words."""
    if not isinstance(view.turn, AskQuestion):
        return "Answer in words."
    options = "; ".join(f"{n}. {option.label}" for n, option in enumerate(view.turn.options, start=1))
    return f"{options}{'; or your own words' if view.turn.allow_free_text else ''}"
