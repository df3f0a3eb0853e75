"""Read, check and fill in templates: text with `{{ expression }}` in it. Filled-in values are never evaluated again."""

import asyncio
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, cast

from pydantic import JsonValue

from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.evaluation import SECRETS, Compiled, Variables, read, value_of
from forge.workflows.expressions.parser import parse
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.expressions.values import as_text

OPENING, CLOSING, ESCAPE = "{{", "}}", "\\"
MAX_TEMPLATE = 200_000
MAX_PLACEHOLDERS = 1000
MAX_FILLED = 8_000_000
"""Total characters of the filled-in values."""
MAX_FILLING_S = 2.0
"""Total CPU time."""
MAX_DEPTH = 100
MAX_CACHED = 128


@dataclass(frozen=True)
class Placeholder:
    start: int
    """The offset of the expression in the text."""
    inside: Compiled | str
    """The expression, or the name of a secret."""


Piece = str | Placeholder


def fill(value: JsonValue, variables: Variables, secrets: SecretPlaceholders | None = None) -> JsonValue:
    """Fill in all placeholders of a value. A text that is a single placeholder keeps the type; keys are not templates."""
    return _TemplateFiller(variables, secrets).fill(value)


@lru_cache(maxsize=MAX_CACHED)
def read_template(text: str) -> tuple[Piece, ...]:
    """Split a template into texts and placeholders. Raises ExpressionError for the first invalid placeholder."""
    if len(text) > MAX_TEMPLATE:
        raise ExpressionError(f"The template has {len(text):,} characters; the maximum is {MAX_TEMPLATE:,}.")
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
                f"The template has more than {MAX_PLACEHOLDERS:,} placeholders.", column=opening + 1
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
        raise _shifted(error, start) from None


class _TemplateFiller:
    def __init__(self, variables: Variables, secrets: SecretPlaceholders | None) -> None:
        self._variables = variables
        self._secrets = secrets
        self._left = MAX_FILLED
        self._until = time.thread_time() + MAX_FILLING_S

    def fill(self, value: JsonValue, depth: int = 0) -> JsonValue:
        if depth > MAX_DEPTH:
            raise ExpressionError(f"The template is nested more than {MAX_DEPTH} levels deep.")
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
                return "".join(
                    piece if isinstance(piece, str) else self._value_text(piece) for piece in pieces
                )

    def _value_text(self, piece: Placeholder) -> str:
        text_value = as_text(self._value(piece))
        self._count(text_value, piece)
        return text_value

    def _count(self, text_value: str, piece: Placeholder) -> None:
        if time.thread_time() > self._until:
            raise ExpressionError(
                "Filling in the templates took too long and was stopped.",
                column=piece.start + 1,
                hint=f"All placeholders of a step may take {MAX_FILLING_S:g} s in total. Use a code step for more.",
            )
        self._left -= len(text_value)
        if self._left < 0:
            raise ExpressionError(
                f"The filled-in values have more than {MAX_FILLED:,} characters.",
                column=piece.start + 1,
                hint="Refer only to the part you need.",
            )

    def _value(self, piece: Placeholder) -> JsonValue:
        if isinstance(piece.inside, str):
            return self._secret(piece.inside, piece.start + 1)
        try:
            return value_of(piece.inside, self._variables)
        except ExpressionError as error:
            raise _shifted(error, piece.start) from None

    def _secret(self, name: str, column: int) -> str:
        if self._secrets is None:
            raise ExpressionError(
                f"The secret {name} cannot be used here.",
                column=column,
                hint="Secrets can be used in url, headers and body of http steps.",
            )
        return self._secrets.placeholder_for(name)


def _shifted(error: ExpressionError, start: int) -> ExpressionError:
    return ExpressionError(error.message, column=start + error.column, hint=error.hint)


@dataclass(frozen=True)
class Reference:
    """The static part of a path: `("steps", "gather", "output", "items", "0")`."""

    path: tuple[str, ...]
    column: int = field(default=1, compare=False)
    """The column in the text, counted from 1."""


def check_expression(text: str) -> tuple[Reference, ...]:
    """Return the references of an expression. Raises ExpressionError."""
    return _references(read(text), 0)


def check_template(text: str) -> tuple[Reference, ...]:
    """Return the references of a template. Raises ExpressionError."""
    placeholders = [piece for piece in read_template(text) if isinstance(piece, Placeholder)]
    return tuple(reference for placeholder in placeholders for reference in _inside(placeholder))


def _inside(placeholder: Placeholder) -> tuple[Reference, ...]:
    if isinstance(placeholder.inside, str):
        return (Reference((SECRETS, placeholder.inside), placeholder.start + 1),)
    return _references(placeholder.inside, placeholder.start)


def _references(compiled: Compiled, start: int) -> tuple[Reference, ...]:
    return tuple(Reference(tuple(map(str, slot.path)), start + slot.column) for slot in compiled.parsed.slots)


MAX_INLINE = 4
"""Up to this many placeholders are filled in on the event loop: a thread would cost more than they do."""


async def fill_fields(
    templates: Mapping[str, JsonValue],
    variables: Mapping[str, JsonValue],
    secrets: SecretPlaceholders | None = None,
) -> dict[str, JsonValue]:
    """Fill in all fields, within the limits of a single template. Many placeholders are filled in in a thread."""
    fields = dict(templates)
    if json.dumps(fields, ensure_ascii=False).count(OPENING) <= MAX_INLINE:
        return cast("dict[str, Any]", fill(fields, variables, secrets))
    copies = {name: dict(value) if isinstance(value, dict) else value for name, value in variables.items()}
    return cast("dict[str, Any]", await asyncio.to_thread(fill, fields, copies, secrets))
