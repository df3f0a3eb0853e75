"""What Forge says: a question, what it knows so far, that it is ready, or that it did not understand."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, computed_field

from forge.interview.config import BuilderConfig, Preview, SkillBuildRequest
from forge.interview.phases import Phase

FEWEST_OPTIONS, MAX_OPTIONS = 2, 6
MAX_ID, MAX_LABEL, MAX_REASON = 64, 200, 500


class _Turn(BaseModel):
    model_config = ConfigDict(frozen=True)


class QuestionOption(BaseModel):
    model_config = ConfigDict(frozen=True)

    id: str = Field(max_length=MAX_ID)
    label: str = Field(min_length=1, max_length=MAX_LABEL)
    reason: str = Field(min_length=1, max_length=MAX_REASON)
    """Why one would choose it."""

    @computed_field
    @property
    def description(self) -> str:
        """The reason, by the name older clients know it by."""
        return self.reason


class AskQuestion(_Turn):
    action: Literal["ask_question"] = "ask_question"
    phase: Phase
    question: str
    options: list[QuestionOption] = Field(min_length=FEWEST_OPTIONS, max_length=MAX_OPTIONS)
    allow_free_text: bool = True
    phase_label: str | None = None


class ShowPreview(_Turn):
    """Answered with yes to go on, with no to go back."""

    action: Literal["show_preview"] = "show_preview"
    phase: Phase
    preview: Preview


class ReadyToAssemble(_Turn):
    """All is known; nothing is made before somebody confirms it."""

    action: Literal["ready_to_assemble"] = "ready_to_assemble"
    phase: Phase = Phase.REVIEW
    config: BuilderConfig


class ReadyToCreateSkill(_Turn):
    action: Literal["ready_to_create_skill"] = "ready_to_create_skill"
    phase: Phase = Phase.REVIEW
    skill_request: SkillBuildRequest


class Clarify(_Turn):
    """Wants an answer in words."""

    action: Literal["clarify"] = "clarify"
    phase: Phase
    message: str


Turn = Annotated[
    AskQuestion | ShowPreview | ReadyToAssemble | ReadyToCreateSkill | Clarify, Field(discriminator="action")
]


def words_of(turn: Turn | None) -> str:
    """What it says; nothing for one that only shows something."""
    match turn:
        case AskQuestion(question=question):
            return question
        case Clarify(message=message):
            return message
        case _:
            return ""
