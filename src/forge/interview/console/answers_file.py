"""The file of `--answers`: what to answer, in order or by question. Read strictly, with the line of what is wrong."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from forge.documents.problems import TextPositions
from forge.documents.yaml_nodes import Node, Shape, YamlError, read_yaml
from forge.errors import Invalid, NotFound

MAX_BYTES = 1_000_000
YES = frozenset({"yes", "true", "y", "on"})
NO = frozenset({"no", "false", "n", "off"})
HINT = "It is a list of answers, or lines such as `name: Ada`; see the guide `forge.md`."


@dataclass(frozen=True)
class Given:
    """One answer of the file."""

    text: str
    line: int


@dataclass
class AnswersFile:
    path: str
    description: str | None = None
    confirm: bool = False
    in_order: deque[Given] = field(default_factory=deque[Given])
    by_question: dict[str, deque[Given]] = field(default_factory=dict[str, deque[Given]])
    """By a part of the question, or the name of a phase; several, when it is asked several times."""

    def left(self) -> Iterator[Given]:
        """What nobody asked for."""
        yield from self.in_order
        for given in self.by_question.values():
            yield from given


def read_answers(path: Path) -> AnswersFile:
    text = _read(path)
    places = TextPositions(text)
    try:
        return _Reading(str(path), places).read(read_yaml(text))
    except YamlError as error:
        line, column = places.at(error.offset)
        raise Invalid(f"{path}:{line}:{column}: {error.message}", hint=error.hint or HINT) from error


def _read(path: Path) -> str:
    try:
        content = path.read_bytes()
        if len(content) > MAX_BYTES:
            raise Invalid(f"{path} is longer than {MAX_BYTES:,} bytes.")
        return content.decode("utf-8-sig")
    except FileNotFoundError as error:
        raise NotFound(f"There is no {path}.") from error
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not text in UTF-8.") from error
    except OSError as error:
        raise Invalid(f"{path} cannot be read: {error.strerror}.") from error


class _Reading:
    def __init__(self, path: str, places: TextPositions) -> None:
        self._places = places
        self._answers = AnswersFile(path)

    def read(self, root: Node) -> AnswersFile:
        if root.shape is not Shape.MAPPING:
            self._take(root)
            return self._answers
        for key, value in root.entries():
            match key.text:
                case "confirm":
                    self._answers.confirm = _truth(value)
                case "description":
                    self._answers.description = _text(value)
                case "answers":
                    self._take(value)
                case question:
                    self._answers.by_question[question] = self._givens(value)
        return self._answers

    def _take(self, answers: Node) -> None:
        match answers.shape:
            case Shape.LIST:
                self._answers.in_order = self._givens(answers)
            case Shape.MAPPING:
                for key, value in answers.entries():
                    self._answers.by_question[key.text] = self._givens(value)
            case Shape.SCALAR:
                raise YamlError("The answers are neither a list nor a mapping.", answers.start, HINT)

    def _givens(self, node: Node) -> deque[Given]:
        items = node.items if node.shape is Shape.LIST else [node]
        return deque(Given(_text(item), self._places.at(item.start)[0]) for item in items)


def _text(node: Node) -> str:
    if node.shape is not Shape.SCALAR or not node.text.strip():
        raise YamlError("An answer is a text or a number.", node.start, HINT)
    return node.text.strip()


def _truth(node: Node) -> bool:
    said = _text(node).casefold()
    if said not in YES | NO:
        raise YamlError("This is yes or no.", node.start)
    return said in YES
