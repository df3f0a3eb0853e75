"""`forge mcp`, through a real client."""

import json
import os
import subprocess
import sys
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters, types
from tests.support.server import Server
from tests.support.terminal import FORGE, Terminal, clean_environment

from forge.agents.tool import ToolBox, ToolContext
from forge.agents.tools.toolset import builder_tools
from forge.bots.mcp.server import WorkspaceTools, make_server
from forge.sandbox.sandboxes import Sandboxes
from forge.workspace.filesystem.files import Files


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text("the secret that lies outside")
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def client(cwd: Path, *arguments: str, **environment: str) -> AbstractAsyncContextManager[Client]:
    """Start `forge mcp` as an MCP client does, in the directory of the project."""
    program, *begin = FORGE
    return Client(
        StdioServerParameters(
            command=program, args=[*begin, "mcp", *arguments], env=clean_environment() | environment, cwd=cwd
        )
    )


async def call(client: Client, name: str, **arguments: Any) -> tuple[bool, str]:
    result = await client.call_tool(name, arguments)
    assert isinstance(result, types.CallToolResult)
    (content,) = result.content
    assert isinstance(content, types.TextContent)
    return result.is_error, content.text


async def test_client_works_in_a_directory(root: Path, outside: Path):
    """The `.env` file of the project is ignored: it could weaken the sandbox."""
    (root / ".env").write_text("FORGE_SANDBOX_REQUIRED=nonsense\n")
    async with client(root, FORGE_DATA_DIR=str(outside / "data")) as forge:
        failed, text = await call(forge, "write_file", path="test_a.py", content="import unittest\n")
        assert not failed and text.startswith("test_a.py: created, 16 bytes")
        failed, text = await call(forge, "run_command", command="cat test_a.py")
        assert not failed and text.endswith("--- stdout ---\nimport unittest")
        failed, text = await call(forge, "run_command", command="cat ../outside/secret.txt")
        assert failed and text.startswith("Error: '../outside/secret.txt' leads out of the workspace.")
        failed, text = await call(forge, "read_file")
        assert failed and text == "Error: Invalid arguments: path: Field required"
    assert (root / "test_a.py").read_text() == "import unittest\n"


async def test_programs_beside_the_data_directory_do_not_expose_it(root: Path, outside: Path):
    for folder in ("bin", "lib", "data"):
        (outside / folder).mkdir()
    (outside / "bin/node").touch(0o755)
    (root / "link").symlink_to(outside / "secret.txt")
    path = f"{outside}/bin{os.pathsep}{clean_environment()['PATH']}"
    async with client(root, FORGE_DATA_DIR=str(outside / "data"), PATH=path) as forge:
        _, text = await call(forge, "run_command", command="cat link")
    assert "No such file or directory" in text


async def test_tools_are_those_of_builder_agents(root: Path):
    box = builder_tools()
    with Files(root) as files:
        tools = WorkspaceTools(box, ToolContext(files, Sandboxes()))
        await check_tools(box, make_server([tools]))


async def check_tools(box: ToolBox, server: Any):
    async with Client(server) as forge:
        listed = (await forge.list_tools()).tools
        assert [(tool.name, tool.description, tool.input_schema) for tool in listed] == [
            (spec.name, spec.description, spec.parameters) for spec in box.specs()
        ]
        read_only = [tool.name for tool in listed if tool.annotations and tool.annotations.read_only_hint]
        assert read_only == ["check_syntax", "list_directory", "read_file", "search_code"]
        assert (await call(forge, "no_such_tool"))[0]
        assert await call(forge, "list_directory") == (False, "(empty)")


async def test_workspace_of_the_server_is_found_by_name(start_server: Any, tmp_path: Path, outside: Path):
    server: Server = start_server()
    terminal = Terminal(server.data_dir)
    workspace = terminal("workspaces", "create", "shop", "--json").data
    async with client(outside, "--workspace", "shop", FORGE_DATA_DIR=str(server.data_dir)) as forge:
        assert not (await call(forge, "write_file", path="a.txt", content="a"))[0]
    assert terminal("workspaces", "cat", "shop", "a.txt").out == "a\n"
    assert terminal("mcp", "--workspace", "none").code == 5
    assert (Path(workspace["path"]) / "a.txt").exists()


def test_unsuitable_directory_is_rejected(tmp_path: Path):
    terminal = Terminal(tmp_path / "data")
    for path in ("/", "/etc", str(tmp_path / "missing"), str(Path.home())):
        result = terminal("mcp", "--dir", path)
        assert result.code in (2, 4) and "error:" in result.err
    assert terminal("mcp", "--dir", str(tmp_path), "--workspace", "a").code == 2


def test_invalid_messages_do_not_stop_the_server(root: Path):
    parameters = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "a", "version": "1"},
    }
    lines = [
        "nonsense",
        "{}",
        "[1]",
        json.dumps({"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": parameters}),
    ]
    process = subprocess.run(
        [*FORGE, "mcp", "--dir", str(root)],
        input="\n".join([*lines, ""]),
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    answers = [json.loads(line) for line in process.stdout.splitlines()]
    assert [answer["result"]["serverInfo"]["name"] for answer in answers if answer.get("id") == 7] == [
        "forge"
    ]


def test_cli_import_does_not_load_server_or_tools():
    code = "import sys, forge.bots.mcp.cli; print(sorted({'sqlalchemy', 'mcp', 'pydantic', 'asyncio'} & set(sys.modules)))"
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.strip() == "[]"
