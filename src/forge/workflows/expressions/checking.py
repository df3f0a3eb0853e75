"""Reads expressions and templates without values: are they well formed, and what do they refer to?"""

from dataclasses import dataclass, field

from forge.workflows.expressions.evaluating import SECRETS, Ready, read
from forge.workflows.expressions.filling import Placeholder, read_template


@dataclass(frozen=True)
class Reference:
    """A path as far as it is written out: `("steps", "gather", "output", "items", "0")`."""

    path: tuple[str, ...]
    column: int = field(default=1, compare=False)
    """Where it stands in the text; the first character is 1."""


def check_expression(text: str) -> tuple[Reference, ...]:
    """What it refers to. Raises ExpressionError."""
    return _references(read(text), 0)


def check_template(text: str) -> tuple[Reference, ...]:
    """What its placeholders refer to. Raises ExpressionError."""
    placeholders = [piece for piece in read_template(text) if isinstance(piece, Placeholder)]
    return tuple(reference for placeholder in placeholders for reference in _inside(placeholder))


def _inside(placeholder: Placeholder) -> tuple[Reference, ...]:
    if isinstance(placeholder.inside, str):
        return (Reference((SECRETS, placeholder.inside), placeholder.start + 1),)
    return _references(placeholder.inside, placeholder.start)


def _references(ready: Ready, start: int) -> tuple[Reference, ...]:
    return tuple(Reference(tuple(map(str, slot.path)), start + slot.column) for slot in ready.parsed.slots)
