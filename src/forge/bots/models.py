"""Bots as people and clients see them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from forge.events.models import EventData
from forge.kernel.text import NO_NUL
from forge.skills.models import Capability, SkillKind, SkillName, Tier
from forge.skills.views import SkillState

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
"""Text of a person, whatever it says."""
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME), NO_NUL]
GivenName = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=MAX_NAME), NO_NUL
]
"""As somebody types it."""
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
    """Keeps everything, answers nobody."""
    ARCHIVED = "archived"
    """Out of sight as well."""


class Category(StrEnum):
    ASSISTANT = "assistant"
    CREATIVE = "creative"
    RESEARCH = "research"
    UTILITY = "utility"


class BotFile(StrEnum):
    """The files of a bot, by the names they have in addresses."""

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
    """What is wrong in a file, and where. Lines and columns count from 1."""

    model_config = ConfigDict(frozen=True)

    file: BotFile
    line: int | None = None
    column: int | None = None
    message: str
    hint: str | None = None
    is_warning: bool = False
    """A warning is worth knowing; the bot works all the same."""


class Identity(BaseModel):
    """The front matter of `IDENTITY.md`: how a bot looks, and what it runs on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    display_name: Name
    description: Description = ""
    category: Category = Category.ASSISTANT
    tags: Tags = []
    provider: ProviderName | None = None
    model: ModelName | None = None
    """None follows whatever is chosen for bots in Settings, Models."""
    temperature: Temperature = 0.7
    max_tokens: MaxTokens = 4096
    avatar: Avatar = "🤖"
    colour: Colour = "#e2703a"
    memory: bool = True
    """Whether facts are taken from its conversations."""

    @property
    def ref(self) -> str | None:
        """The model as the model gateway names it; None for whatever is chosen for bots."""
        return f"{self.provider}:{self.model}" if self.provider and self.model else self.model


class Soul(BaseModel):
    """`SOUL.md`: the front matter, and the text below it."""

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


def _all_for_none(named: object) -> object:
    """An empty list has never kept a skill from anything."""
    return None if named == [] else named


class SkillEntry(BaseModel):
    """One table of `skills.toml`: a skill of the library that a bot has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    skill_name: SkillName
    enabled: bool = True
    version: Annotated[str, Field(max_length=64), NO_NUL] | None = None
    """Which of its versions will do; None for any."""
    capabilities: Annotated[Narrowed, BeforeValidator(_all_for_none)] = None
    """Of what was granted to it, only these; None for all of it."""
    overrides: dict[str, str] = {}
    """`description` is what the bot reads that it is for; all others are settings the skill gets."""


class SkillView(BaseModel):
    """A skill a bot has, as its file says and as the library knows it."""

    name: str
    enabled: bool
    is_offered: bool = False
    """Whether the bot can take it up."""
    description: str = ""
    """As the bot reads it."""
    kind: SkillKind | None = None
    version: str | None = None
    """The one in the library; None when there is none."""
    pin: str | None = None
    """Which versions will do."""
    state: SkillState | None = None
    problem: str | None = None
    """Why it cannot be taken up, or what of it cannot be used."""
    tier: Tier | None = None
    capabilities: list[Capability] = []
    """Asked for, its parents' included."""
    granted: list[Capability] = []
    """Those that count now, before they are narrowed."""
    narrowed: Narrowed = None
    overrides: dict[str, str] = {}


class NewBotSkill(BaseModel):
    """Give a bot a skill."""

    model_config = ConfigDict(extra="forbid")

    skill_name: SkillName
    enabled: bool = True
    version: VersionRange | None = Field(
        default=None, description="An exact version, or a range such as ^1.2; any without it."
    )
    overrides: SkillOverrides = {}
    capabilities: Narrowed = Field(
        default=None, description="Of what was granted, only these. Empty or null: all of it."
    )


class BotSkillChange(BaseModel):
    """What is given is changed; null takes a pin or a narrowing away."""

    model_config = ConfigDict(extra="forbid")

    enabled: bool = True
    version: VersionRange | None = None
    overrides: SkillOverrides = {}
    capabilities: Narrowed = None


class Bot(BaseModel):
    """What the database knows of a bot: the files have the rest, and `identity` is what they last said."""

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
    """A bot with its state and its numbers."""

    folder: str
    """Where its files are, on the machine of the server."""
    model: str
    """`provider:model` that its next answer comes from."""
    problems: list[FileProblem] = []
    blocked: str | None = None
    """Why it cannot be talked to, in one line; None when it can."""
    soul_version: int
    sessions: int = 0
    answering: int = 0
    """Conversations in which an answer is being written now."""
    messages: int = 0
    tokens: int = 0
    spent_micros: int = 0


class NewBot(BaseModel):
    """Only a name is needed. Whole files may be given instead of the fields they hold."""

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
    soul: Words | None = Field(default=None, description="A whole SOUL.md; without it one is written.")
    user: Words | None = Field(default=None, description="A whole USER.md.")


class BotChange(BaseModel):
    """What is given is changed: in IDENTITY.md, except for the status. The slug stays."""

    model_config = ConfigDict(extra="forbid")

    name: GivenName | None = None
    description: Description | None = None
    category: Category | None = None
    tags: Tags | None = None
    provider: Annotated[str, Field(max_length=MAX_PROVIDER), NO_NUL] | None = Field(
        default=None, description="Empty: back to the default."
    )
    model: Annotated[str, Field(max_length=MAX_MODEL), NO_NUL] | None = Field(
        default=None, description="Empty: back to the default."
    )
    temperature: Temperature | None = None
    max_tokens: MaxTokens | None = None
    avatar: Avatar | None = None
    colour: Colour | None = None
    memory: bool | None = None
    status: BotStatus | None = None
    base_hash: str | None = Field(
        default=None,
        description="Hash of the IDENTITY.md this change was made from; 409 when it is another now.",
    )


class NewClone(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: GivenName | None = Field(default=None, description="Without it: the name, and (Clone).")


def _known_format(number: object) -> object:
    if isinstance(number, int) and number > BUNDLE_FORMAT:
        raise ValueError(f"was made by a newer Forge (format {number}); this one reads {BUNDLE_FORMAT}")
    return number


class Bundle(BaseModel):
    """A bot as one file: what it is, without its memory, its conversations and any secret."""

    model_config = ConfigDict(extra="forbid")

    forge_bot: Annotated[Literal[1], BeforeValidator(_known_format)]
    slug: Annotated[str, Field(max_length=MAX_SLUG)]
    exported_at: datetime
    files: dict[str, Words]
    """By file name: `SOUL.md`, `IDENTITY.md`, `USER.md`, `skills.toml`."""


class BotSort(StrEnum):
    NAME = "name"
    ACTIVITY = "activity"
    CREATED = "created"


class Stats(BaseModel):
    """Numbers over all bots of an account."""

    total_bots: int
    active_bots: int
    disabled_bots: int
    archived_bots: int
    total_sessions: int
    active_sessions: int
    """Those in which an answer is being written now."""
    total_messages: int
    total_memories: int
    tokens: int
    spent_micros: int


BotPart = Literal["bot", "soul", "identity", "user", "skills", "memory", "session", "deleted"]


class BotChanged(EventData):
    """Something about a bot is different now: load it again. In the account's stream."""

    type: ClassVar[str] = "bot.changed"
    bot_id: str
    slug: str
    part: BotPart


EVENTS: tuple[type[EventData], ...] = (BotChanged,)
