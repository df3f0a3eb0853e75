"""What a person answers, in every form it may be sent in."""

from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from forge.interview.phases import Phase
from forge.kernel.text import NO_NUL, NOT_BLANK

MAX_TEXT = 20_000
"""Characters of one answer, or of a description."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Chosen(_Answer):
    """One of the options, counted from 0."""

    kind: Literal["option"] = "option"
    index: int = Field(ge=0, le=1000)

    def wire(self) -> Any:
        return {"OptionIndex": self.index}


class Said(_Answer):
    kind: Literal["text"] = "text"
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT), NOT_BLANK, NO_NUL]

    def wire(self) -> Any:
        return {"FreeText": self.text}


class Confirmed(_Answer):
    kind: Literal["confirm"] = "confirm"
    yes: bool

    def wire(self) -> Any:
        return {"Confirm": self.yes}


class WentBack(_Answer):
    """To the question before, or to the first one of a phase."""

    kind: Literal["back"] = "back"
    phase: Phase | None = None

    def wire(self) -> Any:
        return {"Back": {"phase": self.phase.value}} if self.phase else "Back"


FORMS = 'an answer is {"OptionIndex": 0}, {"FreeText": "…"}, {"Confirm": true}, "Back" or {"Back": {"phase": "basics"}}'


def _read(given: object) -> object:
    """One of the forms, or one with a `kind`."""
    if given == "Back":
        return {"kind": "back"}
    if isinstance(given, BaseModel):
        return given
    form = cast("dict[str, Any]", given) if isinstance(given, dict) else {}
    match form:
        case {"kind": _}:
            return form
        case {"OptionIndex": index, **rest} if not rest:
            return {"kind": "option", "index": index}
        case {"FreeText": text, **rest} if not rest:
            return {"kind": "text", "text": text}
        case {"Confirm": yes, **rest} if not rest:
            return {"kind": "confirm", "yes": yes}
        case {"Back": {"phase": phase}, **rest} if not rest:
            return {"kind": "back", "phase": phase}
        case _:
            raise ValueError(FORMS)


Answer = Annotated[
    Annotated[Chosen | Said | Confirmed | WentBack, Field(discriminator="kind")], BeforeValidator(_read)
]
