"""Requests, responses and events of the skills API."""

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
    Origin,
    SkillDescription,
    SkillKind,
    SkillName,
    SkillProblem,
    Tier,
)

Purpose = Literal["chat", "cli", "api", "web", "workflow", "test"]


class SkillState(StrEnum):
    READY = "ready"
    REVIEW = "review"
    """It requests capabilities that are not granted, or was edited after they were granted."""
    BROKEN = "broken"
    """It cannot be read, or a dependency is missing."""


class SkillCard(BaseModel):
    """A skill in the library: what lists show."""

    name: str
    description: str = ""
    kind: SkillKind = SkillKind.PROMPT
    version: str = ""
    tier: Tier = Tier.UNTRUSTED
    source: Origin
    state: SkillState
    problem: str | None = None
    """Why its state is not READY."""
    capabilities: list[Capability] = []
    """Requested capabilities, including those of its parents."""
    granted: list[Capability] = []
    """Capabilities that are granted and in effect."""
    categories: list[str] = []
    bots: list[str] = []
    """Slugs of the bots that use it."""
    changed_at: datetime | None = None


class SkillFileView(BaseModel):
    path: str
    bytes: int
    is_text: bool


class AskedView(GrantWish):
    """A requested capability with its meaning and risk, for the person who decides."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    title: str
    allows: str
    risk: str
    from_parent: str | None = None
    """The skill it is inherited from; None for its own."""
    is_needed: bool = False
    """The skill cannot run without it."""


class RelationView(BaseModel):
    """A dependency, parent or conflict of a skill."""

    name: str
    range: str = "*"
    version: str | None = None
    """The version in the library; None if it is missing."""
    problem: str | None = None


class LimitsView(BaseModel):
    memory_bytes: int
    fuel: int
    seconds: float


class SkillDetail(SkillCard):
    """A skill in the library, with all details."""

    manifest: Manifest | None = None
    body: str = ""
    """Instructions, including inherited ones."""
    folder: str
    folder_hash: str
    entry: str | None = None
    """The file that runs, for a script or program."""
    files: list[SkillFileView] = []
    problems: list[SkillProblem] = []
    asks: list[AskedView] = []
    grants: list[Grant] = []
    """All grants; those with an outdated `folder_hash` are not in effect."""
    limits: LimitsView
    dependencies: list[RelationView] = []
    conflicts: list[RelationView] = []
    parents: list[RelationView] = []
    """Nearest first."""
    tests: list[str] = []
    installed_at: datetime | None = None


class FileContent(BaseModel):
    path: str
    text: str | None
    """None for a binary file."""
    bytes: int


SkillTexts = Annotated[
    dict[Annotated[str, Field(max_length=300)], Annotated[str, NO_NUL]], Field(max_length=200)
]


class NewSkill(BaseModel):
    """A new skill: `SKILL.md` and its other text files."""

    model_config = ConfigDict(extra="forbid")

    name: SkillName
    files: SkillTexts


class NewFrame(BaseModel):
    """The name, kind and description to generate a skill's first files from."""

    model_config = ConfigDict(extra="forbid")

    name: SkillName
    kind: SkillKind = SkillKind.PROMPT
    language: Language | None = Field(
        default=None, description="Language of a script or program; default: py."
    )
    description: SkillDescription


class SkillEdit(BaseModel):
    """The complete set of text files; binary files are not changed."""

    model_config = ConfigDict(extra="forbid")

    files: SkillTexts
    base_hash: str = Field(
        description="Hash of the folder this edit is based on; 409 if the folder has changed."
    )


class Validation(BaseModel):
    """The result of validating a skill: its problems, manifest and requested capabilities."""

    valid: bool
    problems: list[SkillProblem] = []
    manifest: Manifest | None = None
    asks: list[AskedView] = []


class RunWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    input: dict[str, JsonValue] = {}
    bot: Annotated[str, Field(max_length=64)] | None = Field(
        default=None, description="Run it as this bot: with its settings, memories and limits."
    )
    purpose: Literal["cli", "api", "web"] = "api"


class TryWish(NewSkill):
    """A skill to run without saving it. It can use only `log` and a temporary `kv`."""

    input: dict[str, JsonValue] = {}


class SkillRun(BaseModel):
    """One invocation of a skill."""

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
    """Number of uses of each capability."""
    input_hash: str
    output_hash: str | None = None
    fuel: int | None = None
    memory_bytes: int | None = None
    duration_ms: float
    logs: list[LogLine] = []
    at: datetime


class SkillRan(SkillRun):
    """An invocation with its output, which is returned once and not stored."""

    output: JsonValue = None
    sandbox: str | None = None
    """The sandbox level of a program."""
    cost_micros: int = 0
    """Cost of the model that followed the instructions."""


class GrantsWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    grants: Annotated[list[GrantWish], Field(max_length=len(Capability))]
    """The complete set of grants; capabilities not listed are revoked."""
    folder_hash: str = Field(
        description="Hash of the folder that was reviewed; 409 if the folder has changed."
    )


class TierWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    tier: Tier


class TriggerCase(BaseModel):
    """A message, and whether the model should pick the skill for it. `tests/triggers.json` holds a list of these."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    say: Annotated[str, Field(min_length=1, max_length=2000), NO_NUL]
    should: bool = True


class SkillTestReport(BaseModel):
    """The result of a skill's tests."""

    skill: str
    passed: bool
    ran: bool
    """False if there was nothing to run."""
    cases: list[Case] = []
    triggers: list[Case] = []
    """Results of the trigger tests: does the description make a model pick the skill?"""
    triggers_skipped: str | None = None
    """Why the trigger tests were skipped."""
    sandbox: str = ""
    duration_ms: int = 0
    cost_micros: int = 0
    output: str = ""


class SkillTestWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    triggers: bool = Field(
        default=False,
        description="Also run the trigger tests; they call the configured model, which costs money.",
    )


class SkillChanged(EventData):
    """A skill, its grants or its record changed. In the account's stream."""

    type: ClassVar[str] = "skill.changed"
    skill: str
    part: Literal["skill", "grants", "removed"]


class SkillInvoked(EventData):
    """A skill was run. Ephemeral; the skill's log has the details."""

    type: ClassVar[str] = "skill.invoked"
    is_durable: ClassVar[bool] = False
    skill: str
    end: RunEnd


EVENTS: tuple[type[EventData], ...] = (SkillChanged, SkillInvoked)
