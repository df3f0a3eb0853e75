"""Skills as people and clients see them."""

import re
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forge.kernel.text import NO_NUL, NOT_BLANK

SKILL_MD = "SKILL.md"
MAX_SKILL_NAME = 64
SKILL_NAME_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
MAX_DESCRIPTION = 1024

SkillName = Annotated[str, Field(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME)]
"""Also the name of its folder."""
SkillDescription = Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION), NOT_BLANK, NO_NUL]


def is_skill_name(text: str) -> bool:
    return len(text) <= MAX_SKILL_NAME and re.fullmatch(SKILL_NAME_PATTERN, text) is not None


Host = Annotated[
    str,
    Field(
        pattern=r"^(\*|(\*\.)?[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?|\[[0-9a-f:.]+\])(:[0-9]{1,5})?$",
        max_length=260,
    ),
]
Root = Annotated[str, Field(pattern=r"^/", max_length=1000), NO_NUL]
EntryName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_.+-]{1,100}$")]


class SkillKind(StrEnum):
    PROMPT = "prompt"
    """Instructions a bot follows."""
    SCRIPT = "script"
    """Plain source, run where it can touch nothing: JSON in, JSON out."""
    LOCAL = "local"
    """A program on this machine, run in the process sandbox."""


class Capability(StrEnum):
    """What a skill may ask for; each is granted by a person, one by one."""

    READ_FILE = "read_file"
    WRITE_FILE = "write_file"
    HTTP_GET = "http_get"
    HTTP_POST = "http_post"
    EXEC_COMMAND = "exec_command"
    READ_ENV = "read_env"
    RECALL_MEMORY = "recall_memory"
    GET_SECRET = "get_secret"  # noqa: S105 - no secret, the name of what asks for one
    KV = "kv"
    LOG = "log"


class Tier(StrEnum):
    """How far a skill is trusted. Said by whoever installs it, never by the skill."""

    UNTRUSTED = "untrusted"
    VERIFIED = "verified"
    """Somebody has read it."""
    LOCAL = "local"
    """Your own. Programs run at this tier only."""


class Scope(BaseModel):
    """How far a grant goes. What is empty is not covered, but files: those of the skill's own folder always are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hosts: Annotated[list[Host], Field(max_length=50)] = []
    """Of http_get and http_post: `api.example.com`, `*.example.com`, `example.com:8443`, or `*` for all public ones."""
    roots: Annotated[list[Root], Field(max_length=20)] = []
    """Of read_file and write_file: folders on the machine of the server."""
    names: Annotated[list[EntryName], Field(max_length=50)] = []
    """Of read_env, get_secret and exec_command: variables, secrets, programs."""


class GrantWish(BaseModel):
    """One capability somebody allows, and how far."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    capability: Capability
    scope: Scope = Field(default=Scope(), description="Left out: as far as the skill asks.")


class Grant(GrantWish):
    """One that was given. It holds for the folder as it was then: an edited skill has to be granted again."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    folder_hash: str
    granted_at: datetime
    granted_by: str


class SkillProblem(BaseModel):
    """What is wrong in a SKILL.md, and where. Lines count from 1."""

    model_config = ConfigDict(frozen=True)

    line: int | None = None
    message: str
    hint: str | None = None
    is_warning: bool = False

    @property
    def said(self) -> str:
        """`line 4: …`"""
        return f"line {self.line}: {self.message}" if self.line else self.message


def first_mistake(problems: Iterable[SkillProblem]) -> SkillProblem | None:
    """What a skill cannot be used with."""
    return next((problem for problem in problems if not problem.is_warning), None)


class Manifest(BaseModel):
    """The front matter of `SKILL.md`: six fields of the standard; what is ours lies in `metadata`, as texts."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    name: SkillName
    description: SkillDescription
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: str | None = Field(default=None, alias="allowed-tools")
    metadata: dict[str, str] = {}

    @property
    def kind(self) -> SkillKind:
        """What it says it is; a skill that says nothing is instructions."""
        said = self.metadata.get("forge-kind", "")
        return SkillKind(said) if said in set(SkillKind) else SkillKind.PROMPT

    @property
    def version(self) -> str:
        return self.metadata.get("version", "0.1.0")

    @property
    def capabilities(self) -> list[Capability]:
        """Asked for, not granted. What is not known is not asked for."""
        asked = self.metadata.get("forge-capabilities", "").split()
        return [one for one in Capability if one in asked]

    @property
    def categories(self) -> list[str]:
        """The kinds of bots it suits."""
        return self._words("categories")

    @property
    def hosts(self) -> list[str]:
        """It wants to reach."""
        return self._words("forge-hosts")

    @property
    def env(self) -> list[str]:
        """Variables it wants to read."""
        return self._words("forge-env")

    @property
    def secrets(self) -> list[str]:
        return self._words("forge-secrets")

    @property
    def commands(self) -> list[str]:
        """Programs it wants to start."""
        return self._words("forge-commands")

    @property
    def files(self) -> list[str]:
        """Folders outside of its own that it wants to get at."""
        return self._words("forge-files")

    @property
    def dependencies(self) -> list[str]:
        """Each a name, or `name@range`."""
        return self._words("forge-dependencies")

    @property
    def conflicts(self) -> list[str]:
        return self._words("forge-conflicts")

    @property
    def parents(self) -> list[str]:
        """Each a name, or `name@range`; the first counts first."""
        return self._words("forge-parents")

    def _words(self, key: str) -> list[str]:
        """Each once, as it was written."""
        return list(dict.fromkeys(self.metadata.get(key, "").split()))


class SkillSource(StrEnum):
    LIBRARY = "library"
    """In the data directory."""
    STARTER = "starter"
    """Comes with Forge; copied into the library when a bot takes it."""


class Skill(BaseModel):
    """A skill that can be read."""

    manifest: Manifest
    body: str
    source: SkillSource
    files: list[str]
    """Beside SKILL.md, sorted."""


class SkillOffer(BaseModel):
    """A skill that suits what somebody is making, and why."""

    model_config = ConfigDict(frozen=True)

    name: SkillName
    description: str
    kind: SkillKind
    source: SkillSource
    reason: str


class SkillFiles(BaseModel):
    """A whole skill, as it would lie in its folder: names relative to it, with forward slashes."""

    model_config = ConfigDict(frozen=True)

    name: SkillName
    files: dict[str, str]


class SkillCase(BaseModel):
    """A test of a skill that runs: `tests/<name>.json`. What comes out must hold all that is expected, and may hold more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
    input: dict[str, JsonValue]
    expect: dict[str, JsonValue]


class Case(BaseModel):
    """One line of a test report."""

    model_config = ConfigDict(frozen=True)

    name: str
    passed: bool
    detail: str = ""
    """What came out instead, or what went wrong."""


class TrialReport(BaseModel):
    """What became of a skill's own test, in the sandbox."""

    model_config = ConfigDict(frozen=True)

    ran: bool
    """False for instructions: there is nothing to execute, only to check."""
    passed: bool
    cases: list[Case] = []
    sandbox: str = ""
    """The level it ran at."""
    duration_ms: int = 0
    output: str = ""
    """The end of what it wrote, when it failed."""
