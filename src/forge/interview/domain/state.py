"""The state of an interview as saved after every turn: enough to continue it or to recreate its files."""

import json
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from forge.interview.domain.build_config import NOTHING, BuilderConfig, Fields, SkillBuildRequest
from forge.interview.domain.categories import Purpose, QuestionBudget, defaults_for
from forge.interview.domain.dialogue import (
    Answer,
    AskQuestion,
    Clarify,
    Mode,
    Phase,
    Turn,
)
from forge.skills.models import SkillFiles, SkillOffer, TrialReport

SCHEMA_VERSION = 2
"""Format 1 is still read; see `read_state`."""


class InterviewSpeaker(StrEnum):
    MODEL = "model"
    GUIDE = "guide"
    """Forge's own questions, which need no model."""


class Due(StrEnum):
    """What Forge is working on; answers are rejected until it is done."""

    ASK = "ask"
    """Ask the model for its next turn."""
    WRITE = "write"
    """Write the soul, or write and try the skill."""


class FrozenModel(BaseModel):
    model_config = ConfigDict(frozen=True)


class Asked(FrozenModel):
    """A turn with the internal details that clients do not see."""

    turn: Turn
    topic: str
    """Identifies the question independently of its wording: `name`, `tone`, `capability:http_get`,
    `model:3`."""
    speaker: InterviewSpeaker
    patches: list[Fields] = []
    """The patch of each option, in order."""
    free: str | None = None
    """The field that a free-text answer sets."""
    plain: str | None = None
    """The original question, if the current one is prefixed with an error."""
    extras: dict[int, Literal["skip", "same", "setup"]] = {}
    """Options added by Forge, by index: skip the rest, same as last time, set up a model."""


class Exchange(FrozenModel):
    """A turn and its answer."""

    number: int
    asked: Asked
    answer: Answer
    label: str
    """The answer in words, such as the label of the option."""
    patch: Fields = NOTHING
    """The settings that the answer implies."""
    purpose: Purpose | None = None
    """The purpose from this answer on, if it changed."""
    model: str | None = None
    """The model that interpreted the answer, as `provider:model`; None if none was needed."""
    cost_micros: int = 0
    answered_at: datetime


class AnsweredTurn(FrozenModel):
    """The last turn that was answered, to recognize a repeated request."""

    revision: int
    answer: Answer


class Remembered(FrozenModel):
    """The choices for an earlier bot of the same purpose."""

    initial_description: str
    chosen_tone: str | None = None
    chosen_model: str | None = None
    chosen_skills: list[str] = []
    bot_slug: str | None = None


class ModelOffer(FrozenModel):
    """A model that a bot can use."""

    ref: str
    label: str
    reason: str
    has_key: bool
    problem: str = ""
    """Why it cannot be used yet."""

    @property
    def full_reason(self) -> str:
        return f"{self.reason} It cannot be used yet: {self.problem}" if self.problem else self.reason


class Facts(FrozenModel):
    """A snapshot of what was available when the interview started, so that it can be replayed."""

    skills: list[SkillOffer] = []
    """The most suitable first."""
    models: list[ModelOffer] = []
    remembered: list[Remembered] = []
    bot_names: list[str] = []
    """Names already in use."""
    skill_names: list[str] = []
    """Names already in use."""


class Basis(FrozenModel):
    """What an interview starts from besides the description."""

    fields: Fields = NOTHING
    soul: str | None = None
    """A SOUL.md supplied by the person, used unchanged."""
    bot_id: str | None = None
    """The bot being reconfigured."""
    bot_slug: str | None = None
    """Its slug. Not an identity: another bot may get it after the bot was deleted."""
    old_soul: str | None = None
    """Its SOUL.md when the interview started."""
    skill_name: str | None = None
    """The skill being changed."""
    skill_files: SkillFiles | None = None
    variants: int = 0


class Written(FrozenModel):
    """A text written by the model or from a template, and the settings it was written for."""

    of: str
    """Hash of those settings; other settings need another text."""
    by: InterviewSpeaker
    soul: str | None = None
    """The body of SOUL.md."""
    skill: SkillFiles | None = None
    trial: TrialReport | None = None
    cost_micros: int = 0


class BotMade(FrozenModel):
    bot_id: str
    bot_slug: str
    bot_name: str
    soul_path: str
    identity_path: str
    user_path: str
    skills_attached: list[str]
    is_new: bool = True


class SkillMade(FrozenModel):
    name: str
    description: str
    skill_md_content: str
    has_source_code: bool
    suggested_capabilities: list[str]
    folder: str


def _from_json(value: object) -> object:
    """Read a config that an earlier version saved as JSON text."""
    return json.loads(value or "{}") if isinstance(value, str) else value


class Made(FrozenModel):
    """What an interview created."""

    bots: list[BotMade] = []
    skill: SkillMade | None = None
    hashes: dict[str, str] = {}
    """The hash of each written file, by `<slug>/<file>`."""
    before: dict[str, str] = {}
    """Reconfigured bots only: the previous content of the changed files, so that the change can be
    replayed."""
    config: Annotated[
        dict[str, Any],
        BeforeValidator(_from_json),
        Field(description="The confirmed config of the bots, or the confirmed request for the skill."),
    ] = {}
    at: datetime


class State(FrozenModel):
    session_id: str
    schema_version: int = SCHEMA_VERSION
    mode: Mode
    description: str
    found_purpose: Purpose
    """The purpose derived from the description."""
    speaker: InterviewSpeaker
    why_guide: str | None = None
    """Why the guide asks instead of a model."""
    model: str | None = None
    """The available model as `provider:model`, when last checked."""
    basis: Basis = Basis()
    facts: Facts = Facts()
    opening: Fields = NOTHING
    """The settings derived from the description alone."""
    opening_model: str | None = None
    opening_cost_micros: int = 0
    exchanges: list[Exchange] = []
    set_aside: list[Exchange] = []
    """Later answers after going back, newest questions last; reused where they still fit."""
    left_at: Asked | None = None
    """The turn that was current before going back."""
    asked: Asked | None = None
    """The current turn; None before the first one."""
    due: Due | None = None
    written: Written | None = None
    edited: BuilderConfig | None = None
    """Settings edited in the review, whose soul has to be rewritten."""
    requested: SkillBuildRequest | None = None
    """A complete request for a skill that ended the interview early, and has to be written."""
    answered: AnsweredTurn | None = None
    made: Made | None = None

    @property
    def config(self) -> Fields:
        """Merge what the interview started from with the patches of all answers."""
        known = self.basis.fields.merged(self.opening)
        for exchange in self.exchanges:
            known = known.merged(exchange.patch)
        return known

    @property
    def phase(self) -> Phase:
        return self.asked.turn.phase if self.asked else Phase.BASICS

    @property
    def purpose(self) -> Purpose:
        """Return the most recently determined purpose."""
        judged = [exchange.purpose for exchange in self.exchanges if exchange.purpose is not None]
        return judged[-1] if judged else self.found_purpose

    @property
    def question_count(self) -> int:
        """Count the answered questions; previews do not count."""
        return sum(isinstance(exchange.asked.turn, AskQuestion | Clarify) for exchange in self.exchanges)

    @property
    def cost_micros(self) -> int:
        spent = sum(exchange.cost_micros for exchange in self.exchanges)
        return spent + self.opening_cost_micros + (self.written.cost_micros if self.written else 0)

    def replace(self, **changes: Any) -> "State":
        """Return a copy with these changes."""
        return self.model_copy(update=changes)


def answered_phases(state: State) -> list[Phase]:
    """Return the phases with answered questions."""
    gone = {exchange.asked.turn.phase for exchange in state.exchanges}
    return [phase for phase in Phase if phase in gone]


SKILL_BUDGET = QuestionBudget(3, 8)
CHANGE_BUDGET = QuestionBudget(1, 30)
"""Reconfiguring ends when the person says so; the maximum is only a safeguard."""


def question_budget(state: State) -> QuestionBudget:
    """Return the question budget; a batch gets one more question per variant."""
    match state.mode:
        case Mode.SKILL:
            return SKILL_BUDGET
        case Mode.RECONFIGURE:
            return CHANGE_BUDGET
        case Mode.BOT | Mode.BATCH:
            usual = defaults_for(state.purpose).budget
            return QuestionBudget(usual.minimum + state.basis.variants, usual.maximum + state.basis.variants)
