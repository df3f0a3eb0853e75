"""Getting skills in, as people and clients see it: what was fetched, what becomes of it, and the registries."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.skills.models import GrantWish, Manifest, SkillKind, SkillName, SkillProblem, Tier
from forge.skills.sources import Address, GitSource, Origin, RegistrySource
from forge.skills.views import AskedView, RelationView, SkillFileView, SkillState


class PathSource(BaseModel):
    """A folder or zip on the machine of the server, below a folder the settings allow."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["path"] = "path"
    path: Address


class FetchWish(BaseModel):
    """Where to get skills from; nothing is installed yet."""

    model_config = ConfigDict(extra="forbid")

    source: Annotated[GitSource | RegistrySource | PathSource, Field(discriminator="type")]


class StagedSkill(BaseModel):
    """A skill that was fetched and not installed: looked at, not executed."""

    name: str
    path: str
    """Where it lies in what was fetched."""
    valid: bool
    problems: list[SkillProblem] = []
    manifest: Manifest | None = None
    folder_hash: str
    files: list[SkillFileView] = []
    asks: list[AskedView] = []
    source: Origin
    replaces: str | None = None
    """The version in the library that it would replace."""
    is_same: bool = False
    """It is in the library already, just so."""
    changes: list[str] = []
    """Files that differ from those in the library."""
    needs: list[RelationView] = []
    """What it depends on, with what the library has of it."""
    conflicts: list[RelationView] = []


class Staged(BaseModel):
    """What was fetched, and waits for a person. Forgotten after an hour."""

    id: str
    skills: list[StagedSkill]
    expires_at: datetime


class InstallChoice(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: SkillName
    grants: list[GrantWish] = []
    tier: Tier = Tier.UNTRUSTED


class InstallWish(BaseModel):
    model_config = ConfigDict(extra="forbid")

    skills: Annotated[list[InstallChoice], Field(min_length=1, max_length=2000)]
    force: bool = Field(default=False, description="Replace what is in the library under the same name.")


class Installed(BaseModel):
    """What became of one skill that was to be installed."""

    name: str
    installed: bool
    is_new: bool = False
    problem: str | None = None
    hint: str | None = None
    state: SkillState | None = None
    version: str = ""
    path: str = ""


class Registry(BaseModel):
    """An index of skills somebody added."""

    name: SkillName
    url: Address
    fetched_at: datetime | None = None
    skills: int = 0
    problem: str | None = None
    """Why it could not be fetched the last time; what is cached is used."""


class NewRegistry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: SkillName
    url: Address


class RegistryEntry(BaseModel):
    """A skill in a registry."""

    registry: str
    name: str
    version: str
    description: str
    kind: SkillKind = SkillKind.PROMPT
    capabilities: list[str] = []
    categories: list[str] = []
    installed: str | None = None
    """The version in the library."""
