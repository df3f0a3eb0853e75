"""The settings of a bot or a skill: partial while the interview runs, complete when it is confirmed."""

from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field

from forge.bots.models import MAX_TONE, Description, GivenName, MaxTokens, Tags, Temperature, Trait
from forge.kernel.text import NO_NUL
from forge.skills.models import MAX_DESCRIPTION, Capability, SkillKind, SkillName, SkillOffer

DEFAULT_MODEL = "default"
"""Follow the model configured for bots."""
MAX_SKILLS = 20
MAX_VARIANTS = 10
MAX_PASSAGE = 4000

Line = Annotated[str, Field(min_length=1, max_length=MAX_TONE), NO_NUL]
Passage = Annotated[str, Field(max_length=MAX_PASSAGE), NO_NUL]
ModelRef = Annotated[str, Field(min_length=1, max_length=240), NO_NUL]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


def _kind(value: object) -> object:
    """Accept `wasm`, an older name of `script`."""
    return SkillKind.SCRIPT if value == "wasm" else value


RequestedKind = Annotated[
    SkillKind, BeforeValidator(_kind), Field(description="`wasm` is accepted as another name of `script`.")
]


class SkillRequest(_Part):
    """A skill to give to a bot: one from the library, or a new one that is written on assembly."""

    name: SkillName
    description: Annotated[str, Field(max_length=MAX_DESCRIPTION), NO_NUL] = ""
    skill_type: RequestedKind = SkillKind.PROMPT

    @classmethod
    def of(cls, offer: SkillOffer) -> Self:
        return cls(name=offer.name, description=offer.description[:MAX_DESCRIPTION], skill_type=offer.kind)


class VariantFields(_Part):
    """The name of one bot of a batch, and how it differs from the others."""

    name: GivenName
    difference: Passage = ""


class Fields(_Part):
    """All settings an interview can collect. None means unknown; in a patch, None means unchanged."""

    name: GivenName | None = None
    description: Description | None = None
    category: Annotated[str, Field(max_length=40)] | None = None
    """Category of the bot: assistant, creative, research or utility."""
    tags: Tags | None = None
    tone: Line | None = None
    traits: Annotated[list[Trait], Field(max_length=30)] | None = None
    purpose: Passage | None = None
    boundaries: Passage | None = None
    model: ModelRef | None = None
    temperature: Temperature | None = None
    max_tokens: MaxTokens | None = None
    skills: Annotated[list[SkillRequest], Field(max_length=MAX_SKILLS)] | None = None
    variants: Annotated[list[VariantFields], Field(max_length=MAX_VARIANTS)] | None = None
    # Skills only:
    kind: SkillKind | None = None
    trigger: Passage | None = None
    """When a bot should use it."""
    steps: Passage | None = None
    """What it does, step by step."""
    capabilities: Annotated[list[Capability], Field(max_length=len(Capability))] | None = None

    def merged(self, patch: "Fields") -> "Fields":
        known: dict[str, Any] = {name: getattr(patch, name) for name in patch.model_fields_set}
        return self.model_copy(update={name: value for name, value in known.items() if value is not None})


NOTHING = Fields()


class PersonalityConfig(_Part):
    tone: Line
    traits: list[str]
    purpose: Passage
    boundaries: Passage | None


class ModelConfig(_Part):
    model: ModelRef
    temperature: Temperature
    max_tokens: MaxTokens


def _unique(skills: list[SkillRequest]) -> list[SkillRequest]:
    return list({request.name: request for request in skills}.values())


class BuilderConfig(BaseModel):
    """The complete configuration of a bot, or of a batch of bots."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, serialize_by_alias=True)

    name: GivenName
    description: Description
    category: Annotated[str, Field(max_length=40)]
    tags: Tags = []
    personality: PersonalityConfig
    model_settings: ModelConfig = Field(alias="model_config")
    skills: Annotated[list[SkillRequest], Field(max_length=MAX_SKILLS), AfterValidator(_unique)] = []
    variants: Annotated[list[VariantFields], Field(max_length=MAX_VARIANTS)] = []
    """Batches only: create one bot per variant instead of a single bot."""


class SkillBuildRequest(_Part):
    """The complete request for a skill."""

    name: SkillName
    description: Annotated[str, Field(min_length=1, max_length=MAX_DESCRIPTION), NO_NUL]
    skill_type: RequestedKind = SkillKind.PROMPT
    capabilities: list[Capability] | None = None
    """Default: those that were confirmed in the interview. Only confirmed capabilities are granted."""


class Preview(BaseModel):
    """What is known about the bot or skill so far."""

    model_config = ConfigDict(frozen=True)

    name: str | None
    description: str | None
    personality_summary: str | None
    model: str | None
    skills: list[str]
    phase: str
    fields: Fields
    avatar: str | None = None
    """Avatar of a new bot, once it has a name."""
    colour: str | None = None
    missing: list[str] = []
    """What is still needed before it can be created, in words."""
