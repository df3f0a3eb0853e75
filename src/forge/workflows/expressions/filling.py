"""Fills in texts with `{{ expression }}` in them. What is filled in is never looked at again."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pydantic import JsonValue

from forge.workflows.expressions.evaluating import SECRETS, Ready, Variables, read, value_of
from forge.workflows.expressions.functions import as_text
from forge.workflows.expressions.marks import SecretMarks
from forge.workflows.expressions.parsing import parse
from forge.workflows.expressions.problem import ExpressionError

OPENING, CLOSING, ESCAPE = "{{", "}}", "\\"
MAX_TEMPLATE = 200_000
MAX_PLACEHOLDERS = 1000
MAX_FILLED = 8_000_000
"""Characters of what is filled in, all together."""
MAX_FILLING_S = 2.0
"""Of processor time, all together."""
MAX_DEPTH = 100
REMEMBERED = 128


@dataclass(frozen=True)
class Placeholder:
    start: int
    """Where its expression starts in the text."""
    inside: Ready | str
    """The expression, or the name of the secret that is all there is."""


Piece = str | Placeholder


def fill(value: JsonValue, variables: Variables, secrets: SecretMarks | None = None) -> JsonValue:
    """The same with every placeholder filled in; one that is all of a text keeps its type. Keys stay as they are."""
    return _Filling(variables, secrets).fill(value)


@lru_cache(maxsize=REMEMBERED)
def read_template(text: str) -> tuple[Piece, ...]:
    """Raises ExpressionError for the first placeholder that cannot be read."""
    if len(text) > MAX_TEMPLATE:
        raise ExpressionError(
            f"A template has at most {MAX_TEMPLATE:,} characters, and this one has {len(text):,}."
        )
    return tuple(_pieces(text))


def _pieces(text: str) -> Iterator[Piece]:
    at = count = 0
    while (opening := text.find(OPENING, at)) >= 0:
        if opening > at and text[opening - 1] == ESCAPE:
            yield text[at : opening - 1] + OPENING
            at = opening + len(OPENING)
            continue
        if opening > at:
            yield text[at:opening]
        count += 1
        if count > MAX_PLACEHOLDERS:
            raise ExpressionError(
                f"A template has at most {MAX_PLACEHOLDERS:,} placeholders.", column=opening + 1
            )
        placeholder, end = _placeholder(text, opening + len(OPENING))
        yield placeholder
        at = end + len(CLOSING)
    if at < len(text):
        yield text[at:]


def _placeholder(text: str, start: int) -> tuple[Placeholder, int]:
    parsed, end = parse(text, start, closed=True)
    match parsed.only:
        case None:
            pass
        case only:
            match only.path:
                case (root, str(name)) if root == SECRETS:
                    return Placeholder(start, name), end
                case _:
                    pass
    try:
        return Placeholder(start, read(text[start:end])), end
    except ExpressionError as error:
        raise _moved(error, start) from None


class _Filling:
    def __init__(self, variables: Variables, secrets: SecretMarks | None) -> None:
        self._variables = variables
        self._secrets = secrets
        self._left = MAX_FILLED
        self._until = time.thread_time() + MAX_FILLING_S

    def fill(self, value: JsonValue, depth: int = 0) -> JsonValue:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"A template is nested at most {MAX_DEPTH} deep.")
        match value:
            case str() if OPENING in value:
                return self._text(value)
            case list():
                return [self.fill(item, depth + 1) for item in value]
            case dict():
                return {key: self.fill(item, depth + 1) for key, item in value.items()}
            case _:
                return value

    def _text(self, text: str) -> JsonValue:
        match read_template(text):
            case (Placeholder() as only,):
                value = self._value(only)
                self._count(as_text(value), only)
                return value
            case pieces:
                return "".join(piece if isinstance(piece, str) else self._said(piece) for piece in pieces)

    def _said(self, piece: Placeholder) -> str:
        said = as_text(self._value(piece))
        self._count(said, piece)
        return said

    def _count(self, said: str, piece: Placeholder) -> None:
        if time.thread_time() > self._until:
            raise ExpressionError(
                "Filling in was stopped: it is too much work.",
                column=piece.start + 1,
                hint=f"The placeholders of a step take at most {MAX_FILLING_S:g} s together. A step of code can do more.",
            )
        self._left -= len(said)
        if self._left < 0:
            raise ExpressionError(
                f"What is filled in has more than {MAX_FILLED:,} characters.",
                column=piece.start + 1,
                hint="Name the part you need.",
            )

    def _value(self, piece: Placeholder) -> JsonValue:
        if isinstance(piece.inside, str):
            return self._mark(piece.inside, piece.start + 1)
        try:
            return value_of(piece.inside, self._variables)
        except ExpressionError as error:
            raise _moved(error, piece.start) from None

    def _mark(self, name: str, column: int) -> str:
        if self._secrets is None:
            raise ExpressionError(
                f"The secret {name} cannot be used here.",
                column=column,
                hint="Secrets go into url, headers and body of http steps.",
            )
        return self._secrets.mark(name)


def _moved(error: ExpressionError, start: int) -> ExpressionError:
    return ExpressionError(error.message, column=start + error.column, hint=error.hint)
