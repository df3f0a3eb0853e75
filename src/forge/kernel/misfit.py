"""What is wrong with a value that does not fit its model, told by the first of its mistakes."""

from dataclasses import dataclass

from pydantic import ValidationError


@dataclass(frozen=True, slots=True)
class Misfit:
    """As text `layers.1.name: Field required`, or the message alone when it is about the whole."""

    path: tuple[int | str, ...]
    message: str
    kind: str
    """What pydantic calls this mistake: `missing`, `json_invalid`."""

    @property
    def where(self) -> str:
        return ".".join(map(str, self.path))

    def __str__(self) -> str:
        return f"{self.where}: {self.message}" if self.path else self.message


def first_misfit(error: ValidationError) -> Misfit:
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    return Misfit(first["loc"], first["msg"], first["type"])
