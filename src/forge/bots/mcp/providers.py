"""Where the tools of `forge mcp` come from: each provider lists its own, and answers calls of them."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from mcp import types

Tell = Callable[[float, str], Awaitable[None]]
"""Tells the client how far a call has come, if it wants to know."""


class ToolProvider(Protocol):
    async def tools(self) -> list[types.Tool]: ...

    async def call(self, name: str, arguments: dict[str, Any], tell: Tell, /) -> types.CallToolResult | None:
        """None when it has no such tool. What goes wrong is a result that says so."""
        ...


def text_result(*texts: str, structured: dict[str, Any] | None = None) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=text) for text in texts]
    return types.CallToolResult(content=content, structured_content=structured)


def failed(*texts: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text) for text in texts], is_error=True)
