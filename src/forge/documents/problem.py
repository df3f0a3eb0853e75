"""What is wrong in a text, and where."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Problem:
    """Lines and columns count from 1."""

    line: int
    column: int
    message: str
    hint: str | None = None
    is_warning: bool = False
    """A warning is worth knowing; the text can be used all the same."""
