"""Interviews as clients see them: what is sent, what comes back, and what is told in `interview:<id>`."""

from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, computed_field

from forge.bots.models import MAX_SLUG, SLUG_PATTERN
from forge.events.models import EventData
from forge.interview.answers import MAX_TEXT, Answer
from forge.interview.config import MAX_VARIANTS, BuilderConfig, Preview, SkillBuildRequest
from forge.interview.phases import Mode, Phase
from forge.interview.state import Due, Made, Speaker
from forge.interview.turns import Turn
from forge.kernel.text import NO_NUL
from forge.skills.models import SkillName, TrialReport

SESSION_PATTERN = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
MAX_SOUL = 100_000

GivenDescription = Annotated[str, Field(max_length=MAX_TEXT), NO_NUL]
Slug = Annotated[str, Field(pattern=SLUG_PATTERN, max_length=MAX_SLUG)]


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewSession(_Given):
    """Begin an interview about a bot, unless another mode is named."""

    description: GivenDescription = ""
    mode: Mode = Mode.BOT
    variants: int = Field(default=0, ge=0, le=MAX_VARIANTS, description="Of a batch: how many bots.")
    soul: Annotated[str, Field(max_length=MAX_SOUL), NO_NUL] | None = Field(
        default=None, description="An existing SOUL.md: used as it is."
    )
    bot_slug: Slug | None = Field(default=None, description="To reconfigure this bot.")
    skill: SkillName | None = Field(default=None, description="To change this skill.")
    speaker: Speaker | None = Field(default=None, description="Who asks; the model, if there is one.")


class NewAnswer(_Given):
    answer: Answer
    turn: int | None = Field(
        default=None,
        ge=0,
        description="`revision` of the turn that is answered: 409 when Forge has gone on since.",
    )


class NewAssembly(_Given):
    """The config of the ready turn, changed or not; without it, that config as it stands."""

    config: BuilderConfig | None = None


class NewSkill(_Given):
    skill_request: SkillBuildRequest | None = None


class NewReconfiguration(_Given):
    bot_slug: Slug
    description: GivenDescription = ""
    speaker: Speaker | None = None


class NewSpeaker(_Given):
    speaker: Speaker


class StateSummary(BaseModel):
    phase: Phase
    question_count: int


class SpokenBy(BaseModel):
    """Who asks the questions."""

    speaker: Speaker
    model: str | None = None
    """`provider:model` that would be asked, or is."""
    why: str | None = None
    """Why it is not a model."""
    can_switch: bool
    """Whether there is a model that could take over."""


class Line(BaseModel):
    """What was asked and answered, in words."""

    number: int
    phase: Phase
    question: str
    answer: str
    speaker: Speaker
    answered_at: datetime


class FileChange(BaseModel):
    """A file that would be written."""

    path: str
    """`<slug>/<file>` for bots, `skills/<name>/<file>` for skills."""
    content: str
    before: str | None = None
    """What is there now; None when there is nothing."""
    diff: str = ""
    """Unified, when there is something to compare with."""


class SessionView(BaseModel):
    """An interview: all a page, a terminal or a program needs to go on."""

    session_id: str
    mode: Mode
    initial_description: str
    phase: Phase
    question_count: int
    state_summary: StateSummary
    turn: Turn | None
    """The last one; None only before the first."""
    revision: int
    due: Due | None
    """What Forge is doing; an answer has to wait."""
    spoken_by: SpokenBy
    preview: Preview
    lines: list[Line]
    back_to: list[Phase]
    """Phases one can go back to."""
    bot_slug: str | None
    """Of the bot that is changed."""
    skill_name: str | None
    trial: TrialReport | None
    """How the skill's own test went."""
    made: Made | None
    cost_micros: int
    created_at: datetime
    updated_at: datetime


class DraftSummary(BaseModel):
    session_id: str
    mode: Mode
    initial_description: str
    name: str | None
    phase: Phase
    question_count: int
    created_at: datetime
    updated_at: datetime
    problem: str | None = None
    """Why this draft cannot be opened; it is kept."""


class Result(Made):
    """What was made; the first bot, or the skill, also by itself."""

    @classmethod
    def of(cls, made: Made) -> "Result":
        return cls.model_validate(made.model_dump())

    @computed_field
    @property
    def bot_id(self) -> str | None:
        return self.bots[0].bot_id if self.bots else None

    @computed_field
    @property
    def bot_slug(self) -> str | None:
        return self.bots[0].bot_slug if self.bots else None

    @computed_field
    @property
    def bot_name(self) -> str | None:
        return self.bots[0].bot_name if self.bots else None

    @computed_field
    @property
    def soul_path(self) -> str | None:
        return self.bots[0].soul_path if self.bots else None

    @computed_field
    @property
    def identity_path(self) -> str | None:
        return self.bots[0].identity_path if self.bots else None

    @computed_field
    @property
    def user_path(self) -> str | None:
        return self.bots[0].user_path if self.bots else None

    @computed_field
    @property
    def skills_attached(self) -> list[str]:
        return self.bots[0].skills_attached if self.bots else []

    @computed_field
    @property
    def name(self) -> str | None:
        return self.skill.name if self.skill else None

    @computed_field
    @property
    def description(self) -> str | None:
        return self.skill.description if self.skill else None

    @computed_field
    @property
    def skill_md_content(self) -> str | None:
        return self.skill.skill_md_content if self.skill else None

    @computed_field
    @property
    def has_source_code(self) -> bool | None:
        return self.skill.has_source_code if self.skill else None

    @computed_field
    @property
    def suggested_capabilities(self) -> list[str]:
        return self.skill.suggested_capabilities if self.skill else []


class Assembled(BaseModel):
    """What was made; or, of a dry run, what would be."""

    result: Result | None
    files: list[FileChange] = []
    differs: list[str] = []
    """Of a replay: files that are not what was written then, by their paths."""


class SessionDeleted(BaseModel):
    deleted: bool = True
    session_id: str


class MemoryEntry(BaseModel):
    """A finished interview, as the next one of its kind remembers it."""

    id: str
    purpose_category: str
    initial_description: str
    chosen_tone: str | None
    chosen_model: str | None
    chosen_skills: list[str]
    bot_slug: str | None
    created_at: datetime


class InterviewTurned(EventData):
    """Forge said something, or began to think about it: the whole of what is to be shown now."""

    type: ClassVar[str] = "interview.turned"
    session: SessionView


class InterviewFinished(EventData):
    type: ClassVar[str] = "interview.finished"
    session_id: str
    made: Made


class InterviewDeleted(EventData):
    type: ClassVar[str] = "interview.deleted"
    session_id: str


class InterviewDelta(EventData):
    """A piece of what the model is writing; only whispered, and followed by the whole."""

    type: ClassVar[str] = "interview.delta"
    is_durable: ClassVar[bool] = False
    text: str


class InterviewsChanged(EventData):
    """The list of drafts is another now. In the account's stream."""

    type: ClassVar[str] = "interviews.changed"
    session_id: str


EVENTS: tuple[type[EventData], ...] = (
    InterviewTurned,
    InterviewFinished,
    InterviewDeleted,
    InterviewDelta,
    InterviewsChanged,
)
