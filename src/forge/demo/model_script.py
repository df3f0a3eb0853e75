"""The script format: scenes with ordered turns, each a reply with optional faults; and its YAML loader."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    model_validator,
)

from forge.demo.script_templates import check_templates, used_groups
from forge.errors import ConfigError
from forge.kernel.validation import ValidationProblem, validation_problems

Templated = Annotated[str, AfterValidator(check_templates)]
TemplatedJson = Annotated[Any, AfterValidator(check_templates)]


class StopReason(StrEnum):
    """Stop reasons of the Anthropic API; the OpenAI dialect translates them."""

    END_TURN = "end_turn"
    TOOL_USE = "tool_use"
    MAX_TOKENS = "max_tokens"
    STOP_SEQUENCE = "stop_sequence"
    REFUSAL = "refusal"
    PAUSE_TURN = "pause_turn"
    CONTEXT_WINDOW = "model_context_window_exceeded"


class FaultKind(StrEnum):
    """Faults by their names in a script."""

    BAD_REQUEST = "400"
    UNAUTHORIZED = "401"
    RATE_LIMIT = "429"
    SERVER_ERROR = "500"
    BAD_GATEWAY = "502"
    OVERLOADED = "529"
    LOADING = "loading"
    PROMPT_TOO_LONG = "prompt_too_long"
    STALL = "stall"
    CUT = "cut"
    CLEAN_CUT = "clean_cut"
    NO_FINISH_REASON = "no_finish_reason"
    ERROR_EVENT = "error_event"
    DUPLICATE_START = "duplicate_start"
    SPLICED = "spliced"
    MALFORMED_JSON = "malformed_json"
    WRONG_TYPES = "wrong_types"
    UNKNOWN_TOOL = "unknown_tool"
    DUPLICATE_IDS = "duplicate_ids"
    EMPTY = "empty"
    REPETITION = "repetition"
    MAX_TOKENS = "max_tokens"
    REFUSAL = "refusal"
    PAUSE_TURN = "pause_turn"
    CONTEXT_WINDOW = "model_context_window_exceeded"


class LocalServer(StrEnum):
    """Servers for local models whose own endpoints and errors can be imitated."""

    LLAMA_CPP = "llama_cpp"
    OLLAMA = "ollama"
    VLLM = "vllm"
    LM_STUDIO = "lm_studio"


class AfterLast(StrEnum):
    """What a scene answers after its last turn."""

    REPEAT = "repeat"
    RESTART = "restart"
    STOP = "stop"


NEEDS_TOOLS = {
    FaultKind.MALFORMED_JSON: 1,
    FaultKind.WRONG_TYPES: 1,
    FaultKind.UNKNOWN_TOOL: 1,
    FaultKind.DUPLICATE_IDS: 2,
}


class _ScriptModel(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Fault(_ScriptModel):
    kind: FaultKind
    times: int | None = Field(None, ge=1)
    """Number of times per conversation before the turn succeeds. Default: always."""
    after: int | None = Field(None, ge=0)
    """For faults in a stream: number of content pieces before it."""
    seconds: float = Field(30, gt=0, le=3600)
    retry_after_s: float | None = Field(None, ge=0)
    message: str | None = None
    text: Templated = "One moment."
    """The text before a `pause_turn`."""
    repeats: int = Field(500, ge=2, le=100_000)
    """How often a `repetition` repeats the turn's text, or the arguments of its last tool call."""

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        if isinstance(value, str | int):
            return {"kind": str(value)}
        if isinstance(value, dict):
            fields = cast("dict[str, Any]", value)
            return {**fields, "kind": str(fields["kind"])} if "kind" in fields else fields
        return value


class ToolCall(_ScriptModel):
    tool: str = Field(min_length=1)
    input: TemplatedJson = Field(default_factory=dict[str, Any])
    id: str | None = None

    @model_validator(mode="before")
    @classmethod
    def _short_form(cls, value: object) -> object:
        if isinstance(value, dict) and "tool" not in value:
            calls = cast("dict[str, Any]", value)
            if len(calls) != 1:
                raise ValueError("a tool call is `name: {input}`, or has the fields tool, input and id")
            [(name, arguments)] = calls.items()
            return {"tool": name, "input": {} if arguments is None else arguments}
        return cast("object", value)

    @model_validator(mode="after")
    def _input_is_an_object(self) -> "ToolCall":
        if not isinstance(self.input, dict):
            raise ValueError(f"the input of {self.tool} must be a mapping")
        return self


def _as_list(value: object) -> object:
    return cast("object", value) if isinstance(value, list) or value is None else [value]


class Turn(_ScriptModel):
    """One reply of the model: thinking, text, tool calls."""

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


class Match(_ScriptModel):
    """Conditions, which must all hold. Patterns can match anywhere in the text."""

    model: str | None = None
    """The model's name; `*` matches anything."""
    text: re.Pattern[str] | None = None
    """Searched in the system prompt, the first and the latest user message."""
    system: re.Pattern[str] | None = None
    opening: re.Pattern[str] | None = None
    latest: re.Pattern[str] | None = None

    def patterns(self) -> list[re.Pattern[str]]:
        return [found for found in (self.text, self.system, self.opening, self.latest) if found is not None]


class Scene(_ScriptModel):
    match: Match = Match()
    turns: tuple[Turn, ...]
    after: AfterLast = AfterLast.REPEAT
    position: re.Pattern[str] | None = None
    """A pattern with one group, a number: the last one found in the messages is the number of the next turn. Needed for
    compacted conversations, where counting replies fails.
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


class Script(_ScriptModel):
    keys: tuple[str, ...] = ()
    """The valid API keys. Default: any key, or none."""
    models: tuple[str, ...] = ()
    """The available models. Default: any."""
    server: LocalServer | None = None
    """Imitate the endpoints and errors of this server, in addition to OpenAI's API."""
    context_window: int | None = Field(None, ge=1)
    """Reject longer prompts. Default: accept any."""
    delay_s: float = Field(0, ge=0, le=60)
    """Delay between two pieces of a stream."""
    piece_chars: int = Field(16, ge=1)
    """Characters per piece of a stream."""
    scenes: dict[str, Scene] = Field(default_factory=dict[str, Scene])


HINT = "The format is described in docs/guides/scripted-models.md."


def find_script(name: str) -> Path:
    """Find a file of this name, else a bundled script."""
    bundled = {path.stem: path for path in sorted((Path(__file__).parent / "scripts").glob("*.yaml"))}
    if Path(name).is_file():
        return Path(name)
    if name not in bundled:
        hint = f"Bundled scripts: {', '.join(bundled)}."
        raise ConfigError([f"{name}: script not found"], hint=hint)
    return bundled[name]


def load_script(path: Path) -> Script:
    try:
        text = path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError([f"{path}: cannot read it: {error}"]) from error
    return parse_script(text, str(path))


def parse_script(text: str, source: str) -> Script:
    try:
        tree = yaml.SafeLoader(text).get_single_node()
        value: Any = {} if tree is None else yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ConfigError([f"{source}:{line}: invalid YAML: {error.problem or error}"], hint=HINT) from error
    except yaml.YAMLError as error:
        raise ConfigError([f"{source}: invalid YAML: {error}"], hint=HINT) from error
    duplicates = [f"{source}:{line}: duplicate key {key}" for line, key in _repeated(tree)]
    try:
        script = script_from(value, source, tree)
    except ConfigError as error:
        raise ConfigError([*duplicates, *error.problems], hint=HINT) from error
    if duplicates:
        raise ConfigError(duplicates, hint=HINT)
    return script


def script_from(value: Any, source: str, tree: yaml.Node | None = None) -> Script:
    """Validate a parsed script."""
    try:
        return Script.model_validate(value)
    except ValidationError as error:
        problems = [_problem(source, tree, problem) for problem in validation_problems(error)]
        raise ConfigError(problems, hint=HINT) from error


def _problem(source: str, tree: yaml.Node | None, problem: ValidationProblem) -> str:
    location = f"{source}:{_line(tree, problem.path)}" if tree is not None else source
    message = "unknown field" if problem.kind == "extra_forbidden" else problem.message
    field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in problem.path).lstrip(".")
    return f"{location}: {field}: {message}" if field else f"{location}: {message}"


def _line(node: yaml.Node, loc: Sequence[str | int]) -> int:
    """Return the line of a field, or of its innermost existing parent."""
    line = node.start_mark.line
    for part in loc:
        below = _below(node, part)
        if below is not None:
            key, node = below
            line = key.start_mark.line
    return line + 1


def _below(node: yaml.Node, part: str | int) -> tuple[yaml.Node, yaml.Node] | None:
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        return node.value[part], node.value[part]
    if isinstance(node, yaml.MappingNode):
        return next(((key, value) for key, value in node.value if key.value == str(part)), None)
    return None


def _repeated(node: yaml.Node | None) -> Iterator[tuple[int, str]]:
    """Find duplicate keys, of which YAML would silently use the last."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if key.value in seen:
                yield key.start_mark.line + 1, str(key.value)
            seen.add(str(key.value))
            yield from _repeated(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _repeated(item)
