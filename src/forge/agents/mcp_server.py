"""The same tools for other agents: a directory served over the Model Context Protocol, on standard input and output.

A failure of a tool is a result that says so, as it is for our own agents; a protocol error is a defect.
"""

import json
from pathlib import Path
from typing import Any

from mcp import types
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server

from forge import __version__
from forge.agents.tools import ToolBox, ToolContext
from forge.agents.toolset import builder_tools
from forge.llm.messages import ToolCall
from forge.sandbox.choice import Sandboxes
from forge.sandbox.models import Level
from forge.workspace.files import Files

INSTRUCTIONS = (
    "Tools for one directory, the workspace. Paths are relative to it. Commands and tests run in a sandbox without a "
    "network; installs reach the package registry only. There is no shell: one command, with its arguments."
)


async def serve(root: Path, required: Level) -> None:
    """Until the client closes its end."""
    with Files(root) as files:
        server = make_server(builder_tools(), ToolContext(files, Sandboxes(required)))
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())


def make_server(box: ToolBox, context: ToolContext) -> Server[Any]:
    async def list_tools(
        _: ServerRequestContext[Any], __: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=_tools(box))

    async def call_tool(
        _: ServerRequestContext[Any], asked: types.CallToolRequestParams
    ) -> types.CallToolResult:
        call = ToolCall(id="mcp", name=asked.name, arguments=json.dumps(asked.arguments or {}))
        outcome = await box.use(call, context)
        return types.CallToolResult(content=[types.TextContent(text=outcome.text)], is_error=outcome.is_error)

    return Server(
        "forge",
        version=__version__,
        title="Forge workspace",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def _tools(box: ToolBox) -> list[types.Tool]:
    return [
        types.Tool(
            name=spec.name,
            description=spec.description,
            input_schema=spec.parameters,
            annotations=types.ToolAnnotations(
                read_only_hint=box.only_reads(spec.name), open_world_hint=False
            ),
        )
        for spec in box.specs()
    ]
