"""Messages of a conversation: plain JSON, independent of the provider.

System instructions and tool definitions belong to the request, not to the conversation.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Text(Part):
    kind: Literal["text"] = "text"
    text: str


class Thinking(Part):
    """A model's visible thinking. Its provider signs it and expects it back unchanged; never sent to another provider."""

    kind: Literal["thinking"] = "thinking"
    text: str
    id: str | None = None
    signature: str | None = None
    provider: str | None = None


class ToolCall(Part):
    """A tool call. `arguments` is the JSON as the model wrote it, which may be cut off or invalid."""

    kind: Literal["tool_call"] = "tool_call"
    id: str
    name: str
    arguments: str


class ToolResult(Part):
    kind: Literal["tool_result"] = "tool_result"
    call_id: str
    name: str
    text: str
    failed: bool = False


class UserMessage(Part):
    """A message to the model: texts and tool results."""

    role: Literal["user"] = "user"
    parts: list[Annotated[Text | ToolResult, Field(discriminator="kind")]]
    pinned: bool = False
    """Never dropped or shortened by compaction: directives, audit findings."""
    is_note: bool = False
    """Describes what compaction removed; the next compaction replaces it."""


class AssistantMessage(Part):
    role: Literal["assistant"] = "assistant"
    parts: list[Annotated[Text | Thinking | ToolCall, Field(discriminator="kind")]]

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))

    @property
    def tool_calls(self) -> list[ToolCall]:
        return [part for part in self.parts if isinstance(part, ToolCall)]


Message = Annotated[UserMessage | AssistantMessage, Field(discriminator="role")]


def user_message(text: str, *, pinned: bool = False) -> UserMessage:
    return UserMessage(parts=[Text(text=text)], pinned=pinned)


class StopReason(StrEnum):
    """Why a model stopped. Only `END` and `TOOLS` are complete answers."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    """The output limit was reached; the text or last tool call is cut off."""
    CONTEXT_FULL = "context_full"
    REPEATED = "repeated"
    """The model repeated itself, so the call was stopped; the repetition is cut off."""
    REFUSED = "refused"
    PAUSED = "paused"
    """The provider paused and must be called again to continue."""


DeltaKind = Literal["text", "thinking"]
OnDelta = Callable[[DeltaKind, str], Awaitable[None]]
OnAnswer = Callable[[str], Awaitable[None]]
"""Receives pieces of the JSON of a structured answer. An empty piece (re)starts it: discard earlier pieces."""


@dataclass(frozen=True)
class StreamListener:
    on_delta: OnDelta | None = None
    on_answer: OnAnswer | None = None


NO_LISTENER = StreamListener()
