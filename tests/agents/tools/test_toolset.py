"""The set of tools, and its reference documentation."""

import re
from pathlib import Path

import pytest

from forge.agents.commands.command_rules import COMMANDS, TESTS
from forge.agents.tools.toolset import builder_tools
from forge.llm.models import ToolSpec

PAGE = (Path(__file__).parents[3] / "docs/reference/tools.md").read_text()
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.*)$", PAGE, re.MULTILINE))
SPECS = builder_tools().specs()


def test_toolset_has_eight_tools_of_which_half_only_read():
    names = ["check_syntax", "edit_file", "list_directory", "read_file"]
    names += ["run_command", "run_tests", "search_code", "write_file"]
    assert builder_tools().names == names
    reading = ["check_syntax", "list_directory", "read_file", "search_code"]
    assert [name for name in names if builder_tools().only_reads(name)] == reading


def test_reference_table_lists_exactly_the_tools():
    assert set(ROWS) == {spec.name for spec in SPECS}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.name)
def test_every_argument_is_documented_and_described(spec: ToolSpec):
    for name, schema in spec.parameters["properties"].items():
        assert f"`{name}`" in ROWS[spec.name] and schema["description"]


def test_every_allowed_program_is_documented():
    programs = {rule.words[0] for rule in (*COMMANDS, *TESTS)}
    assert {program for program in programs if not re.search(rf"`{program}\b", PAGE)} == set()
