from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from tests.bots.files.problem_lines import problem_lines
from tests.bots.files.strategies import identities, texts

from forge.bots.files.identity import change_identity, parse_identity, render_identity
from forge.bots.files.parsed import Parsed
from forge.bots.models import Category, Identity
from forge.errors import Invalid


def test_only_a_name_is_required():
    assert parse_identity("---\ndisplay_name: Ada\n---\n") == Parsed(Identity(display_name="Ada"))


def test_every_key_is_read_and_body_ignored():
    text = """---
display_name: Ada
description: Plans gardens.
category: creative
tags: [plants, weather]
provider: openai
model: gpt-9
temperature: 1.5
max_tokens: 1000
avatar: 🌱
colour: "#00ff7f"
memory: no
---
Notes: the temperature was 0.7 until May.
"""
    assert parse_identity(text) == Parsed(
        Identity(
            display_name="Ada",
            description="Plans gardens.",
            category=Category.CREATIVE,
            tags=["plants", "weather"],
            provider="openai",
            model="gpt-9",
            temperature=1.5,
            max_tokens=1000,
            avatar="🌱",
            colour="#00ff7f",
            memory=False,
        )
    )


def test_key_without_value_is_ignored():
    assert parse_identity("---\ndisplay_name: Ada\nmodel:\ntags: ~\n---\n") == Parsed(
        Identity(display_name="Ada")
    )


def test_every_error_has_a_position():
    text = """---
display_name: [Ada]
category: gardener
tags: plants
temperature: warm
max_tokens: 12.5
avatar: 01234567890123456
color: '#00ff7f'
colour: green
memory: perhaps
---
"""
    assert problem_lines(parse_identity(text)) == snapshot(
        [
            "2:1 error: `display_name` must be a string. Put the text in quotes on the line of the key.",
            "3:1 error: `category` has an unknown value. Allowed: 'assistant', 'creative', 'research' or 'utility'.",
            "4:1 error: `tags` must be a list. Write `[one, two]`, or one item per line after `- `.",
            "5:1 error: `temperature` must be a number.",
            "6:1 error: `max_tokens` must be a whole number.",
            "7:1 error: `avatar` must have at most 16 characters.",
            "8:1 error: Unknown key `color`. Did you mean `colour`?",
            "9:1 error: `colour` has an invalid format. Write six hexadecimal digits in lower case after a #, in quotes: `'#e2703a'`.",
            "10:1 error: `memory` must be true or false. Write `true` or `false`.",
        ]
    )


@pytest.mark.parametrize(
    "temperature", ["-0.1", "2.1", ".nan", "nan", ".inf", "-inf", "1,5", "true", "[1]", "1e400"]
)
def test_temperature_outside_0_to_2_is_rejected(temperature: str):
    result = parse_identity(f"---\ndisplay_name: Ada\ntemperature: {temperature}\n---\n")
    assert [(problem.line, problem.is_warning) for problem in result.problems] == [(3, False)]


def test_provider_requires_a_model():
    result = parse_identity("---\nprovider: openai\ndisplay_name: Ada\n---\n")
    assert result.value is None
    assert problem_lines(result) == snapshot(
        [
            "2:1 error: `provider` is set without a `model`. Add a line `model: …`, or remove `provider` to use the default model for bots."
        ]
    )


@pytest.mark.parametrize(
    ("lines", "is_warned"),
    [
        ("temperature: 1.1", True),
        ("temperature: 1.1\nprovider: anthropic\nmodel: x", True),
        ("temperature: 1.1\nprovider: openai\nmodel: x", False),
        ("temperature: 1", False),
    ],
)
def test_high_temperature_for_anthropic_is_a_warning(lines: str, is_warned: bool):
    result = parse_identity(f"---\ndisplay_name: Ada\n{lines}\n---\n")
    assert result.value is not None
    assert [(problem.line, problem.is_warning) for problem in result.problems] == [(3, True)] * is_warned


def test_change_keeps_rest_of_file():
    text = (
        "\ufeff---\r\n"
        "# who\r\n"
        "display_name:   Ada   # after Lovelace\r\n"
        "\r\n"
        "tags:            # two\r\n"
        "  - 'a'  # one\r\n"
        '  - "b"\r\n'
        "# below the tags\r\n"
        "description: |\r\n"
        "  several\r\n"
        "  lines\r\n"
        "\r\n"
        "# before the model\r\n"
        "model:\r\n"
        "temperature: 0.70 # warm\r\n"
        "# the end\r\n"
        "---\r\n"
        "notes\r\n---\r\n"
    )
    changes = {
        "tags": ["x: y", "z"],
        "description": "one",
        "model": "m",
        "temperature": None,
        "category": Category.CREATIVE,
    }
    assert change_identity(text, changes) == (
        "\ufeff---\r\n"
        "# who\r\n"
        "display_name:   Ada   # after Lovelace\r\n"
        "\r\n"
        "tags:\r\n"
        "- 'x: y'\r\n"
        "- z\r\n"
        "# below the tags\r\n"
        "description: one\r\n"
        "\r\n"
        "# before the model\r\n"
        "model: m\r\n"
        "# the end\r\n"
        "category: creative\r\n"
        "---\r\n"
        "notes\r\n---\r\n"
    )


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        ("display_name: Ada # x\n", {"display_name": "Eve"}, "display_name: Eve # x\n"),
        ("display_name: 'Ada' # x\n", {"display_name": "Ada"}, "display_name: 'Ada' # x\n"),
        ("display_name: A\nmemory: yes\n", {"memory": True}, "display_name: A\nmemory: yes\n"),
        (
            "display_name: A\ntemperature: 0.70\n",
            {"temperature": 0.7},
            "display_name: A\ntemperature: 0.70\n",
        ),
        ("model: ~\navatar: x\n", {"model": None}, "avatar: x\n"),
        ("", {"model": "m", "avatar": "x", "colour": None}, "model: m\navatar: x\n"),
        ("memory: yes\n", {"memory": False}, "memory: false\n"),
        ("tags: [a, b] # x\n", {"tags": []}, "tags: [] # x\n"),
        ("tags: [a,\n  b]\navatar: x\n", {"tags": ["c"]}, "tags:\n- c\navatar: x\n"),
        (
            "  model: a\n  avatar: x\n",
            {"tags": ["c", "d"]},
            "  model: a\n  avatar: x\n  tags:\n  - c\n  - d\n",
        ),
        ("  model: a\n  avatar: x\n", {"model": None}, "  avatar: x\n"),
        ("model: a\n", {"model": None}, ""),
        ("model: a\n", {"avatar": None}, "model: a\n"),
        ("", {"model": "a"}, "model: a\n"),
        ("# only a comment\n", {"model": "a"}, "# only a comment\nmodel: a\n"),
        ("model: # to be chosen\n", {"model": "a"}, "model: a # to be chosen\n"),
        ('"model": "a"\n', {"model": "b"}, "model: b\n"),
        ("model: a\n  b\nprovider: p\n", {"model": "c"}, "model: c\nprovider: p\n"),
        ("unknown: [1, {a: b}]\nmodel: a\n", {"model": "b"}, "unknown: [1, {a: b}]\nmodel: b\n"),
        ("temperature: 9\n", {"temperature": 1}, "temperature: 1\n"),
        ("description: |+\n  a\n\n\n", {"model": "b"}, "description: |+\n  a\n\n\nmodel: b\n"),
        ("description: >-  # folded\n  a\n", {"description": "b"}, "description: b\n"),
    ],
)
def test_key_is_changed_in_place(before: str, changes: dict[str, Any], after: str):
    assert change_identity(f"---\n{before}---\nnotes", changes) == f"---\n{after}---\nnotes"


@pytest.mark.parametrize(
    "text",
    [
        "no front matter",
        "---\na: b: c\n---\n",
        "---\nmodel: a\nmodel: b\n---\n",
        "---\n{model: a}\n---\n",
        "---\n? model\n: a\n---\n",
        "---\n- a\n---\n",
        "---\nmodel: \x00\n---\n",
    ],
)
def test_uneditable_layout_is_rejected(text: str):
    with pytest.raises(Invalid) as caught:
        change_identity(text, {"model": "b"})
    assert caught.value.message.startswith("IDENTITY.md, line ") and caught.value.hint


changes_of = st.fixed_dictionaries(
    {},
    optional={
        "display_name": texts(200, min_size=1),
        "description": texts(300) | st.none(),
        "category": st.sampled_from(Category) | st.none(),
        "tags": st.lists(texts(40, min_size=1), max_size=3) | st.none(),
        "model": texts(200, min_size=1),
        "temperature": st.floats(0, 2) | st.none(),
        "memory": st.booleans() | st.none(),
        "avatar": texts(16, min_size=1) | st.none(),
    },
)


@settings(max_examples=150, deadline=None)
@given(identities, changes_of, st.booleans())
def test_only_the_given_keys_change(identity: Identity, changes: dict[str, Any], is_commented: bool):
    text = render_identity(identity)
    if is_commented:
        text = text.replace("---\ndisplay_name", "---\n# a comment\ndisplay_name", 1) + "\nnotes\n"
    changed = change_identity(text, changes)
    wanted = identity.model_dump() | changes
    assert parse_identity(changed).value == Identity.model_validate(
        {key: value for key, value in wanted.items() if value is not None}
    )
    kept = {
        line
        for line in text.splitlines()
        if line.partition(":")[0] in set(Identity.model_fields) - set(changes)
    }
    assert kept <= set(changed.splitlines())
    assert change_identity(changed, changes) == changed
