"""What the model says in one turn, in no API's own shape."""

import json
import math
from dataclasses import dataclass
from typing import Any

from forge.demo.script import StopReason
from forge.kernel.hashing import hash_text


def estimate_tokens(value: Any) -> int:
    """A quarter of the bytes: near enough for budgets, and the same everywhere."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return max(1, math.ceil(len(text.encode()) / 4))


def signature_of(thinking: str) -> str:
    """What the server signs its thinking with, to know it again when it comes back."""
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
    """JSON as the model wrote it: not always whole."""


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
