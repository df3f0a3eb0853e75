"""The phases, turns and answers of an interview."""

from enum import StrEnum
from typing import Annotated, Any, Literal, cast

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    computed_field,
)

from forge.interview.domain.build_config import BuilderConfig, Preview, SkillBuildRequest
from forge.kernel.text import NO_NUL, NOT_BLANK
from forge.kernel.validation import plain_message


class Phase(StrEnum):
    BASICS = "basics"
    PERSONALITY = "personality"
    MODEL = "model"
    SKILLS = "skills"
    REVIEW = "review"


class Mode(StrEnum):
    BOT = "bot"
    SKILL = "skill"
    RECONFIGURE = "reconfigure"
    """Change an existing bot."""
    BATCH = "batch"
    """Create several variants of one bot."""

    @property
    def makes_bots(self) -> bool:
        return self is not Mode.SKILL


BOT_LABELS = {
    Phase.BASICS: "Setting up basics",
    Phase.PERSONALITY: "Defining personality",
    Phase.MODEL: "Choosing model",
    Phase.SKILLS: "Selecting skills",
    Phase.REVIEW: "Final review",
}
SKILL_LABELS = {
    Phase.BASICS: "What it does",
    Phase.PERSONALITY: "When it is used",
    Phase.MODEL: "How it works",
    Phase.SKILLS: "What it may do",
    Phase.REVIEW: "Final review",
}


def phase_label(mode: Mode, phase: Phase) -> str:
    return (SKILL_LABELS if mode is Mode.SKILL else BOT_LABELS)[phase]


def is_before(first: Phase, second: Phase) -> bool:
    order = list(Phase)
    return order.index(first) < order.index(second)


MIN_OPTIONS, MAX_OPTIONS = 2, 6
MAX_ID, MAX_LABEL, MAX_REASON = 64, 200, 500


class _Turn(BaseModel):
    model_config = ConfigDict(frozen=True)


class QuestionOption(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str = Field(max_length=MAX_ID)
    label: str = Field(min_length=1, max_length=MAX_LABEL)
    reason: str = Field(min_length=1, max_length=MAX_REASON)
    """Why to choose it."""

    @computed_field
    @property
    def description(self) -> str:
        """Alias of `reason` for older clients."""
        return self.reason


class AskQuestion(_Turn):
    action: Literal["ask_question"] = "ask_question"
    phase: Phase
    question: str
    options: list[QuestionOption] = Field(min_length=MIN_OPTIONS, max_length=MAX_OPTIONS)
    allow_free_text: bool = True
    phase_label: str | None = None


class ShowPreview(_Turn):
    """Show what is known so far. Yes continues, no goes back."""

    action: Literal["show_preview"] = "show_preview"
    phase: Phase
    preview: Preview


class ReadyToAssemble(_Turn):
    """The bot can be created, once the config is confirmed."""

    action: Literal["ready_to_assemble"] = "ready_to_assemble"
    phase: Phase = Phase.REVIEW
    config: BuilderConfig


class ReadyToCreateSkill(_Turn):
    action: Literal["ready_to_create_skill"] = "ready_to_create_skill"
    phase: Phase = Phase.REVIEW
    skill_request: SkillBuildRequest


class Clarify(_Turn):
    """Ask for an answer in words."""

    action: Literal["clarify"] = "clarify"
    phase: Phase
    message: str


Turn = Annotated[
    AskQuestion | ShowPreview | ReadyToAssemble | ReadyToCreateSkill | Clarify, Field(discriminator="action")
]


def words_of(turn: Turn | None) -> str:
    """Return the text of a turn; empty for a turn that only shows something."""
    match turn:
        case AskQuestion(question=question):
            return question
        case Clarify(message=message):
            return message
        case _:
            return ""


MAX_TEXT = 20_000
"""Characters in an answer or a description."""


class _Answer(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Chosen(_Answer):
    """The index of an option, starting at 0."""

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
    """Go back to the previous question, or to the first one of a phase."""

    kind: Literal["back"] = "back"
    phase: Phase | None = None

    def wire(self) -> Any:
        return {"Back": {"phase": self.phase.value}} if self.phase else "Back"


FORMS = 'an answer is {"OptionIndex": 0}, {"FreeText": "…"}, {"Confirm": true}, "Back" or {"Back": {"phase": "basics"}}'
_KINDS = {
    "OptionIndex": ("option", "index"),
    "option_index": ("option", "index"),
    "FreeText": ("text", "text"),
    "free_text": ("text", "text"),
    "Confirm": ("confirm", "yes"),
    "confirm": ("confirm", "yes"),
}
_BACK = ("Back", "back")


def _normalize(value: object) -> object:
    """Accept the short wire forms, in PascalCase or snake_case, as well as objects with a `kind`."""
    if isinstance(value, str) and value in _BACK:
        return {"kind": "back"}
    if not isinstance(value, dict):
        return value
    form = cast("dict[str, Any]", value)
    if "kind" in form or len(form) != 1:
        return form
    ((name, content),) = form.items()
    if name in _KINDS:
        kind, field = _KINDS[name]
        return {"kind": kind, field: content}
    match content:
        case {"phase": phase, **rest} if name in _BACK and not rest:
            return {"kind": "back", "phase": phase}
        case _:
            return form


def _validate(value: object, handler: ValidatorFunctionWrapHandler) -> object:
    """Report a problem without the names of internal fields."""
    try:
        return handler(_normalize(value))
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        is_form = problem["type"].startswith(("union_tag", "extra_forbidden", "missing", "model", "dict"))
        raise ValueError(FORMS if is_form else plain_message(problem)) from error


Answer = Annotated[
    Annotated[Chosen | Said | Confirmed | WentBack, Field(discriminator="kind")], WrapValidator(_validate)
]
