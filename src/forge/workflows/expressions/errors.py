"""The error of invalid and failing expressions."""

from forge.errors import Invalid


class ExpressionError(Invalid):
    """An expression is invalid or cannot be evaluated with the given values."""

    code = "expression"

    def __init__(self, message: str, *, column: int = 1, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.column = column
        """The position in the text in characters, newlines included, counted from 1."""
