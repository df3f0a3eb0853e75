"""A conversation as Forge keeps it: plain JSON, the same for every provider, loaded exactly as it was saved.

System instructions and tool definitions are not part of it: they belong to the request, once.
"""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Text(Part):
    kind: Literal["text"] = "text"
    text: str


class Thinking(Part):
    """What a model thought aloud. Its provider signs it and wants it back unchanged; no other one may see it."""

    kind: Literal["thinking"] = "thinking"
    text: str
    id: str | None = None
    signature: str | None = None
    provider: str | None = None


class ToolCall(Part):
    """A tool the model wants used. `arguments` is its JSON as written: it may be cut off or wrong."""

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
    """What a model is told: words, and the results of the tools it called."""

    role: Literal["user"] = "user"
    parts: list[Annotated[Text | ToolResult, Field(discriminator="kind")]]
    pinned: bool = False
    """Never dropped or shortened when the conversation is compacted: a directive, an audit's findings."""
    is_note: bool = False
    """Says what a compaction left out; the next one writes it anew."""


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


def said(text: str, *, pinned: bool = False) -> UserMessage:
    return UserMessage(parts=[Text(text=text)], pinned=pinned)


class StopReason(StrEnum):
    """Why a model stopped. Only `END` and `TOOLS` are whole answers."""

    END = "end"
    TOOLS = "tools"
    LENGTH = "length"
    """It ran into the output limit; its last words or its last tool call are cut off."""
    CONTEXT_FULL = "context_full"
    REFUSED = "refused"
    PAUSED = "paused"
    """The provider asks to be called again to go on."""
