"""Requests and replies, independent of the API."""

import json
import math
from dataclasses import dataclass
from typing import Any

from forge.demo.model_script import StopReason
from forge.kernel.hashing import hash_text

JsonObject = dict[str, Any]


@dataclass(frozen=True)
class ToolResult:
    tool: str
    text: str


@dataclass(frozen=True)
class OfferedTool:
    name: str
    schema: JsonObject


@dataclass(frozen=True)
class AnswerForm:
    """The schema a request demands for its answer: as a forced tool call, or as JSON text."""

    schema: JsonObject
    tool: str | None = None


@dataclass(frozen=True)
class Conversation:
    model: str
    system: str
    user_texts: tuple[str, ...]
    replies: int
    """Number of the model's replies; consecutive messages count as one."""
    is_continued: bool
    """Whether it ends with a reply of the model that is to be continued."""
    transcript: str
    results: tuple[ToolResult, ...] = ()
    tools: tuple[OfferedTool, ...] = ()
    demand: AnswerForm | None = None
    wants_stream: bool = False
    wants_usage: bool = True
    """OpenAI only: whether the stream includes the usage."""

    @property
    def opening(self) -> str:
        return self.user_texts[0] if self.user_texts else ""

    @property
    def latest(self) -> str:
        return self.user_texts[-1] if self.user_texts else ""

    def result_of(self, tool: str | None) -> str:
        """Return the latest result of a tool, or of any tool."""
        return next((result.text for result in reversed(self.results) if tool in (None, result.tool)), "")


def count_replies(roles: list[str]) -> int:
    """Count replies; consecutive assistant messages are one: a paused reply and its continuation."""
    return sum(role == "assistant" != before for before, role in zip(["", *roles], roles, strict=False))


def estimate_tokens(value: Any) -> int:
    """Estimate tokens as a quarter of the bytes: precise enough for budgets, and deterministic."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return max(1, math.ceil(len(text.encode()) / 4))


def signature_of(thinking: str) -> str:
    """Return the signature that the server adds to its thinking and verifies when it is sent back."""
    return f"scripted-{hash_text(thinking)[:40]}"


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Thinking:
    text: str


@dataclass(frozen=True)
class Redacted:
    data: str


@dataclass(frozen=True)
class ToolUse:
    id: str
    name: str
    arguments: str
    """The JSON written by the model, possibly cut off."""


Block = Text | Thinking | Redacted | ToolUse


@dataclass(frozen=True)
class Reply:
    blocks: tuple[Block, ...]
    stop: StopReason

    @property
    def tool_uses(self) -> tuple[ToolUse, ...]:
        return tuple(block for block in self.blocks if isinstance(block, ToolUse))

    @property
    def output_tokens(self) -> int:
        return sum(estimate_tokens(_written(block)) for block in self.blocks) or 1


def _written(block: Block) -> str:
    match block:
        case ToolUse():
            return f"{block.name} {block.arguments}"
        case Redacted():
            return block.data
        case Text() | Thinking():
            return block.text
