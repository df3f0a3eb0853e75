"""An interview as it is saved after every turn: nothing else is needed to go on, or to make the same thing again."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from forge.interview.answers import Answer
from forge.interview.categories import Purpose
from forge.interview.config import NOTHING, BuilderConfig, Fields
from forge.interview.phases import Mode, Phase
from forge.interview.turns import AskQuestion, Clarify, Turn
from forge.skills.models import SkillFiles, SkillOffer, TrialReport

SCHEMA_VERSION = 2
"""1 is the form of the documents this was built from; it is still read."""


class Speaker(StrEnum):
    MODEL = "model"
    GUIDE = "guide"
    """Forge's own questions: they need no model."""


class Due(StrEnum):
    """What Forge is about to do by itself; an answer has to wait until it is done."""

    ASK = "ask"
    """The model is asked for its next turn."""
    WRITE = "write"
    """The soul, or the files of a skill, are written (and a skill is tried)."""


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Asked(Frozen):
    """A turn, with what Forge knows about it and a client need not."""

    turn: Turn
    topic: str
    """Which question it is, whatever its words: `name`, `tone`, `capability:http_get`, `model:3`."""
    speaker: Speaker
    patches: list[Fields] = []
    """What each option means, in their order."""
    free: str | None = None
    """The field that an answer in words goes into."""
    plain: str | None = None
    """The question as it was first put; None while it is."""
    extras: dict[int, Literal["skip", "same", "setup"]] = {}
    """Options that Forge added itself, by index: skip the rest, the same as last time, set up a model."""


class Exchange(Frozen):
    """A turn that was answered."""

    number: int
    asked: Asked
    answer: Answer
    label: str
    """The answer in words: the label of the option, not its number."""
    patch: Fields = NOTHING
    """All that was learned from it."""
    purpose: Purpose | None = None
    """What the model took the whole for, from here on."""
    model: str | None = None
    """`provider:model` that understood it; None when nobody had to be asked."""
    cost_micros: int = 0
    answered_at: datetime


class Remembered(Frozen):
    """A bot that was made before, for the same kind of purpose."""

    initial_description: str
    chosen_tone: str | None = None
    chosen_model: str | None = None
    chosen_skills: list[str] = []
    bot_slug: str | None = None


class ModelOffer(Frozen):
    """A model that a bot could run on."""

    ref: str
    label: str
    reason: str
    has_key: bool


class Facts(Frozen):
    """What was so when the interview began: kept, so that it can be replayed."""

    skills: list[SkillOffer] = []
    """The most suitable first."""
    models: list[ModelOffer] = []
    remembered: list[Remembered] = []
    bot_names: list[str] = []
    """That are taken."""
    skill_names: list[str] = []
    """That are taken."""


class Basis(Frozen):
    """What an interview began with besides the description."""

    fields: Fields = NOTHING
    soul: str | None = None
    """A SOUL.md that was given: used as it is."""
    bot_id: str | None = None
    """Of the bot that is changed."""
    bot_slug: str | None = None
    """Its slug: once it is deleted for good, another bot may get it."""
    old_soul: str | None = None
    """Its SOUL.md, as it was when the interview began."""
    skill_name: str | None = None
    """Of the skill that is changed."""
    skill_files: SkillFiles | None = None
    variants: int = 0


class Written(Frozen):
    """What the model or a template wrote, and for what: other settings need another text."""

    of: str
    """Hash of the settings it was written for."""
    by: Speaker
    soul: str | None = None
    """The body of SOUL.md."""
    skill: SkillFiles | None = None
    trial: TrialReport | None = None
    cost_micros: int = 0


class BotMade(Frozen):
    bot_id: str
    bot_slug: str
    bot_name: str
    soul_path: str
    identity_path: str
    user_path: str
    skills_attached: list[str]
    is_new: bool = True


class SkillMade(Frozen):
    name: str
    description: str
    skill_md_content: str
    has_source_code: bool
    suggested_capabilities: list[str]
    folder: str


class Made(Frozen):
    """What came of it."""

    bots: list[BotMade] = []
    skill: SkillMade | None = None
    hashes: dict[str, str] = {}
    """Of each file that was written, by `<slug>/<file>`."""
    before: dict[str, str] = {}
    """Of a bot that was changed: those files as they were, so that the change can be made again."""
    config: Annotated[str, Field(description="JSON of what was confirmed.")] = ""
    at: datetime


class State(Frozen):
    session_id: str
    schema_version: int = SCHEMA_VERSION
    mode: Mode
    description: str
    found_purpose: Purpose
    """What the description says it is for."""
    speaker: Speaker
    why_guide: str | None = None
    """Why no model speaks, in words for a person."""
    model: str | None = None
    """`provider:model` that could speak, when somebody last looked; None when there is none."""
    basis: Basis = Basis()
    facts: Facts = Facts()
    opening: Fields = NOTHING
    """What the description alone says."""
    opening_model: str | None = None
    opening_cost_micros: int = 0
    exchanges: list[Exchange] = []
    set_aside: list[Exchange] = []
    """Answers behind the one somebody went back to; taken up again where they still fit."""
    left_at: Asked | None = None
    """Where somebody was before going back."""
    asked: Asked | None = None
    """The turn that waits for an answer; None before the first."""
    due: Due | None = None
    written: Written | None = None
    edited: BuilderConfig | None = None
    """Settings that somebody changed in the review; their soul has to be written anew."""
    made: Made | None = None

    @property
    def config(self) -> Fields:
        """All that is known: what it began with, and every patch since."""
        known = self.basis.fields.merged(self.opening)
        for exchange in self.exchanges:
            known = known.merged(exchange.patch)
        return known

    @property
    def phase(self) -> Phase:
        return self.asked.turn.phase if self.asked else Phase.BASICS

    @property
    def purpose(self) -> Purpose:
        """As last judged."""
        judged = [exchange.purpose for exchange in self.exchanges if exchange.purpose is not None]
        return judged[-1] if judged else self.found_purpose

    @property
    def question_count(self) -> int:
        """Questions that were answered; a preview is none."""
        return sum(isinstance(exchange.asked.turn, AskQuestion | Clarify) for exchange in self.exchanges)

    @property
    def cost_micros(self) -> int:
        spent = sum(exchange.cost_micros for exchange in self.exchanges)
        return spent + self.opening_cost_micros + (self.written.cost_micros if self.written else 0)

    def but(self, **changes: Any) -> "State":
        """The same, with these changes."""
        return self.model_copy(update=changes)
