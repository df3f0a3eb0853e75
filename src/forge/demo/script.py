"""What a script says: scenes, each an ordered list of turns, each a reply and perhaps faults before it."""

import re
from enum import StrEnum
from typing import Annotated, Any, cast

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from forge.demo.templates import check_templates, used_groups

Templated = Annotated[str, AfterValidator(check_templates)]
TemplatedJson = Annotated[Any, AfterValidator(check_templates)]


class StopReason(StrEnum):
    """Why a reply ends, in the words of the Anthropic API; the OpenAI dialect translates them."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    REFUSAL = "refusal"
    PAUSE_TURN = "pause_turn"
    CONTEXT_WINDOW = "model_context_window_exceeded"


class FaultKind(StrEnum):
    """What can go wrong on demand; the value is what a script writes."""

    BAD_REQUEST = "400"
    UNAUTHORIZED = "401"
    RATE_LIMIT = "429"
    SERVER_ERROR = "500"
    BAD_GATEWAY = "502"
    OVERLOADED = "529"
    PROMPT_TOO_LONG = "prompt_too_long"
    STALL = "stall"
    CUT = "cut"
    CLEAN_CUT = "clean_cut"
    ERROR_EVENT = "error_event"
    DUPLICATE_START = "duplicate_start"
    SPLICED = "spliced"
    MALFORMED_JSON = "malformed_json"
    WRONG_TYPES = "wrong_types"
    UNKNOWN_TOOL = "unknown_tool"
    DUPLICATE_IDS = "duplicate_ids"
    EMPTY = "empty"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    PAUSE_TURN = "pause_turn"
    CONTEXT_WINDOW = "model_context_window_exceeded"


class AfterLast(StrEnum):
    """What a scene answers when its turns are used up."""

    REPEAT = "repeat"
    RESTART = "restart"
    STOP = "stop"


NEEDS_TOOLS = {
    FaultKind.MALFORMED_JSON: 1,
    FaultKind.WRONG_TYPES: 1,
    FaultKind.UNKNOWN_TOOL: 1,
    FaultKind.DUPLICATE_IDS: 2,
}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fault(_Part):
    kind: FaultKind
    times: int | None = Field(None, ge=1)
    """How often, in one conversation; then the turn succeeds. Always when left out."""
    after: int | None = Field(None, ge=0)
    """For faults inside a stream: how many pieces of content come before it."""
    seconds: float = Field(30, gt=0, le=3600)
    retry_after_s: float | None = Field(None, ge=0)
    message: str | None = None
    text: Templated = "One moment."
    """What is said before a `pause_turn`."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, given: object) -> object:
        if isinstance(given, str | int):
            return {"kind": str(given)}
        if isinstance(given, dict):
            fields = cast("dict[str, Any]", given)
            return {**fields, "kind": str(fields["kind"])} if "kind" in fields else fields
        return given


class ToolCall(_Part):
    tool: str = Field(min_length=1)
    input: TemplatedJson = Field(default_factory=dict[str, Any])
    id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, given: object) -> object:
        if isinstance(given, dict) and "tool" not in given:
            calls = cast("dict[str, Any]", given)
            if len(calls) != 1:
                raise ValueError("a tool call is `name: {input}`, or has the fields tool, input and id")
            [(name, arguments)] = calls.items()
            return {"tool": name, "input": {} if arguments is None else arguments}
        return cast("object", given)

    @model_validator(mode="after")
    def _input_is_an_object(self) -> "ToolCall":
        if not isinstance(self.input, dict):
            raise ValueError(f"the input of {self.tool} must be a mapping")
        return self


def _as_list(given: object) -> object:
    return cast("object", given) if isinstance(given, list) or given is None else [given]


class Turn(_Part):
    """One reply of the model: thinking, then text, then tool calls."""

    thinking: Templated | None = None
    redacted_thinking: str | None = None
    text: Templated | None = None
    json_text: TemplatedJson = Field(None, alias="json")
    tools: tuple[ToolCall, ...] = ()
    stop: StopReason | None = None
    delay_s: float | None = Field(None, ge=0, le=60)
    faults: Annotated[tuple[Fault, ...], BeforeValidator(_as_list)] = Field((), alias="fault")
    repeat: int = Field(1, ge=1, le=10_000)

    @model_validator(mode="after")
    def _fits_together(self) -> "Turn":
        if self.text is not None and self.json_text is not None:
            raise ValueError("a turn has `text` or `json`, not both")
        for fault in self.faults:
            if len(self.tools) < (needed := NEEDS_TOOLS.get(fault.kind, 0)):
                calls = "a tool call" if needed == 1 else f"{needed} tool calls"
                raise ValueError(f"the fault {fault.kind} needs {calls} in its turn")
        return self


class Match(_Part):
    """All that is given must hold. Patterns are searched, not matched from the start."""

    model: str | None = None
    """The model's name; `*` stands for anything."""
    text: re.Pattern[str] | None = None
    """In the system prompt, the first or the latest user message."""
    system: re.Pattern[str] | None = None
    opening: re.Pattern[str] | None = None
    latest: re.Pattern[str] | None = None

    def patterns(self) -> list[re.Pattern[str]]:
        return [found for found in (self.text, self.system, self.opening, self.latest) if found is not None]


class Scene(_Part):
    match: Match = Match()
    turns: tuple[Turn, ...]
    after: AfterLast = AfterLast.REPEAT
    position: re.Pattern[str] | None = None
    """A pattern with one group, a number: the last one found in the messages is the next turn's. Finds the way in
    conversations that were shortened, where counting replies does not.
    """

    @model_validator(mode="after")
    def _fits_together(self) -> "Scene":
        if not self.turns:
            raise ValueError("a scene has at least one turn")
        known: set[str] = {"0"}
        for pattern in self.match.patterns():
            known |= set(pattern.groupindex) | {str(number + 1) for number in range(pattern.groups)}
        if unknown := sorted(used_groups([turn.model_dump() for turn in self.turns]) - known):
            raise ValueError(f"no pattern of `match` has the group {', '.join(unknown)}")
        if self.position is not None and self.position.groups != 1:
            raise ValueError("`position` must have exactly one group: the number of the next turn")
        return self

    def all_turns(self) -> list[Turn]:
        return [turn for turn in self.turns for _ in range(turn.repeat)]


class Script(_Part):
    keys: tuple[str, ...] = ()
    """The API keys that are right. Any key, and none, when left out."""
    models: tuple[str, ...] = ()
    """The models there are; others are not found. Any when left out."""
    delay_s: float = Field(0, ge=0, le=60)
    """Between two pieces of a stream."""
    piece_chars: int = Field(16, ge=1)
    """How much text one piece of a stream has."""
    scenes: dict[str, Scene] = Field(default_factory=dict[str, Scene])
