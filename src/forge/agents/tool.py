"""Base class of tools, and the tool box of an agent.

Failures of a tool are results for the model, never exceptions: an invalid argument, a missing file, a refused
command. The model reads them and tries something else.
"""

import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast

from pydantic import BaseModel, ValidationError

from forge.agents.models import ToolOutcome
from forge.errors import ForgeError, Internal
from forge.kernel.validation import validation_problems
from forge.llm.messages import ToolCall
from forge.llm.models import ToolSpec
from forge.sandbox.sandboxes import Sandboxes
from forge.workspace.filesystem.files import Files


class Intent(Protocol):
    """Records what a tool is about to change, so that a repeated call after a crash can detect it."""

    async def recall(self) -> Any | None: ...

    async def declare(self, intent: Any) -> None: ...


class NoIntent:
    """Intent of tools outside a run, where nothing is repeated."""

    async def recall(self) -> Any | None:
        return None

    async def declare(self, intent: Any) -> None:
        return None


log = logging.getLogger(__name__)

I = TypeVar("I", bound=BaseModel)  # noqa: E741
MAX_PROBLEMS = 10
MAX_RESULT_BYTES = 50_000
MAX_COMPACT_RESULT_BYTES = 6_000
_OMITTED_IF_COMPACT = frozenset(
    {
        "description",
        "pattern",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "minItems",
        "maxItems",
        "default",
    }
)
MAX_ARGUMENTS = 2_000_000
"""Larger than any tool needs; parsing longer arguments would block the event loop."""


class Effect(StrEnum):
    """Side effects of a tool. Tools that only read may run in parallel."""

    READS = "reads"
    WRITES = "writes"
    RUNS = "runs"


@dataclass(frozen=True)
class ToolContext:
    """Context of a tool call. Chats have no workspace."""

    workspace: Files | None
    sandboxes: Sandboxes
    intent: Intent = field(default_factory=NoIntent)
    max_result_bytes: int = MAX_RESULT_BYTES
    """Longest part of a file or of an output that a result shows."""

    @property
    def files(self) -> Files:
        if self.workspace is None:
            raise Internal("A file tool was used without a workspace.")
        return self.workspace


class Tool(ABC, Generic[I]):
    name: ClassVar[str]
    description: ClassVar[str]
    effect: ClassVar[Effect]
    is_lasting: ClassVar[bool] = False
    """Its results are never shortened or dropped from the conversation."""
    is_test: ClassVar[bool] = False
    """Its failure means that the task is not done."""
    brief: ClassVar[str] = ""
    """Description for a model with a small context window; empty: the same."""
    input: type[I]

    @abstractmethod
    async def use(self, arguments: I, context: ToolContext) -> ToolOutcome: ...

    def spec(self) -> ToolSpec:
        schema = _plain(self.input.model_json_schema())
        return ToolSpec(name=self.name, description=self.description, parameters=schema)

    def adopt(self, call: ToolCall) -> ToolCall | None:
        """Return the call of this tool that a call of an unknown name means, or None."""
        return None


class ToolBox:
    """The tools of one agent in a fixed order: a changed list would invalidate the prompt cache.

    `compact`: describe them as briefly as possible, for a small context window.
    """

    def __init__(self, tools: Iterable[Tool[Any]], *, compact: bool = False) -> None:
        self._tools = {tool.name: tool for tool in sorted(tools, key=lambda tool: tool.name)}
        self._is_compact = compact
        self._specs = [_compact(tool) if compact else tool.spec() for tool in self._tools.values()]

    def with_more(self, tools: Iterable[Tool[Any]]) -> "ToolBox":
        """Add tools; one with the name of another replaces it."""
        return ToolBox([*self._tools.values(), *tools], compact=self._is_compact)

    @property
    def names(self) -> list[str]:
        return list(self._tools)

    def specs(self) -> list[ToolSpec]:
        return self._specs

    def resolve(self, call: ToolCall) -> ToolCall | None:
        """Return the call of one of these tools that is meant: itself, or what a tool makes of it. None for others."""
        if call.name in self._tools:
            return call
        return next((found for tool in self._tools.values() if (found := tool.adopt(call))), None)

    def only_reads(self, name: str) -> bool:
        tool = self._tools.get(name)
        return tool is None or tool.effect is Effect.READS

    @property
    def max_result_bytes(self) -> int:
        return MAX_COMPACT_RESULT_BYTES if self._is_compact else MAX_RESULT_BYTES

    def is_test(self, name: str) -> bool:
        return name in self._tools and self._tools[name].is_test

    def is_lasting(self, name: str) -> bool:
        return name in self._tools and self._tools[name].is_lasting

    async def use(self, call: ToolCall, context: ToolContext) -> ToolOutcome:
        tool = self._tools.get(call.name)
        if tool is None:
            return failure(
                f"There is no tool {call.name[:100]!r}. Available tools: {', '.join(self._tools)}."
            )
        if len(call.arguments) > MAX_ARGUMENTS:
            return failure(f"The arguments are too long: {len(call.arguments):,} characters.")
        try:
            arguments = tool.input.model_validate(parse_arguments(call))
        except ValueError as error:
            return failure(_describe_problems(error))
        try:
            return await tool.use(arguments, context)
        except ForgeError as error:
            return failure(f"{error.message} {error.hint}" if error.hint else error.message)
        except Exception as error:
            log.exception("tool %s failed", call.name)
            return failure(
                f"The tool failed with an internal error ({type(error).__name__}), which your call did not cause."
            )


def _plain(schema: Any) -> Any:
    """Remove what costs tokens and says nothing: titles, and null as the value of an argument that can be left out."""
    if isinstance(schema, list):
        return [_plain(one) for one in cast("list[Any]", schema)]
    if not isinstance(schema, dict):
        return schema
    fields = {
        name: _plain(value)
        for name, value in cast("dict[str, Any]", schema).items()
        if not (name == "title" and isinstance(value, str))
    }
    if "default" in fields and fields["default"] is None and {"type": "null"} in fields.get("anyOf", []):
        [only] = [one for one in fields.pop("anyOf") if one != {"type": "null"}]
        del fields["default"]
        return {**only, **fields}
    return fields


def _compact(tool: Tool[Any]) -> ToolSpec:
    """Describe a tool with its brief description, and arguments by name and type only."""
    spec = tool.spec()
    parameters = _without(spec.parameters, _OMITTED_IF_COMPACT)
    return spec.model_copy(update={"description": tool.brief or spec.description, "parameters": parameters})


def _without(schema: Any, names: frozenset[str]) -> Any:
    """Remove keywords of a schema, but no properties of these names."""
    if not isinstance(schema, dict):
        return schema
    kept: dict[str, Any] = {}
    for name, value in cast("dict[str, Any]", schema).items():
        if name in ("properties", "$defs"):
            kept[name] = {key: _without(inner, names) for key, inner in value.items()}
        elif name not in names:
            kept[name] = _without(value, names)
    return kept


def failure(text: str) -> ToolOutcome:
    return ToolOutcome(text=f"Error: {text}", is_error=True, summary=text.partition("\n")[0][:200])


def arguments_of(call: ToolCall) -> dict[str, Any] | None:
    """Return the arguments of a call, or None if they cannot be parsed."""
    try:
        found = parse_arguments(call)
    except ValueError:
        return None
    return cast("dict[str, Any]", found) if isinstance(found, dict) else None


def parse_arguments(call: ToolCall) -> object:
    """Parse arguments. Raise ValueError, also for valid JSON with unpaired surrogates, infinite numbers or deep nesting."""
    try:
        found = json.loads(call.arguments or "{}")
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except RecursionError as error:
        raise ValueError("too deeply nested") from error
    return found


def _describe_problems(error: ValueError) -> str:
    if not isinstance(error, ValidationError):
        return f"The arguments are not JSON: {error}. Call the tool again with valid JSON."
    found = validation_problems(error)[:MAX_PROBLEMS]
    lines = [f"{problem.where or 'arguments'}: {problem.message}" for problem in found]
    return "Invalid arguments: " + "; ".join(lines)
