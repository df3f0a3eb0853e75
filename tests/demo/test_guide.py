"""docs/guides/scripted-models.md documents every field, fault, value and filter, and its example works."""

import re
from pathlib import Path

import pytest
from tests.demo.clients import answered, said, stream
from tests.support.models import StartModels

from forge.demo.model_script import HINT, FaultKind, Scene, Script, Turn
from forge.demo.script_templates import FILTERS, NAMES

PAGE = (Path(__file__).parents[2] / "docs/guides/scripted-models.md").read_text()
SECTIONS = dict(re.findall(r"^##+ (.+?)\n(.*?)(?=^##|\Z)", PAGE, re.MULTILINE | re.DOTALL))
EXAMPLE = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[0]


def named(section: str) -> set[str]:
    """Return the names in the first column of a section's table."""
    rows = re.findall(r"^\| (`.*?) \|", SECTIONS[section], re.MULTILINE)
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row)}


@pytest.mark.parametrize(
    ("section", "model"),
    [("The script", Script), ("A scene", Scene), ("A turn", Turn)],
    ids=lambda part: str(part),
)
def test_guide_describes_every_field(section: str, model: type[Script | Scene | Turn]):
    assert named(section) == {field.alias or name for name, field in model.model_fields.items()}


def test_guide_describes_every_fault_value_and_filter():
    assert named("Faults") == set(FaultKind)
    assert named("Values of the request") >= {*NAMES, "result.TOOL", "match.GROUP"}
    assert all(f"`{filter_}" in SECTIONS["Values of the request"] for filter_ in FILTERS)


def test_hint_of_script_errors_names_the_guide():
    assert "docs/guides/scripted-models.md" in HINT


def test_guide_example_runs(model_server: StartModels):
    server = model_server(EXAMPLE.replace("times: 2", "times: 1"))
    first = stream(server, "fix calc.py")
    assert said(first)[1]["text"] == "Let me look at calc.py."
    messages = answered(first, "calc.py", "def add(a, b):\n    return a - b")
    messages[0]["content"] = "fix calc.py"
    with pytest.raises(Exception, match="Overloaded"):
        stream(server, messages=messages)
    second = stream(server, messages=messages)
    assert said(second)[0]["text"] == "It begins with: def add(a, b):"
