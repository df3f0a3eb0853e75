"""Validation of answers against an output schema."""

from typing import Any

import pytest

from forge.errors import Invalid
from forge.workflows.definition.output_schema import OutputSchema, repair

COUNT = OutputSchema({"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}})


@pytest.mark.parametrize(
    "answer",
    [
        '{"count": 3}',
        '\n  {"count": 3}\n',
        '```json\n{"count": 3}\n```',
        'Here it is:\n\n```\n{"count": 3}\n```\nAnything else?',
        'First I thought\n```json\n{"count": "?"}\n```\nbut it is\n```json\n{"count": 3}\n```',
    ],
)
def test_json_is_found_with_and_without_code_fence(answer: str):
    assert COUNT.read(answer).value == {"count": 3}


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("", "empty"),
        ("three", "not JSON"),
        ('{"count": NaN}', "not JSON"),
        ('{"count": "3"}', 'count: "3" is not of type "integer"'),
        ("{}", '"count" is a required property'),
    ],
)
def test_faults_of_answer_are_reported(answer: str, fault: str):
    found = COUNT.read(answer)
    assert fault in found.faults[0]
    assert found.faults[0] in repair(found.faults)


def test_faults_are_truncated():
    found = OutputSchema({"items": {"type": "integer"}}).read(str(["x" * 10_000] * 50).replace("'", '"'))
    assert len(found.faults) == 8
    assert all(len(fault) <= 300 for fault in found.faults)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "thing"},
        {"pattern": "("},
        {"$ref": "http://127.0.0.1:9/schema.json"},
        {"$ref": "file:///etc/passwd"},
    ],
)
def test_invalid_or_remote_schema_is_rejected(schema: dict[str, Any]):
    with pytest.raises(Invalid, match="output_schema"):
        OutputSchema(schema)


def test_pattern_is_matched_in_linear_time():
    slow = OutputSchema({"type": "string", "pattern": "^(a+)+$"})
    assert slow.read('"' + "a" * 50_000 + '!"').faults


def test_prompt_contains_schema():
    prompt = COUNT.prompt("How many {apples}?")
    assert prompt.startswith("How many {apples}?") and '"count"' in prompt
