"""The tools agents are given."""

from forge.agents.check_syntax import CheckSyntax
from forge.agents.command_tools import RunCommand, RunTests
from forge.agents.file_reading import ListDirectory, ReadFile, SearchCode
from forge.agents.file_writing import EditFile, WriteFile
from forge.agents.tools import ToolBox


def builder_tools() -> ToolBox:
    """All there are."""
    reading = (ReadFile(), ListDirectory(), SearchCode(), CheckSyntax())
    return ToolBox([*reading, WriteFile(), EditFile(), RunTests(), RunCommand()])
