"""The standard tools of agents."""

from forge.agents.tool import ToolBox
from forge.agents.tools.check_syntax import CheckSyntax
from forge.agents.tools.command_tools import RunCommand, RunTests
from forge.agents.tools.read_tools import ListDirectory, ReadFile, SearchCode
from forge.agents.tools.write_tools import EditFile, WriteFile


def builder_tools() -> ToolBox:
    """Create all standard tools."""
    reading = (ReadFile(), ListDirectory(), SearchCode(), CheckSyntax())
    return ToolBox([*reading, WriteFile(), EditFile(), RunTests(), RunCommand()])
