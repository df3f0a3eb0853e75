"""Fixtures: a workspace with a secret beside it, and the tools."""

import json
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from forge.agents.models import ToolOutcome
from forge.agents.tool import ToolContext
from forge.agents.tools.toolset import builder_tools
from forge.llm.messages import ToolCall
from forge.sandbox.sandboxes import Sandboxes
from forge.workspace.filesystem.files import Files

Use = Callable[..., Awaitable[ToolOutcome]]
SECRET = "the secret that lies outside"


@pytest.fixture(scope="session")
def sandboxes() -> Sandboxes:
    """Probed once for all tests."""
    return Sandboxes()


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.txt").write_text(SECRET)
    return folder


@pytest.fixture
def root(tmp_path: Path, outside: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def context(root: Path, sandboxes: Sandboxes) -> Iterator[ToolContext]:
    with Files(root) as files:
        yield ToolContext(files, sandboxes)


@pytest.fixture
def use(context: ToolContext) -> Use:
    """Use a tool as the loop does: by name, with JSON."""
    box = builder_tools()

    async def use(name: str, **arguments: Any) -> ToolOutcome:
        call = ToolCall(id="call", name=name, arguments=json.dumps(arguments))
        return await box.use(call, context)

    return use
