"""The tools agents are given, as boxes."""

from typing import Any

from forge.agents.check_syntax import CheckSyntax
from forge.agents.command_tools import RunCommand, RunTests
from forge.agents.file_reading import ListDirectory, ReadFile, SearchCode
from forge.agents.file_writing import EditFile, WriteFile
from forge.agents.tools import Tool, ToolBox


def reader_tools() -> ToolBox:
    """For roles that look and judge."""
    return ToolBox(_readers())


def builder_tools() -> ToolBox:
    """All there are."""
    return ToolBox([*_readers(), WriteFile(), EditFile(), CheckSyntax(), RunTests(), RunCommand()])


def _readers() -> list[Tool[Any]]:
    return [ReadFile(), ListDirectory(), SearchCode()]
