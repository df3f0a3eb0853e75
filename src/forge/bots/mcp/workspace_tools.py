"""The tools of our own agents, for one directory."""

import json
from typing import Any

from mcp import types

from forge.agents.tools import ToolBox, ToolContext
from forge.bots.mcp.providers import Tell
from forge.llm.messages import ToolCall


class WorkspaceTools:
    def __init__(self, box: ToolBox, context: ToolContext) -> None:
        self._box = box
        self._context = context

    async def tools(self) -> list[types.Tool]:
        return [
            types.Tool(
                name=spec.name,
                description=spec.description,
                input_schema=spec.parameters,
                annotations=types.ToolAnnotations(
                    read_only_hint=self._box.only_reads(spec.name), open_world_hint=False
                ),
            )
            for spec in self._box.specs()
        ]

    async def call(self, name: str, arguments: dict[str, Any], _: Tell) -> types.CallToolResult | None:
        if name not in self._box.names:
            return None
        call = ToolCall(id="mcp", name=name, arguments=json.dumps(arguments))
        outcome = await self._box.use(call, self._context)
        return types.CallToolResult(content=[types.TextContent(text=outcome.text)], is_error=outcome.is_error)
