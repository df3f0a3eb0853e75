"""The reply format of the model: what the last answer says, and the next turn, which has its own fields per action.

A model whose decoding follows the schema cannot leave out the question. The union is nested, because providers
reject one at the root. Validation is lenient where a slip is harmless (a number instead of a text, a blank, an option
too many) and strict where a turn could not be shown; the problem is then reported to the model once.
"""

import re
from typing import Annotated, Any, Literal, cast, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic.config import JsonDict

from forge.interview.domain.dialogue import MIN_OPTIONS, Phase
from forge.interview.domain.text_analysis import clean_text

MAX_MODEL_OPTIONS = 5
"""One less than a question may have, to leave room for an option that Forge adds."""
MAX_NUMBER = 1e9
MAX_QUESTION = 2_000


def _text(value: object) -> object:
    """Accept numbers as text and treat blank text as None."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return clean_text(str(value)) or None


def _line(value: object) -> object:
    text = _text(value)
    return " ".join(text.split()) if isinstance(text, str) else None


def _texts(value: object) -> object:
    """Accept text separated by commas or lines as a list. None means not given; an empty list means none."""
    if isinstance(value, str):
        value = re.split(r"[,;\n]", value) if value.strip() else None
    if not isinstance(value, list | tuple):
        return None
    return [text for one in cast("list[Any]", value) if isinstance(text := _line(one), str)]


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if abs(number) < MAX_NUMBER else None


def _whole_number(value: object) -> int | None:
    number = _number(value)
    return None if number is None else round(number)


def _numbers(value: object) -> object:
    if not isinstance(value, list):
        return []
    found = [_whole_number(one) for one in cast("list[Any]", value)]
    return [number for number in found if number is not None]


def _action(value: object) -> str:
    name = value.strip().casefold() if isinstance(value, str) else ""
    return "ready" if name in ("ready_to_assemble", "ready_to_create_skill") else name


def _phase(value: object) -> object:
    name = value.strip().casefold() if isinstance(value, str) else ""
    return name if name in set(Phase) else None


def _options(value: object) -> object:
    """Accept plain strings as labels and drop options without a label."""
    if not isinstance(value, list | tuple):
        return []
    options = [{"label": one} if isinstance(one, str) else one for one in cast("list[Any]", value)]
    labeled = [one for one in options if isinstance(one, ModelOption) or _has(one, "label")]
    return labeled[: 2 * MAX_MODEL_OPTIONS]


def _has(value: object, name: str) -> bool:
    return isinstance(value, dict) and _line(cast("dict[str, Any]", value).get(name)) is not None


def _variants(value: object) -> object:
    if not isinstance(value, list):
        return None
    found = cast("list[Any]", value)
    return [one for one in found if isinstance(one, ModelVariant) or _has(one, "name")]


def _object(value: object) -> object:
    return cast("object", value) if isinstance(value, dict | BaseModel) else {}


Text = Annotated[str | None, BeforeValidator(_text)]
RequiredText = Annotated[str, BeforeValidator(lambda value: _text(value) or ""), Field(min_length=1)]
Line = Annotated[str | None, BeforeValidator(_line)]
Texts = Annotated[list[str] | None, BeforeValidator(_texts)]
Number = Annotated[float | None, BeforeValidator(_number)]
WholeNumber = Annotated[int | None, BeforeValidator(_whole_number)]

_CLOSED = ConfigDict(extra="ignore", frozen=True, json_schema_extra={"additionalProperties": False})


class ModelOption(BaseModel):
    model_config = _CLOSED

    label: Annotated[str, BeforeValidator(_line)] = Field(
        description="What the person can choose, in a few words. Never 'Other' or 'Something else'."
    )
    reason: Line = Field(
        default=None,
        description="One sentence: why one would choose it, in terms of what this person said.",
    )
    value: Text = Field(
        default=None,
        description="What the label means for `field`, if it does not say it itself: for model its reference, for skills "
        "their names separated by commas (or 'none'), for temperature a number. Never something else than the label.",
    )


class ModelVariant(BaseModel):
    model_config = _CLOSED

    name: Annotated[str, BeforeValidator(_line)] = Field(description="The name of this one bot.")
    difference: Text = Field(default=None, description="In what it differs from the others.")


class ModelPatch(BaseModel):
    """What the last answer says about the settings. Only what is new; null is left as it was."""

    model_config = _CLOSED

    name: Line = Field(
        default=None, description="Of the bot; of a skill: lower-case words joined by hyphens."
    )
    description: Line = Field(default=None, description="One or two sentences: what it is.")
    tags: Texts = Field(default=None, description="Bots: up to five, short, lower case.")
    tone: Line = Field(default=None, description="Bots: how it sounds, in one to three words.")
    traits: Texts = Field(
        default=None, description="Bots: two to six traits of character, a word or two each."
    )
    purpose: Text = Field(default=None, description="Bots: what it is for and for whom, in full sentences.")
    boundaries: Text = Field(default=None, description="Bots: what it must not do, or must always do.")
    model: Line = Field(default=None, description="Bots: the reference of one of the models offered.")
    temperature: Number = Field(default=None, description="Bots: 0 is precise, 1 is inventive.")
    max_tokens: WholeNumber = Field(default=None, description="Bots: how long its answers may be, in tokens.")
    skills: Texts = Field(default=None, description="Bots: names of all skills it is to have. Empty: none.")
    variants: Annotated[list[ModelVariant] | None, BeforeValidator(_variants)] = Field(
        default=None, description="Batches: all variants known so far."
    )
    kind: Line = Field(default=None, description="Skills: prompt, script or local.")
    trigger: Text = Field(default=None, description="Skills: when a bot should use it.")
    steps: Text = Field(default=None, description="Skills: what it does, step by step, and what comes out.")
    capabilities: Texts = Field(
        default=None, description="Skills: what it needs to be allowed. Empty: nothing."
    )


TurnPhase = Annotated[
    Phase | None, BeforeValidator(_phase), Field(description="The phase this turn belongs to.")
]
Setting = Annotated[
    Line, Field(description="The one setting of `patch` that the question is about; null if there is none.")
]


class ModelQuestion(BaseModel):
    """The usual turn: a question with options."""

    model_config = _CLOSED

    action: Literal["ask_question"]
    phase: TurnPhase = None
    field: Setting = None
    question: RequiredText = Field(description="One question, one or two sentences.")
    options: Annotated[list[ModelOption], BeforeValidator(_options)] = Field(
        description="Two to five, the best one first.",
        json_schema_extra={"minItems": MIN_OPTIONS, "maxItems": MAX_MODEL_OPTIONS},
    )
    allow_free_text: bool = Field(
        default=True, description="Whether the person may also answer in their own words."
    )


class ModelClarification(BaseModel):
    """You need words; no options would help."""

    model_config = _CLOSED

    action: Literal["clarify"]
    phase: TurnPhase = None
    field: Setting = None
    message: RequiredText = Field(description="What you need to know, and why.")


class ModelPreview(BaseModel):
    """Show what is known and ask whether to go on."""

    model_config = _CLOSED

    action: Literal["show_preview"]
    phase: TurnPhase = None


class ModelReady(BaseModel):
    """You know enough."""

    model_config = _CLOSED

    action: Literal["ready"]
    phase: TurnPhase = None


ModelTurn = ModelQuestion | ModelClarification | ModelPreview | ModelReady
_TURN_FIELDS = frozenset(name for turn in get_args(ModelTurn) for name in turn.model_fields)
_TEXT_FIELDS = {"ask_question": ("question", "message"), "clarify": ("message", "question")}
"""The field for the text of a turn, and the one that models confuse it with."""


def _turn(value: object) -> object:
    if not isinstance(value, dict):
        return value
    given = cast("dict[str, Any]", value)
    action = _action(given.get("action"))
    turn: dict[str, Any] = {"options": [], **given, "action": action}
    if action in _TEXT_FIELDS:
        name, other = _TEXT_FIELDS[action]
        if _text(turn.get(name)) is None and _text(turn.get(other)) is not None:
            turn[name] = turn[other]
    return turn


def _as_any_of(schema: JsonDict) -> None:
    """Replace `oneOf` and `discriminator`, which not every provider supports."""
    schema["anyOf"] = schema.pop("oneOf")
    schema.pop("discriminator")


class ModelReply(BaseModel):
    """Your next turn in the interview."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    patch: Annotated[ModelPatch, BeforeValidator(_object)] = Field(
        default_factory=ModelPatch,
        description="What the last answer (at the beginning: the description) says.",
    )
    purpose_category: Line = Field(
        default=None,
        description="What the whole is for: simple_utility, complex_analyst, creative, coding, research or "
        "customer_service; or two or three words of your own if none fits.",
    )
    keeps: Annotated[list[int], BeforeValidator(_numbers)] = Field(
        default=[], description="Numbers of the answers set aside that still hold; empty if none are listed."
    )
    turn: Annotated[
        ModelTurn,
        BeforeValidator(_turn),
        Field(discriminator="action", json_schema_extra=_as_any_of),
    ]

    @model_validator(mode="before")
    @classmethod
    def _nest_turn(cls, value: object) -> object:
        """Accept the fields of the turn beside the patch: models without constrained decoding flatten the object."""
        if not isinstance(value, dict) or "turn" in value:
            return cast("object", value)
        reply = cast("dict[str, Any]", value)
        turn = {name: content for name, content in reply.items() if name in _TURN_FIELDS}
        rest = {name: content for name, content in reply.items() if name not in _TURN_FIELDS}
        return {**rest, "turn": turn}
