"""Property tests of reading and writing definitions."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workflows.definition.definitions import definitions, steps

from forge.workflows.definition.models import Definition
from forge.workflows.definition.reader import read_data, read_source
from forge.workflows.definition.writer import is_same, write

HEAD = "# All of it\n"


def assert_reads_as(text: str, definition: Definition) -> None:
    read = read_source(text)
    assert read.definition is not None, (read.problems[:3], text)
    assert is_same(read.definition.as_json(), definition.as_json()), text


@settings(max_examples=40)
@given(definitions)
def test_written_definition_is_read_unchanged(definition: Definition):
    assert_reads_as(write(definition, None), definition)


@settings(max_examples=40)
@given(definitions)
def test_writing_is_idempotent(definition: Definition):
    text = write(definition, None)
    assert write(definition, text) == text
    assert write(definition, HEAD + text) == HEAD + text


@settings(max_examples=40)
@given(definitions)
def test_json_and_yaml_are_equivalent(definition: Definition):
    data = json.loads(json.dumps(definition.as_json()))
    read = read_data(data)
    assert read.definition is not None, read.problems[:3]
    assert is_same(read.definition.as_json(), definition.as_json())
    assert read.source == write(definition, None)


def with_comments(text: str) -> str:
    """Add a comment above each top-level key and above each step."""
    lines: list[str] = [HEAD.removesuffix("\n")]
    for line in text.split("\n"):
        if line.startswith("  - id: "):
            lines.append(f"  # About {line[8:]}")
        lines.append(line)
    return "\n".join(lines)


@settings(max_examples=30)
@given(definitions, definitions)
def test_any_definition_can_be_merged_into_any_text(before: Definition, after: Definition):
    """The comment at the top shows that the text was changed and not written from scratch."""
    text = write(after, with_comments(write(before, None)))
    assert_reads_as(text, after)
    assert text.startswith(HEAD)


@settings(max_examples=30)
@given(definitions, st.lists(steps(), max_size=2), st.randoms(use_true_random=False))
def test_comments_stay_with_steps(before: Definition, added: list, random):
    """Holds for moved, removed and inserted steps."""
    kept = random.sample(before.steps, random.randint(0, len(before.steps)))
    known = {step.id for step in before.steps}
    new = {step.id: step for step in added if step.id not in known}
    steps = [*kept, *new.values()] or list(before.steps)
    random.shuffle(steps)
    after = before.model_copy(update={"steps": steps})
    text = write(after, with_comments(write(before, None)))
    assert_reads_as(text, after)
    assert text.startswith(HEAD)
    for step in steps:
        if step.id in known:
            assert text.count(f"  # About {step.id}\n  - id: {step.id}\n") == 1, text
