"""The standard tools of agents."""

from forge.agents.tool import ToolBox
from forge.agents.tools.check_syntax import CheckSyntax
from forge.agents.tools.command_tools import RunCommand, RunTests
from forge.agents.tools.read_tools import ListDirectory, ReadFile, SearchCode
from forge.agents.tools.write_tools import EditFile, WriteFile

_COMPACT = (ReadFile(), ListDirectory(), SearchCode(), WriteFile(), EditFile(), RunTests(), RunCommand())


def builder_tools() -> ToolBox:
    """Create all standard tools."""
    return ToolBox([*_COMPACT, CheckSyntax()])


def compact_tools() -> ToolBox:
    """Create the tools for a small context window. Writing a file checks its syntax, too."""
    return ToolBox(_COMPACT, compact=True)
