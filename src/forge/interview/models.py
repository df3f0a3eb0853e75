"""Requests, responses and events of interviews."""

from datetime import datetime
from typing import Annotated, ClassVar

from pydantic import BaseModel, ConfigDict, Field, computed_field

from forge.bots.models import MAX_SLUG, SLUG_PATTERN
from forge.events.models import EventData
from forge.interview.domain.build_config import MAX_VARIANTS, BuilderConfig, Preview, SkillBuildRequest
from forge.interview.domain.dialogue import MAX_TEXT, Answer, Mode, Phase, Turn
from forge.interview.domain.state import Due, InterviewSpeaker, Made
from forge.kernel.text import NO_NUL
from forge.skills.models import SkillName, TrialReport

SESSION_PATTERN = r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"
MAX_SOUL = 100_000

RequestDescription = Annotated[str, Field(max_length=MAX_TEXT), NO_NUL]
Slug = Annotated[str, Field(pattern=SLUG_PATTERN, max_length=MAX_SLUG)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewSession(_Request):
    """Start an interview, by default about a new bot."""

    description: RequestDescription = ""
    mode: Mode = Mode.BOT
    variants: int = Field(default=0, ge=0, le=MAX_VARIANTS, description="Number of bots; batches only.")
    soul: Annotated[str, Field(max_length=MAX_SOUL), NO_NUL] | None = Field(
        default=None, description="Content of an existing SOUL.md, used unchanged."
    )
    bot_slug: Slug | None = Field(default=None, description="Bot to reconfigure.")
    skill: SkillName | None = Field(default=None, description="Skill to change.")
    speaker: InterviewSpeaker | None = Field(
        default=None, description="Who asks the questions. Default: the model, if one is available."
    )


class NewAnswer(_Request):
    answer: Answer
    turn: int | None = Field(
        default=None,
        ge=0,
        description="`revision` of the turn being answered: the response is 409 if the interview has moved on, and a "
        "repeated request is applied once.",
    )


class NewAssembly(_Request):
    """Create the bots with this config. Default: the config of the ready turn."""

    config: BuilderConfig | None = None


class NewSkill(_Request):
    skill_request: SkillBuildRequest | None = None


class NewReconfiguration(_Request):
    bot_slug: Slug
    description: RequestDescription = ""
    speaker: InterviewSpeaker | None = None


class NewSpeaker(_Request):
    speaker: InterviewSpeaker


class StateSummary(BaseModel):
    phase: Phase
    question_count: int


class SpokenBy(BaseModel):
    """Who asks the questions."""

    speaker: InterviewSpeaker
    model: str | None = None
    """The available model, as `provider:model`."""
    why: str | None = None
    """Why the guide asks instead of a model."""
    can_switch: bool
    """True if a model could take over."""


class Line(BaseModel):
    """A question and its answer, in words."""

    number: int
    phase: Phase
    question: str
    answer: str
    speaker: InterviewSpeaker
    answered_at: datetime


class FileChange(BaseModel):
    """A file to be written."""

    path: str
    """`<slug>/<file>` for bots, `skills/<name>/<file>` for skills."""
    content: str
    before: str | None = None
    """Current content; null for a new file."""
    diff: str = ""
    """Unified diff; empty for a new file."""


class SessionView(BaseModel):
    """An interview with its current turn and everything known so far."""

    session_id: str
    mode: Mode
    initial_description: str
    phase: Phase
    question_count: int
    state_summary: StateSummary
    turn: Turn | None
    """The current turn; null until there is a first one."""
    revision: int
    due: Due | None
    """What Forge is working on; answers are rejected until it is done."""
    spoken_by: SpokenBy
    preview: Preview
    lines: list[Line]
    back_to: list[Phase]
    """Phases that can be revisited."""
    bot_slug: str | None
    """The bot being reconfigured."""
    skill_name: str | None
    trial: TrialReport | None
    """Result of the skill's own tests."""
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
    """Why this draft cannot be opened."""


class Result(Made):
    """What was created. The fields of the first bot, or of the skill, are repeated at the top level."""

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
    """What was created, or for a dry run the files that would be."""

    result: Result | None
    files: list[FileChange] = []
    differs: list[str] = []
    """Replays only: paths of files that differ from what was written originally."""


class SessionDeleted(BaseModel):
    deleted: bool = True
    session_id: str


class MemoryEntry(BaseModel):
    """What is remembered of a finished interview for later ones of the same purpose."""

    id: str
    purpose_category: str
    initial_description: str
    chosen_tone: str | None
    chosen_model: str | None
    chosen_skills: list[str]
    bot_slug: str | None
    created_at: datetime


class InterviewTurned(EventData):
    """There is a new turn, or Forge started working on one. Contains the whole session."""

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
    """A piece of text the model is writing. Ephemeral; the complete turn follows."""

    type: ClassVar[str] = "interview.delta"
    is_durable: ClassVar[bool] = False
    text: str


class InterviewsChanged(EventData):
    """The list of drafts changed. Published to the account's stream."""

    type: ClassVar[str] = "interviews.changed"
    session_id: str


EVENTS: tuple[type[EventData], ...] = (
    InterviewTurned,
    InterviewFinished,
    InterviewDeleted,
    InterviewDelta,
    InterviewsChanged,
)
