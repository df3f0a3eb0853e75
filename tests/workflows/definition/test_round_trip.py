"""What is written is what is read, and a text is changed no more than what it says."""

import json

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.workflows.definition.definitions import definitions, steps

from forge.workflows.definition.matching import is_same
from forge.workflows.definition.models import Definition
from forge.workflows.definition.reading import read_data, read_source
from forge.workflows.definition.writing import write

HEAD = "# All of it\n"


def assert_says(text: str, definition: Definition) -> None:
    read = read_source(text)
    assert read.definition is not None, (read.problems[:3], text)
    assert is_same(read.definition.as_json(), definition.as_json()), text


@settings(max_examples=40)
@given(definitions)
def test_what_is_written_is_read_as_it_was(definition: Definition):
    assert_says(write(definition, None), definition)


@settings(max_examples=40)
@given(definitions)
def test_what_is_written_is_written_the_same_again(definition: Definition):
    text = write(definition, None)
    assert write(definition, text) == text
    assert write(definition, HEAD + text) == HEAD + text


@settings(max_examples=40)
@given(definitions)
def test_json_and_yaml_come_to_the_same(definition: Definition):
    data = json.loads(json.dumps(definition.as_json()))
    read = read_data(data)
    assert read.definition is not None, read.problems[:3]
    assert is_same(read.definition.as_json(), definition.as_json())
    assert read.source == write(definition, None)


def with_comments(text: str) -> str:
    """A comment above everything at the outermost level and above each step."""
    lines: list[str] = [HEAD.removesuffix("\n")]
    for line in text.split("\n"):
        if line.startswith("  - id: "):
            lines.append(f"  # About {line[8:]}")
        lines.append(line)
    return "\n".join(lines)


@settings(max_examples=30)
@given(definitions, definitions)
def test_any_definition_can_be_written_into_any_other(before: Definition, after: Definition):
    """The comment at the top is only there if the text was changed, and not made anew."""
    text = write(after, with_comments(write(before, None)))
    assert_says(text, after)
    assert text.startswith(HEAD)


@settings(max_examples=30)
@given(definitions, st.lists(steps(), max_size=2), st.randoms(use_true_random=False))
def test_comments_stay_with_their_steps(before: Definition, added: list, random):
    """However steps are moved, taken out and put in."""
    kept = random.sample(before.steps, random.randint(0, len(before.steps)))
    known = {step.id for step in before.steps}
    new = {step.id: step for step in added if step.id not in known}
    steps = [*kept, *new.values()] or list(before.steps)
    random.shuffle(steps)
    after = before.model_copy(update={"steps": steps})
    text = write(after, with_comments(write(before, None)))
    assert_says(text, after)
    assert text.startswith(HEAD)
    for step in steps:
        if step.id in known:
            assert text.count(f"  # About {step.id}\n  - id: {step.id}\n") == 1, text
