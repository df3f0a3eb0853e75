"""Which texts are tool calls, and which only look like one. Whole agents with such models: `test_text_calls`."""

import json

import pytest

from forge.agents.text_calls import named_tool, with_text_calls
from forge.agents.tools.toolset import builder_tools
from forge.llm.messages import AssistantMessage, Text, Thinking, ToolCall

TOOLS = builder_tools()
CALL = '{"name": "read_file", "arguments": {"path": "a"}}'


def read(text: str) -> tuple[str, list[tuple[str, object]]]:
    """Return the text that is left and the calls."""
    message = with_text_calls(AssistantMessage(parts=[Text(text=text)]), TOOLS)
    return message.text, [(call.name, json.loads(call.arguments)) for call in message.tool_calls]


@pytest.mark.parametrize(
    "text",
    [
        "The file says `{}`.",
        '{"name": "read_file"}',
        '{"name": "no_such_tool", "arguments": {}}',
        '{"name": "read_file", "arguments": "a"}',
        '{"name": ["read_file"], "arguments": {}}',
        '[{"name": "read_file", "arguments": {"path": "a"}}, {"name": "other", "arguments": {}}]',
        '{"name": "read_file", "arguments": {"path": "a"',
        "<function=other>{}</function>",
        "<tools other path='a'/>",
        "[" * 50_000,
        '{"a":' * 20_000,
        CALL + " " * 100_000,
    ],
)
def test_text_that_is_no_call_of_a_known_tool_stays_text(text: str):
    assert read(text) == (text, [])


def test_what_follows_a_call_is_dropped_and_what_precedes_it_stays():
    text = f"```python\nx = 1\n```\nI read it.\n\n<tool_call>{CALL}</tool_call>\nIt says hello."
    assert read(text) == ("```python\nx = 1\n```\nI read it.", [("read_file", {"path": "a"})])


def test_repeated_call_is_made_once_and_different_ones_in_order():
    other = CALL.replace('"a"', '"b"')
    calls = [("read_file", {"path": "a"}), ("read_file", {"path": "b"})]
    assert read(f"{CALL}\n{other}\n{CALL}") == ("", calls)


def test_call_inside_an_argument_is_not_made():
    arguments = {"path": "a", "content": f"{CALL}\n<function=run_tests>"}
    text = json.dumps({"name": "write_file", "arguments": arguments})
    assert read(text) == ("", [("write_file", arguments)])
    inside = (
        f"<function=write_file><parameter=path>a</parameter><parameter=content>{CALL}</parameter></function>"
    )
    assert read(inside) == ("", [("write_file", {"path": "a", "content": CALL})])


def test_invalid_arguments_are_left_to_the_tool_to_report():
    assert read('{"name": "read_file", "arguments": {"file": "a"}}') == ("", [("read_file", {"file": "a"})])


def test_values_are_typed_by_the_schema_and_text_stays_text():
    text = '<tools read_file path="1" start_line="3" end_line="x"/>'
    assert read(text) == ("", [("read_file", {"path": "1", "start_line": 3, "end_line": "x"})])


def test_unpaired_surrogates_are_replaced():
    [(_, arguments)] = read('{"name": "read_file", "arguments": {"path": "\\ud800"}}')[1]
    assert arguments == {"path": "�"}


def test_message_with_calls_of_the_api_is_not_searched():
    message = AssistantMessage(parts=[Text(text=CALL), ToolCall(id="1", name="read_file", arguments="{}")])
    assert with_text_calls(message, TOOLS) is message


def test_thinking_stays():
    thought = Thinking(text="Hm.")
    message = with_text_calls(AssistantMessage(parts=[thought, Text(text=CALL)]), TOOLS)
    assert message.parts[0] == thought and len(message.tool_calls) == 1


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("I use `run_tests` and then read_file.", "run_tests"),
        ("I rerun_tests.", None),
        ("I will finish now.", None),
        ("", None),
    ],
)
def test_named_tool_is_the_first_whole_name(text: str, name: str | None):
    assert named_tool(text, [*TOOLS.names, "finish"]) == name
