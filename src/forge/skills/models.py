"""Models of skills: manifest, capabilities, grants, files and test cases."""

import re
from collections.abc import Iterable
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from forge.kernel.text import NO_NUL, NOT_BLANK

SKILL_MD = "SKILL.md"
MAX_SKILL_NAME = 64
SKILL_NAME_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
MAX_DESCRIPTION = 1024

SkillName = Annotated[str, Field(pattern=SKILL_NAME_PATTERN, max_length=MAX_SKILL_NAME)]
"""The folder of the skill has the same name."""
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
    """Source code that runs in WebAssembly: JSON in, JSON out."""
    LOCAL = "local"
    """A program on this machine, run in the process sandbox."""


class Capability(StrEnum):
    """A permission a skill can request; a person grants each one separately."""

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
    """How far a skill is trusted. Set by the person who installs it, never by the skill."""

    UNTRUSTED = "untrusted"
    VERIFIED = "verified"
    """A person has reviewed it."""
    LOCAL = "local"
    """Your own skill. Programs run only at this tier."""


class Scope(BaseModel):
    """What a grant covers. An empty list covers nothing, except that a skill can always use its own folder."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    hosts: Annotated[list[Host], Field(max_length=50)] = []
    """For http_get and http_post: `api.example.com`, `*.example.com`, `example.com:8443`, or `*` for all public hosts."""
    roots: Annotated[list[Root], Field(max_length=20)] = []
    """For read_file and write_file: folders on the server."""
    names: Annotated[list[EntryName], Field(max_length=50)] = []
    """For read_env, get_secret and exec_command: variables, secrets, programs."""


class GrantWish(BaseModel):
    """A capability to grant, and its scope."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    capability: Capability
    scope: Scope = Field(default=Scope(), description="Default: the scope the skill requests.")


class Grant(GrantWish):
    """A granted capability. It is bound to the hash of the folder: an edited skill has to be granted again."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    folder_hash: str
    granted_at: datetime
    granted_by: str


class SkillProblem(BaseModel):
    """A problem in a skill. Line numbers start at 1."""

    model_config = ConfigDict(frozen=True)

    line: int | None = None
    message: str
    hint: str | None = None
    is_warning: bool = False

    @property
    def located_message(self) -> str:
        """Return the message with its line: `line 4: …`."""
        return f"line {self.line}: {self.message}" if self.line else self.message


def first_error(problems: Iterable[SkillProblem]) -> SkillProblem | None:
    """Return the first problem that makes the skill unusable."""
    return next((problem for problem in problems if not problem.is_warning), None)


class Manifest(BaseModel):
    """The front matter of `SKILL.md`: the six standard fields. Forge's own values are strings in `metadata`."""

    model_config = ConfigDict(frozen=True, populate_by_name=True)

    name: SkillName
    description: SkillDescription
    license: str | None = None
    compatibility: str | None = None
    allowed_tools: str | None = Field(default=None, alias="allowed-tools")
    metadata: dict[str, str] = {}

    @property
    def kind(self) -> SkillKind:
        """The declared kind; PROMPT by default."""
        said = self.metadata.get("forge-kind", "")
        return SkillKind(said) if said in set(SkillKind) else SkillKind.PROMPT

    @property
    def version(self) -> str:
        return self.metadata.get("version", "0.1.0")

    @property
    def capabilities(self) -> list[Capability]:
        """The requested capabilities. Unknown names are ignored."""
        asked = self.metadata.get("forge-capabilities", "").split()
        return [one for one in Capability if one in asked]

    @property
    def categories(self) -> list[str]:
        """The kinds of bots it suits."""
        return self._words("categories")

    @property
    def hosts(self) -> list[str]:
        """Hosts the skill wants to reach."""
        return self._words("forge-hosts")

    @property
    def env(self) -> list[str]:
        """Environment variables the skill wants to read."""
        return self._words("forge-env")

    @property
    def secrets(self) -> list[str]:
        return self._words("forge-secrets")

    @property
    def commands(self) -> list[str]:
        """Programs the skill wants to run."""
        return self._words("forge-commands")

    @property
    def files(self) -> list[str]:
        """Folders outside its own that the skill wants to use."""
        return self._words("forge-files")

    @property
    def dependencies(self) -> list[str]:
        """Required skills, each `name` or `name@range`."""
        return self._words("forge-dependencies")

    @property
    def conflicts(self) -> list[str]:
        return self._words("forge-conflicts")

    @property
    def parents(self) -> list[str]:
        """Skills to inherit from, each `name` or `name@range`, in order of precedence."""
        return self._words("forge-parents")

    def _words(self, key: str) -> list[str]:
        """Split a metadata value into words, without duplicates."""
        return list(dict.fromkeys(self.metadata.get(key, "").split()))


class SkillSource(StrEnum):
    LIBRARY = "library"
    """In the data directory."""
    STARTER = "starter"
    """Comes with Forge; copied into the library when a bot takes it."""


class Skill(BaseModel):
    """A skill whose SKILL.md is valid."""

    manifest: Manifest
    body: str
    source: SkillSource
    files: list[str]
    """Paths of the other files, sorted."""


class SkillOffer(BaseModel):
    """A suggested skill, with the reason."""

    model_config = ConfigDict(frozen=True)

    name: SkillName
    description: str
    kind: SkillKind
    source: SkillSource
    reason: str


class SkillFiles(BaseModel):
    """The text files of a skill by path, relative to its folder, with forward slashes."""

    model_config = ConfigDict(frozen=True)

    name: SkillName
    files: dict[str, str]


class SkillCase(BaseModel):
    """A test of a script or program, in `tests/<name>.json`. The output must contain `expect` and may contain more."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200), NO_NUL]
    input: dict[str, JsonValue]
    expect: dict[str, JsonValue]


class Case(BaseModel):
    """The result of one test case."""

    model_config = ConfigDict(frozen=True)

    name: str
    passed: bool
    detail: str = ""
    """The difference from the expected output, or the error."""


class TrialReport(BaseModel):
    """The result of running a skill's own tests."""

    model_config = ConfigDict(frozen=True)

    ran: bool
    """False for instructions, which are only validated."""
    passed: bool
    cases: list[Case] = []
    sandbox: str = ""
    """The sandbox level it ran at."""
    duration_ms: int = 0
    output: str = ""
    """The end of its output if a case failed."""


Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Address = Annotated[str, Field(min_length=1, max_length=2000), NO_NUL]
SourcePath = Annotated[str, Field(max_length=1000), NO_NUL]


class _Source(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class OwnSource(_Source):
    """Created here: by hand, in the editor or in an interview; or a folder copied into the library."""

    type: Literal["own"] = "own"


class StarterSource(_Source):
    """Comes with Forge."""

    type: Literal["starter"] = "starter"


class FolderSource(_Source):
    """A folder on the machine of the person who installed it; the server cannot fetch it again."""

    type: Literal["folder"] = "folder"
    path: SourcePath


class ZipSource(_Source):
    type: Literal["zip"] = "zip"
    name: Annotated[str, Field(max_length=255), NO_NUL]
    """File name of the archive."""
    sha256: Sha256


class GitSource(_Source):
    type: Literal["git"] = "git"
    url: Address
    ref: Annotated[str, Field(max_length=200), NO_NUL] | None = None
    """A branch, tag or commit; None for the repository's default branch."""
    path: SourcePath = ""
    """The skill's folder in the repository; empty when the repository is the skill."""
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{40,64}$")] | None = None
    """The installed commit."""


class RegistrySource(_Source):
    type: Literal["registry"] = "registry"
    registry: Annotated[str, Field(max_length=64)]
    name: Annotated[str, Field(max_length=64)]
    version: Annotated[str, Field(max_length=64)]
    sha256: Sha256 | None = None


Origin = Annotated[
    OwnSource | StarterSource | FolderSource | ZipSource | GitSource | RegistrySource,
    Field(discriminator="type"),
]
