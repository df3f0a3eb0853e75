"""Requests and responses for installing skills and managing registries."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.skills.models import (
    Address,
    GitSource,
    GrantWish,
    Manifest,
    Origin,
    RegistrySource,
    SkillKind,
    SkillName,
    SkillProblem,
    Tier,
)
from forge.skills.views import AskedView, RelationView, SkillFileView, SkillState


class PathSource(BaseModel):
    """A folder or zip on the server, inside a folder the settings allow."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    type: Literal["path"] = "path"
    path: Address


class FetchWish(BaseModel):
    """Where to fetch skills from. Nothing is installed yet."""

    model_config = ConfigDict(extra="forbid")

    source: Annotated[GitSource | RegistrySource | PathSource, Field(discriminator="type")]


class StagedSkill(BaseModel):
    """A fetched skill that is staged for review. Nothing of it is executed."""

    name: str
    path: str
    """Its path in the fetched files."""
    valid: bool
    problems: list[SkillProblem] = []
    manifest: Manifest | None = None
    folder_hash: str
    files: list[SkillFileView] = []
    asks: list[AskedView] = []
    source: Origin
    replaces: str | None = None
    """The version in the library it would replace."""
    is_same: bool = False
    """Whether the library already has the same files."""
    changes: list[str] = []
    """Files that differ from those in the library."""
    needs: list[RelationView] = []
    """Its dependencies and parents, with their versions in the library."""
    conflicts: list[RelationView] = []


class Staged(BaseModel):
    """Fetched skills that wait for review. Expires after an hour."""

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
    force: bool = Field(default=False, description="Replace skills of the same name in the library.")


class Installed(BaseModel):
    """The result of installing a skill."""

    name: str
    installed: bool
    is_new: bool = False
    problem: str | None = None
    hint: str | None = None
    state: SkillState | None = None
    version: str = ""
    path: str = ""


class Registry(BaseModel):
    """A registry: an index of skills that was added by its address."""

    name: SkillName
    url: Address
    fetched_at: datetime | None = None
    skills: int = 0
    problem: str | None = None
    """Why the last fetch failed; the cached index is used."""


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
