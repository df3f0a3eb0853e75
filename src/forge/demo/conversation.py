"""A request as a script sees it, in no API's own shape."""

from dataclasses import dataclass
from typing import Any

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
class Demand:
    """A request that wants its answer in a form: by a tool it must call, or as JSON text."""

    schema: JsonObject
    tool: str | None = None


@dataclass(frozen=True)
class Conversation:
    model: str
    system: str
    user_texts: tuple[str, ...]
    replies: int
    """How many replies of the model are in it; several messages in a row are one."""
    is_continued: bool
    """Whether it ends with a reply of the model, to be continued."""
    transcript: str
    results: tuple[ToolResult, ...] = ()
    tools: tuple[OfferedTool, ...] = ()
    demand: Demand | None = None
    wants_stream: bool = False
    wants_usage: bool = True
    """OpenAI only: a stream tells its usage when asked to."""

    @property
    def opening(self) -> str:
        return self.user_texts[0] if self.user_texts else ""

    @property
    def latest(self) -> str:
        return self.user_texts[-1] if self.user_texts else ""

    def result_of(self, tool: str | None) -> str:
        """The latest result, of a tool or of any."""
        return next((result.text for result in reversed(self.results) if tool in (None, result.tool)), "")


def count_replies(roles: list[str]) -> int:
    """Assistant messages in a row are one reply: a paused one and its continuation."""
    return sum(role == "assistant" != before for before, role in zip(["", *roles], roles, strict=False))
