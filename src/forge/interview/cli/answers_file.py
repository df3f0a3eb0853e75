"""Answer an interview from the YAML file of `--answers`.

The file gives its answers in order or by question. A question without an answer, or an answer without a question, is an
error that names the line.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from forge.documents.problems import TextPositions
from forge.documents.yaml_nodes import Node, Shape, YamlError, read_yaml
from forge.errors import Invalid
from forge.interview.cli.display import InterviewDisplay, is_ready
from forge.interview.cli.session_client import SessionClient
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
from forge.terminal.inputs import read_file

MAX_LENGTH = 1_000_000
YES = frozenset({"yes", "true", "y", "on"})
NO = frozenset({"no", "false", "n", "off"})
BACK = "back"
SKIP = "skip"
PREVIEW = "preview"
HINT = "Write a list of answers, or lines such as `name: Ada`; see the guide `forge.md`."


@dataclass(frozen=True)
class FileAnswer:
    text: str
    line: int


@dataclass
class AnswersFile:
    path: str
    description: str | None = None
    confirm: bool = False
    in_order: deque[FileAnswer] = field(default_factory=deque[FileAnswer])
    by_question: dict[str, deque[FileAnswer]] = field(default_factory=dict[str, deque[FileAnswer]])
    """Answers by a part of the question or by the name of a phase; several for a question that is asked several times."""

    def unused(self) -> Iterator[FileAnswer]:
        yield from self.in_order
        for answers in self.by_question.values():
            yield from answers


def read_answers(path: Path) -> AnswersFile:
    text = read_file(path).removeprefix("\ufeff")
    if len(text) > MAX_LENGTH:
        raise Invalid(f"{path} is longer than {MAX_LENGTH:,} characters.")
    answers, positions = AnswersFile(str(path)), TextPositions(text)
    try:
        _add(answers, read_yaml(text), positions)
    except YamlError as error:
        line, column = positions.at(error.offset)
        raise Invalid(f"{path}:{line}:{column}: {error.message}", hint=error.hint or HINT) from error
    return answers


def _add(answers: AnswersFile, node: Node, positions: TextPositions, *, is_root: bool = True) -> None:
    if node.shape is Shape.LIST:
        answers.in_order = _parse_answers(node, positions)
        return
    if node.shape is Shape.SCALAR:
        raise YamlError("Answers must be a list or a mapping.", node.start, HINT)
    for key, value in node.entries():
        match key.text:
            case "confirm" if is_root:
                answers.confirm = _parse_bool(value)
            case "description" if is_root:
                answers.description = _parse_text(value)
            case "answers" if is_root:
                _add(answers, value, positions, is_root=False)
            case question:
                answers.by_question[question] = _parse_answers(value, positions)


def _parse_answers(node: Node, positions: TextPositions) -> deque[FileAnswer]:
    items = node.items if node.shape is Shape.LIST else [node]
    return deque(FileAnswer(_parse_text(item), positions.at(item.start)[0]) for item in items)


def _parse_text(node: Node) -> str:
    if node.shape is not Shape.SCALAR or not node.text.strip():
        raise YamlError("An answer must be text or a number.", node.start, HINT)
    return node.text.strip()


def _parse_bool(node: Node) -> bool:
    text = _parse_text(node).casefold()
    if text not in YES | NO:
        raise YamlError("`confirm` must be yes or no.", node.start)
    return text in YES


class FileResponder:
    def __init__(
        self, client: SessionClient, answers: AnswersFile, display: InterviewDisplay, *, confirms: bool
    ) -> None:
        self._client = client
        self._answers = answers
        self._display = display
        self._confirms = confirms or answers.confirm

    def respond(self, view: SessionView) -> SessionView | None:
        """Answer a turn and return the next one, or None once the result is confirmed."""
        self._display.turn(view)
        if is_ready(view):
            self._check_end()
            return None
        answer = self._next_answer(view)
        if answer is None:
            return self._client.answer(view, Confirmed(yes=True))
        self._display.answer(answer.text)
        try:
            return self._client.answer(view, _parse(view, answer.text))
        except Invalid as error:
            place = f"{self._answers.path}:{answer.line}"
            raise Invalid(
                f"{place}: {answer.text!r} does not answer “{_question(view)}”: {error.message}",
                hint=_answer_hint(view),
            ) from error

    def _check_end(self) -> None:
        unused = list(self._answers.unused())
        if unused:
            more = f" (and {len(unused) - 1} more)" if len(unused) > 1 else ""
            raise Invalid(
                f"{self._answers.path}:{unused[0].line}: no question was asked for the answer "
                f"{unused[0].text!r}{more}.",
                hint="Remove it, or compare it with the questions: forge interview show SESSION",
            )
        if not self._confirms:
            raise Invalid(
                "The interview is complete but not confirmed: nothing was created.",
                hint="Add `confirm: true` to the file, or use --yes. With --dry-run, the files are only shown.",
            )

    def _next_answer(self, view: SessionView) -> FileAnswer | None:
        """Look for an answer to the question, then to its phase, then in the list. A preview does not need one."""
        in_order, by_question = self._answers.in_order, self._answers.by_question
        question = _question(view).casefold()
        keys = sorted((key for key in by_question if key.casefold() in question), key=len, reverse=True)
        is_preview = isinstance(view.turn, ShowPreview)
        for key in (*keys, PREVIEW if is_preview else view.phase):
            if queue := by_question.get(key):
                return queue.popleft()
        if is_preview:
            fits = in_order and in_order[0].text.casefold() in YES | NO | {BACK}
            return in_order.popleft() if fits else None
        if in_order:
            return in_order.popleft()
        raise Invalid(
            f"{self._answers.path} has no answer to question {view.question_count + 1} "
            f"({phase_label(view.mode, view.phase)}): “{_question(view)}”",
            hint=_answer_hint(view),
        )


def _parse(view: SessionView, text: str) -> Chosen | Said | Confirmed | WentBack:
    folded = text.casefold()
    if folded == BACK:
        return WentBack()
    match view.turn:
        case AskQuestion() as turn:
            return _parse_choice(turn, text)
        case ShowPreview() if folded in YES | NO:
            return Confirmed(yes=folded in YES)
        case _:
            return Said(text=text)


def _parse_choice(turn: AskQuestion, text: str) -> Chosen | Said:
    index = find_option(text, turn.options)
    if index is not None:
        return Chosen(index=index)
    if text.isdigit():
        raise Invalid(f"there are {len(turn.options)} options.")
    if text == SKIP:
        raise Invalid("the rest cannot be skipped yet.")
    if not turn.allow_free_text:
        raise Invalid("it is not one of the options.")
    return Said(text=text)


def find_option(text: str, options: list[QuestionOption]) -> int | None:
    """Find an option by label, id or number (from 1), or by yes or no if exactly one label begins with that word."""
    folded = text.casefold()
    for index, option in enumerate(options):
        if folded in (option.label.strip().casefold(), option.id.casefold()):
            return index
    if folded in YES | NO:
        word = "yes" if folded in YES else "no"
        matches = [index for index, option in enumerate(options) if option.label.casefold().startswith(word)]
        return matches[0] if len(matches) == 1 else None
    if text.isascii() and text.isdigit() and 1 <= int(text) <= len(options):
        return int(text) - 1
    return None


def _question(view: SessionView) -> str:
    return words_of(view.turn) or PREVIEW


def _answer_hint(view: SessionView) -> str | None:
    """List the possible answers."""
    if not isinstance(view.turn, AskQuestion):
        return "Answer in words."
    options = "; ".join(f"{n}. {option.label}" for n, option in enumerate(view.turn.options, start=1))
    return f"Choose one: {options}{'; or use your own words' if view.turn.allow_free_text else ''}"
