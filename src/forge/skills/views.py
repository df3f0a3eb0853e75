"""Skills as the library, its pages and its commands show them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forge.events.models import EventData
from forge.kernel.text import NO_NUL
from forge.skills.execution import Language, LogLine, RunEnd
from forge.skills.models import (
    Capability,
    Case,
    Grant,
    GrantWish,
    Manifest,
    SkillDescription,
    SkillKind,
    SkillName,
    SkillProblem,
    Tier,
)
from forge.skills.sources import Origin

Purpose = Literal["chat", "cli", "api", "web", "workflow", "test"]


class SkillState(StrEnum):
    READY = "ready"
    REVIEW = "review"
    """It asks for what nobody granted yet, or was edited since: what was granted does not count."""
    BROKEN = "broken"
    """It cannot be read, or what it depends on is missing."""


class SkillCard(BaseModel):
    """A skill in the library, in a line."""

    name: str
    description: str = ""
    kind: SkillKind = SkillKind.PROMPT
    version: str = ""
    tier: Tier = Tier.UNTRUSTED
    source: Origin
    state: SkillState
    problem: str | None = None
    """What keeps it from being ready."""
    capabilities: list[Capability] = []
    """Asked for, its parents' included."""
    granted: list[Capability] = []
    """Those that count now."""
    categories: list[str] = []
    bots: list[str] = []
    """Slugs of the bots that have it."""
    changed_at: datetime | None = None


class SkillFileView(BaseModel):
    path: str
    bytes: int
    is_text: bool


class AskedView(GrantWish):
    """A capability a skill asks for, as a person has to see it before they say yes."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str
    allows: str
    risk: str
    from_parent: str | None = None
    """The skill it is inherited from; None for its own."""
    is_needed: bool = False
    """Without it the skill cannot run at all."""


class RelationView(BaseModel):
    """Another skill that this one names."""

    name: str
    range: str = "*"
    version: str | None = None
    """The one in the library; None when there is none."""
    problem: str | None = None


class LimitsView(BaseModel):
    memory_bytes: int
    fuel: int
    seconds: float


class SkillDetail(SkillCard):
    """All there is to know about one."""

    manifest: Manifest | None = None
    body: str = ""
    """With what it inherits."""
    folder: str
    folder_hash: str
    entry: str | None = None
    """The source of a script or program."""
    files: list[SkillFileView] = []
    problems: list[SkillProblem] = []
    asks: list[AskedView] = []
    grants: list[Grant] = []
    """Those that count and those that do not any more; `folder_hash` tells."""
    limits: LimitsView
    dependencies: list[RelationView] = []
    conflicts: list[RelationView] = []
    parents: list[RelationView] = []
    """The nearest first."""
    tests: list[str] = []
    installed_at: datetime | None = None


class FileContent(BaseModel):
    path: str
    text: str | None
    """None when it is no text."""
    bytes: int


SkillTexts = Annotated[
    dict[Annotated[str, Field(max_length=300)], Annotated[str, NO_NUL]], Field(max_length=200)
]


class NewSkill(BaseModel):
    """A skill somebody writes: `SKILL.md` and what else it takes."""

    model_config = ConfigDict(extra="forbid")

    name: SkillName
    files: SkillTexts


class NewFrame(BaseModel):
    """What a skill is to be, before it has files."""

    model_config = ConfigDict(extra="forbid")

    name: SkillName
    kind: SkillKind = SkillKind.PROMPT
    language: Language | None = Field(default=None, description="Of a script or program; py without it.")
    description: SkillDescription


class SkillEdit(BaseModel):
    """The text files as they are to be; files that are no text stay."""

    model_config = ConfigDict(extra="forbid")

    files: SkillTexts
    base_hash: str = Field(description="Of the folder this was made from; 409 when it is another now.")


class Validation(BaseModel):
    """Whether a folder is a skill, and what is worth knowing about it."""

    valid: bool
    problems: list[SkillProblem] = []
    manifest: Manifest | None = None
    asks: list[AskedView] = []


class RunWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    input: dict[str, JsonValue] = {}
    bot: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="Run it as this bot would: with its settings, its memories, its limits."
    )
    purpose: Literal["cli", "api", "web"] = "api"


class TryWish(NewSkill):
    """A skill that is not saved yet. It gets nothing but `log` and `kv` that is forgotten."""

    input: dict[str, JsonValue] = {}


class SkillRun(BaseModel):
    """One invocation, as it ended."""

    id: str
    skill: str
    version: str
    folder_hash: str
    kind: SkillKind
    tier: Tier
    purpose: Purpose
    bot_id: str | None = None
    by: str = ""
    end: RunEnd
    error: str = ""
    capabilities_used: dict[Capability, int] = {}
    """How often each."""
    input_hash: str
    output_hash: str | None = None
    fuel: int | None = None
    memory_bytes: int | None = None
    duration_ms: float
    logs: list[LogLine] = []
    at: datetime


class SkillRan(SkillRun):
    """With what it gave; that is told once and not kept."""

    output: JsonValue = None
    sandbox: str | None = None
    """How well a program was locked in."""
    cost_micros: int = 0
    """Of the model that followed instructions."""


class GrantsWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    grants: Annotated[list[GrantWish], Field(max_length=len(Capability))]
    """All that is to count from now on; what is not named is revoked."""
    folder_hash: str = Field(description="Of the folder that was looked at; 409 when it is another now.")


class TierWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tier: Tier


class TriggerCase(BaseModel):
    """A thing somebody says, and whether the skill should be picked for it: `tests/triggers.json` has a list."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    say: Annotated[str, Field(min_length=1, max_length=2000), NO_NUL]
    should: bool = True


class SkillTestReport(BaseModel):
    """What became of a skill's tests."""

    skill: str
    passed: bool
    ran: bool
    """False when there was nothing to execute."""
    cases: list[Case] = []
    triggers: list[Case] = []
    """Whether its description makes a model pick it."""
    triggers_skipped: str | None = None
    """Why no model was asked."""
    sandbox: str = ""
    duration_ms: int = 0
    cost_micros: int = 0
    output: str = ""


class SkillTestWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    triggers: bool = Field(default=False, description="Also ask the configured model; that costs a little.")


class SkillChanged(EventData):
    """Something about a skill is different now: load it again. In the account's stream."""

    type: ClassVar[str] = "skill.changed"
    skill: str
    part: Literal["skill", "grants", "removed"]


class SkillInvoked(EventData):
    """A skill was run; its log has the details. Only whispered: there may be many."""

    type: ClassVar[str] = "skill.invoked"
    is_durable: ClassVar[bool] = False
    skill: str
    end: RunEnd


EVENTS: tuple[type[EventData], ...] = (SkillChanged, SkillInvoked)
