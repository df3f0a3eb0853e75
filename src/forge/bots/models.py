"""API models, enums and events of bots."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from forge.events.models import EventData
from forge.kernel.text import NO_NUL
from forge.skills.models import Capability, SkillKind, SkillName, Tier
from forge.skills.views import SkillState


class MessageStatus(StrEnum):
    DONE = "done"
    WRITING = "writing"
    STOPPED = "stopped"
    """Stopped by a person; the text written so far is kept."""
    INTERRUPTED = "interrupted"
    """Its process died; the text written so far is kept, and the answer can be resumed."""
    FAILED = "failed"
    """The model call failed or returned no answer; see `error`."""

    @property
    def can_resume(self) -> bool:
        return self in (MessageStatus.STOPPED, MessageStatus.INTERRUPTED, MessageStatus.FAILED)


MAX_CONTENT = 200_000


MAX_NAME = 200
MAX_BOT_DESCRIPTION = 1000
MAX_TAG, MAX_TAGS = 40, 20
MAX_TRAIT = 100
MAX_TONE = 200
MAX_PROVIDER, MAX_MODEL = 32, 200
MAX_TEMPERATURE = 2
MAX_TOKENS = 200_000
SLUG_PATTERN = r"^[a-z0-9]+(-[a-z0-9]+)*$"
MAX_SLUG = 64
BUNDLE_FORMAT = 1


Words = Annotated[str, NO_NUL]
"""Free text."""
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), NO_NUL]
GivenName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME), NO_NUL
]
"""A name as typed, stripped of surrounding whitespace."""
Description = Annotated[str, Field(max_length=MAX_BOT_DESCRIPTION), NO_NUL]
Colour = Annotated[str, Field(pattern=r"^#[0-9a-f]{6}$")]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_TAG), NO_NUL]
Tags = Annotated[list[Tag], Field(max_length=MAX_TAGS)]
Trait = Annotated[str, Field(min_length=1, max_length=MAX_TRAIT), NO_NUL]
Tone = Annotated[str, Field(max_length=MAX_TONE), NO_NUL]
ProviderName = Annotated[str, Field(min_length=1, max_length=MAX_PROVIDER), NO_NUL]
ModelName = Annotated[str, Field(min_length=1, max_length=MAX_MODEL), NO_NUL]
Temperature = Annotated[float, Field(ge=0, le=MAX_TEMPERATURE)]
MaxTokens = Annotated[int, Field(ge=1, le=MAX_TOKENS)]
Avatar = Annotated[str, Field(min_length=1, max_length=16), NO_NUL]


class BotStatus(StrEnum):
    ACTIVE = "active"
    DISABLED = "disabled"
    """Keeps all data, does not answer."""
    ARCHIVED = "archived"
    """Disabled, and hidden from lists."""


class Category(StrEnum):
    ASSISTANT = "assistant"
    CREATIVE = "creative"
    RESEARCH = "research"
    UTILITY = "utility"


class BotFile(StrEnum):
    """The files of a bot, by their names in URLs."""

    SOUL = "soul"
    IDENTITY = "identity"
    USER = "user"
    SKILLS = "skills-file"

    @property
    def file_name(self) -> str:
        return _FILE_NAMES[self]


_FILE_NAMES = {
    BotFile.SOUL: "SOUL.md",
    BotFile.IDENTITY: "IDENTITY.md",
    BotFile.USER: "USER.md",
    BotFile.SKILLS: "skills.toml",
}


class FileProblem(BaseModel):
    """A problem in a file. Lines and columns count from 1."""

    model_config = ConfigDict(frozen=True)

    file: BotFile
    line: int | None = None
    column: int | None = None
    message: str
    hint: str | None = None
    is_warning: bool = False
    """A warning does not block the bot."""


class Identity(BaseModel):
    """The front matter of `IDENTITY.md`: appearance, model and settings of a bot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    display_name: Name
    description: Description = ""
    category: Category = Category.ASSISTANT
    tags: Tags = []
    provider: ProviderName | None = None
    model: ModelName | None = None
    """None uses the model chosen for bots in Settings, Models."""
    temperature: Temperature = 0.7
    max_tokens: MaxTokens = 4096
    avatar: Avatar = "🤖"
    colour: Colour = "#e2703a"
    memory: bool = True
    """Extract facts from its conversations."""

    @property
    def ref(self) -> str | None:
        """Return the model as the gateway names it; None for the default model of bots."""
        return f"{self.provider}:{self.model}" if self.provider and self.model else self.model


class Soul(BaseModel):
    """`SOUL.md`: the front matter and the text below it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    traits: Annotated[list[Trait], Field(max_length=30)] = []
    tone: Tone = ""
    body: str = ""


VersionRange = Annotated[str, Field(min_length=1, max_length=64), NO_NUL]
Narrowed = list[Annotated[str, Field(max_length=64)]] | None
SkillOverrides = Annotated[
    dict[
        Annotated[str, Field(min_length=1, max_length=64), NO_NUL],
        Annotated[str, Field(max_length=2000), NO_NUL],
    ],
    Field(max_length=50),
]


def _all_for_none(names: object) -> object:
    """Read an empty list as no restriction."""
    return None if names == [] else names


class SkillEntry(BaseModel):
    """A table of `skills.toml`: a skill attached to a bot."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    skill_name: SkillName
    enabled: bool = True
    version: Annotated[str, Field(max_length=64), NO_NUL] | None = None
    """Required version or range; None for any."""
    capabilities: Annotated[Narrowed, BeforeValidator(_all_for_none)] = None
    """Restrict the granted capabilities to these; None for all of them."""
    overrides: dict[str, str] = {}
    """`description` replaces the description the bot reads; all other keys are settings passed to the skill."""


class SkillView(BaseModel):
    """A skill attached to a bot, with its state in the library."""

    name: str
    enabled: bool
    is_offered: bool = False
    """The bot can use it."""
    description: str = ""
    """Description as the bot reads it."""
    kind: SkillKind | None = None
    version: str | None = None
    """Version in the library; None if the skill is missing."""
    pin: str | None = None
    """Required version or range."""
    state: SkillState | None = None
    problem: str | None = None
    """Why the bot cannot use it, or can use it only in part."""
    tier: Tier | None = None
    capabilities: list[Capability] = []
    """Requested capabilities, including those of inherited skills."""
    granted: list[Capability] = []
    """Capabilities granted now, before `narrowed` applies."""
    narrowed: Narrowed = None
    overrides: dict[str, str] = {}


class NewBotSkill(BaseModel):
    """Attach a skill to a bot."""

    model_config = ConfigDict(extra="forbid")

    skill_name: SkillName
    enabled: bool = True
    version: VersionRange | None = Field(
        default=None, description="An exact version or a range such as ^1.2. Default: any version."
    )
    overrides: SkillOverrides = {}
    capabilities: Narrowed = Field(
        default=None, description="Restrict the granted capabilities to these. Empty or null: no restriction."
    )


class BotSkillChange(BaseModel):
    """Change the given fields; null removes a version pin or a restriction."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool = True
    version: VersionRange | None = None
    overrides: SkillOverrides = {}
    capabilities: Narrowed = None


class Bot(BaseModel):
    """A bot as stored in the database. `identity` is the last valid IDENTITY.md."""

    model_config = ConfigDict(frozen=True)

    id: str
    slug: str
    status: BotStatus
    identity: Identity
    created_at: datetime
    updated_at: datetime
    last_active_at: datetime | None = None
    deleted_at: datetime | None = None


class BotView(Bot):
    """A bot with its state and statistics."""

    folder: str
    """Directory of its files on the server."""
    model: str
    """`provider:model` of its next answer."""
    problems: list[FileProblem] = []
    blocked: str | None = None
    """Why the bot cannot answer, in one line; None if it can."""
    soul_version: int
    sessions: int = 0
    answering: int = 0
    """Number of conversations in which an answer is being written."""
    messages: int = 0
    tokens: int = 0
    spent_micros: int = 0


class NewBot(BaseModel):
    """Create a bot. Only the name is required; `soul` and `user` are complete files."""

    model_config = ConfigDict(extra="forbid")

    name: GivenName
    description: Description = ""
    category: Category = Category.ASSISTANT
    tags: Tags = []
    provider: ProviderName | None = None
    model: ModelName | None = None
    temperature: Temperature = 0.7
    max_tokens: MaxTokens = 4096
    avatar: Avatar | None = None
    colour: Colour | None = None
    soul: Words | None = Field(
        default=None, description="A complete SOUL.md. Default: generated from name and description."
    )
    user: Words | None = Field(default=None, description="A complete USER.md.")


class BotChange(BaseModel):
    """Change the given fields. All but `status` are keys of IDENTITY.md; the slug does not change."""

    model_config = ConfigDict(extra="forbid")

    name: GivenName | None = None
    description: Description | None = None
    category: Category | None = None
    tags: Tags | None = None
    provider: Annotated[str, Field(max_length=MAX_PROVIDER), NO_NUL] | None = Field(
        default=None, description="An empty string resets it to the default."
    )
    model: Annotated[str, Field(max_length=MAX_MODEL), NO_NUL] | None = Field(
        default=None, description="An empty string resets it to the default."
    )
    temperature: Temperature | None = None
    max_tokens: MaxTokens | None = None
    avatar: Avatar | None = None
    colour: Colour | None = None
    memory: bool | None = None
    status: BotStatus | None = None
    base_hash: str | None = Field(
        default=None,
        description="Hash of the IDENTITY.md this change is based on; 409 if the file changed since.",
    )


class NewClone(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: GivenName | None = Field(
        default=None, description="Default: the name of the bot followed by (Clone)."
    )


def _known_format(number: object) -> object:
    if isinstance(number, int) and number > BUNDLE_FORMAT:
        raise ValueError(
            f"was created by a newer Forge (format {number}); this version reads format {BUNDLE_FORMAT}"
        )
    return number


class Bundle(BaseModel):
    """An exported bot: its files, without memories, conversations and secrets."""

    model_config = ConfigDict(extra="forbid")

    forge_bot: Annotated[Literal[1], BeforeValidator(_known_format)]
    slug: Annotated[str, Field(max_length=MAX_SLUG)]
    exported_at: datetime
    files: dict[str, Words]
    """Contents by file name: `SOUL.md`, `IDENTITY.md`, `USER.md`, `skills.toml`."""


class BotSort(StrEnum):
    NAME = "name"
    ACTIVITY = "activity"
    CREATED = "created"


class Stats(BaseModel):
    """Totals over all bots of an account."""

    total_bots: int
    active_bots: int
    disabled_bots: int
    archived_bots: int
    total_sessions: int
    active_sessions: int
    """Sessions in which an answer is being written."""
    total_messages: int
    total_memories: int
    tokens: int
    spent_micros: int


BotPart = Literal["bot", "soul", "identity", "user", "skills", "memory", "session", "deleted"]


class BotChanged(EventData):
    """A bot changed: reload it. Published on the account's stream."""

    type: ClassVar[str] = "bot.changed"
    bot_id: str
    slug: str
    part: BotPart


EVENTS: tuple[type[EventData], ...] = (BotChanged,)
