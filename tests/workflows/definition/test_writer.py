"""Writing a changed definition into existing text preserves comments, order and style."""

from collections.abc import Callable
from textwrap import dedent
from typing import Any

import pytest

from forge.workflows.definition.models import Definition
from forge.workflows.definition.reader import read_data, read_source
from forge.workflows.definition.writer import write

BEFORE = """\
# Digest
# of the day
name: daily-digest   # short
version: 1.0

triggers: [manual]   # for now

# What is done
steps:
  # gathers
  - id: gather   # first
    type: agent
    depends_on:
    condition: '{{ true }}'
    config:
      bot: ada  # who
      prompt: Hello   # greeting

      model: haiku

  # ---- Sending ----

  # sends
  - id: send
    type: http
    depends_on: gather
    config: {url: "https://x.org", method: post}  # in one line
  - id: wait
    type: wait
    config:
      # long
      seconds: 5
# the end
"""


def apply_change(change: Callable[[dict[str, Any]], None], before: str = BEFORE) -> str:
    read = read_source(before)
    assert read.definition, read.problems
    data = read.definition.as_json()
    change(data)
    after = Definition.model_validate(data)
    text = write(after, before)
    assert read_source(text).definition == after
    return text


def difference(text: str, before: str = BEFORE) -> tuple[list[str], list[str]]:
    """Return the removed and the added lines."""
    old, new = before.split("\n"), text.split("\n")
    return [line for line in old if line not in new], [line for line in new if line not in old]


def set_at(*path: Any, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(data: dict[str, Any]) -> None:
        for part in path[:-1]:
            data = data[part]
        data[path[-1]] = value

    return change


def test_unchanged_text_is_preserved():
    assert apply_change(lambda _: None) == BEFORE


@pytest.mark.parametrize(
    ("change", "removed", "added"),
    [
        (set_at("name", value="evening"), ["name: daily-digest   # short"], ["name: evening   # short"]),
        (set_at("version", value="2"), ["version: 1.0"], ["version: '2'"]),
        (set_at("version", value="1.0"), [], []),
        (set_at("description", value="x"), [], ["description: x"]),
        (set_at("timeout_secs", value=60), [], ["timeout_secs: 60"]),
        (
            set_at("steps", 0, "config", "prompt", value="Hi"),
            ["      prompt: Hello   # greeting"],
            ["      prompt: Hi   # greeting"],
        ),
        (
            set_at("steps", 0, "config", "prompt", value="a\nb\n"),
            ["      prompt: Hello   # greeting"],
            ["      prompt: |   # greeting", "        a", "        b"],
        ),
        (set_at("steps", 0, "config", "model", value=None), ["      model: haiku"], []),
        (set_at("steps", 0, "condition", value=None), ["    condition: '{{ true }}'"], []),
        (set_at("steps", 0, "depends_on", value=["wait"]), ["    depends_on:"], ["    depends_on: [wait]"]),
        (
            set_at("steps", 1, "config", "method", value="PUT"),
            ['    config: {url: "https://x.org", method: post}  # in one line'],
            ["    config: {url: 'https://x.org', method: PUT}  # in one line"],
        ),
        (set_at("steps", 2, "config", "seconds", value=6), ["      seconds: 5"], ["      seconds: 6"]),
        (set_at("steps", 2, "id", value="rest"), ["  - id: wait"], ["  - id: rest"]),
        (
            set_at("steps", 2, "ui", value={"position": {"x": 1, "y": 2}}),
            [],
            ["    ui:", "      position: {x: 1, y: 2}"],
        ),
        (set_at("steps", 2, "on_error", value="continue"), [], ["    on_error: continue"]),
    ],
)
def test_change_affects_only_its_lines(
    change: Callable[[dict[str, Any]], None], removed: list[str], added: list[str]
):
    assert difference(apply_change(change)) == (removed, added)


def test_new_key_is_inserted_in_order():
    lines = apply_change(set_at("steps", 1, "name", value="Send it")).split("\n")
    assert lines[lines.index("  - id: send") + 1] == "    name: Send it"


def test_moved_steps_keep_their_comments():
    def reverse(data: dict[str, Any]) -> None:
        data["steps"].reverse()

    assert apply_change(reverse) == dedent("""\
        # Digest
        # of the day
        name: daily-digest   # short
        version: 1.0

        triggers: [manual]   # for now

        # What is done
        steps:
          - id: wait
            type: wait
            config:
              # long
              seconds: 5

          # ---- Sending ----

          # sends
          - id: send
            type: http
            depends_on: gather
            config: {url: "https://x.org", method: post}  # in one line

          # gathers
          - id: gather   # first
            type: agent
            depends_on:
            condition: '{{ true }}'
            config:
              bot: ada  # who
              prompt: Hello   # greeting

              model: haiku
        # the end
        """)


def test_separate_comment_is_kept_when_step_is_removed():
    def drop(data: dict[str, Any]) -> None:
        del data["steps"][1]

    removed, added = difference(apply_change(drop))
    assert "  # ---- Sending ----" not in removed
    assert "  # sends" in removed
    assert added == []


def test_new_step_follows_existing_layout():
    def add(data: dict[str, Any]) -> None:
        data["steps"].append({"id": "new", "type": "wait", "config": {"type": "wait", "seconds": 1}})

    text = apply_change(add)
    assert "\n\n  - id: new\n    type: wait\n    config:\n      seconds: 1\n# the end\n" in text


def test_first_step_can_be_removed():
    def drop(data: dict[str, Any]) -> None:
        del data["steps"][0]
        data["steps"][0]["depends_on"] = []

    assert (
        "# What is done\nsteps:\n  # ---- Sending ----\n\n  # sends\n  - id: send\n    type: http\n    config:"
        in apply_change(drop)
    )


def test_step_with_changed_type_keeps_position():
    def change_type(data: dict[str, Any]) -> None:
        data["steps"][0] |= {"type": "wait", "config": {"type": "wait", "seconds": 1}}

    text = apply_change(change_type)
    assert "  # gathers\n  - id: gather   # first\n    type: wait\n" in text


@pytest.mark.parametrize("newline", ["\r\n", "\r"])
def test_line_endings_are_preserved(newline: str):
    before = BEFORE.replace("\n", newline)
    text = apply_change(set_at("steps", 0, "config", "prompt", value="a\nb"), before)
    assert "\n" not in text.replace(newline, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"a": None, "b": 1}, {"b": 1}),
        ({"": 0}, {"": 1}),
        ({"": {"": 0}, "b": 2}, {"b": 3}),
        ({"a": 1}, {"a": True}),
    ],
)
def test_json_types_are_distinguished(before: dict[str, Any], after: dict[str, Any]):
    data = {"name": "x", "metadata": before, "steps": [{"id": "a", "type": "wait", "config": {"seconds": 1}}]}
    text = "# kept\n" + read_data(data).source
    assert apply_change(set_at("metadata", value=after), text).startswith("# kept\n")


def test_invalid_text_is_replaced():
    definition = read_source(BEFORE).definition
    assert definition
    assert write(definition, "name: [") == write(definition, None)
    assert write(definition, "# JSON\n" + str({"name": "x"})) == write(definition, None)


def test_normalized_style():
    data = {
        "name": "x",
        "description": "one\ntwo",
        "triggers": [{"type": "cron", "schedule": "daily at 9am"}],
        "steps": [
            {
                "id": "a",
                "type": "http",
                "config": {"url": "https://x.org", "body": {"a": [1, 2], "b": "{{ trigger.b }}"}},
            },
            {
                "id": "b",
                "depends_on": ["a"],
                "type": "wait",
                "config": {"seconds": 5.0},
                "ui": {"position": {"x": 1.5, "y": 2}},
            },
        ],
        "outputs": {"c": "yes"},
    }
    assert read_data(data).source == dedent("""\
        name: x

        description: |-
          one
          two

        triggers:
          - type: cron
            schedule: daily at 9am

        steps:
          - id: a
            type: http
            config:
              url: https://x.org
              body:
                a: [1, 2]
                b: '{{ trigger.b }}'

          - id: b
            type: wait
            depends_on: [a]
            config:
              seconds: 5
            ui:
              position: {x: 1.5, y: 2}

        outputs:
          c: 'yes'
        """)
