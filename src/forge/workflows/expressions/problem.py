"""What is wrong with an expression, and where."""

from forge.errors import Invalid


class ExpressionError(Invalid):
    """An expression that cannot be read, or that comes to nothing with the values there are."""

    code = "expression"

    def __init__(self, message: str, *, column: int = 1, hint: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.column = column
        """Counts characters from the start of the text, line ends included; the first is 1."""
