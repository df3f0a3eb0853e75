"""Scripts: parsing, errors, and selection of scenes, turns and values."""

from typing import Any

import pytest
from tests.demo.clients import answered, one_turn, said, stream
from tests.support.models import StartModels

from forge.demo.model_script import parse_script, script_from
from forge.errors import ConfigError

WRONG = """\
delay_s: -1
colour: blue
scenes:
  empty:
    turns: []
  bad:
    match: {opening: "(unclosed", model: 3}
    turns:
      - text: "{{ weather }}"
      - text: "{{ result | shout }}"
      - text: Hi
        json: {}
      - tools:
          - read_file: 3
      - fault: explode
      - fault: {kind: 429, times: 0}
      - text: Hi
        fault: duplicate_ids
"""


def problems(text: str) -> list[str]:
    with pytest.raises(ConfigError) as wrong:
        parse_script(text, "my.yaml")
    assert wrong.value.exit_code == 2
    return wrong.value.problems


def test_every_problem_has_line_and_field():
    found = problems(WRONG)
    begins = [line.split(": ")[:2] for line in found]
    assert begins == [
        ["my.yaml:1", "delay_s"],
        ["my.yaml:4", "scenes.empty"],
        ["my.yaml:7", "scenes.bad.match.model"],
        ["my.yaml:7", "scenes.bad.match.opening"],
        ["my.yaml:9", "scenes.bad.turns[0].text"],
        ["my.yaml:10", "scenes.bad.turns[1].text"],
        ["my.yaml:11", "scenes.bad.turns[2]"],
        ["my.yaml:14", "scenes.bad.turns[3].tools[0]"],
        ["my.yaml:15", "scenes.bad.turns[4].fault[0].kind"],
        ["my.yaml:16", "scenes.bad.turns[5].fault[0].times"],
        ["my.yaml:17", "scenes.bad.turns[6]"],
        ["my.yaml:2", "colour"],
    ]
    assert found[4].endswith(
        "{{ weather }}: unknown value `weather`; known are turn, model, system, opening, latest, result, tools, "
        "result.TOOL, match.GROUP"
    )
    assert found[6].endswith("a turn has `text` or `json`, not both")
    assert found[7].endswith("the input of read_file must be a mapping")
    assert found[10].endswith("the fault duplicate_ids needs 2 tool calls in its turn")
    assert found[11].endswith("unknown field")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("scenes: [", "my.yaml:1: invalid YAML: "),
        ("delay_s: 1\ndelay_s: 2", "my.yaml:2: duplicate key delay_s"),
        ("- a list", "my.yaml:1: Input should be a valid dictionary"),
        (
            "scenes: {a: {turns: [{text: '{{ match.name }}'}]}}",
            "my.yaml:1: scenes.a: no pattern of `match` has the group name",
        ),
        (
            "scenes: {a: {position: x, turns: [{text: a}]}}",
            "my.yaml:1: scenes.a: `position` must have exactly one group",
        ),
    ],
)
def test_problem_has_a_readable_message(text: str, problem: str):
    [found] = problems(text)
    assert found.startswith(problem)


def test_empty_script_is_valid():
    assert parse_script("", "my.yaml") == script_from({}, "my.yaml")


def scenes(**named: Any) -> dict[str, Any]:
    return {"scenes": named}


def words(message: Any) -> str:
    return said(message)[0]["text"]


def test_first_matching_scene_is_used(model_server: StartModels):
    server = model_server(
        scenes(
            by_model={"match": {"model": "fast-*"}, "turns": [{"text": "by model {{ model }}"}]},
            by_system={"match": {"system": "^You are a judge"}, "turns": [{"text": "by system"}]},
            by_text={"match": {"text": "(?i)please"}, "turns": [{"text": "by text"}]},
            by_both={
                "match": {"opening": "a(.)c", "latest": "x(?P<end>.)z"},
                "turns": [{"text": "{{ match.end }}"}],
            },
        )
    )
    assert words(stream(server, model="fast-1")) == "by model fast-1"
    assert words(stream(server, system="You are a judge.")) == "by system"
    assert words(stream(server, "Please!")) == "by text"
    assert words(stream(server, "abc xyz")) == "y"
    assert words(stream(server, "abc")).startswith("This answer comes from a script")


@pytest.mark.parametrize(
    ("after", "third"), [("repeat", "two"), ("restart", "one"), ("stop", "This answer comes from a script")]
)
def test_last_turn_is_followed_by_after(model_server: StartModels, after: str, third: str):
    server = model_server(scenes(only={"turns": [{"text": "one"}, {"text": "two"}], "after": after}))
    history = [{"role": role, "content": "x"} for role in ("user", "assistant", "user", "assistant", "user")]
    assert words(stream(server, messages=history)).startswith(third)


def test_turn_can_be_repeated(model_server: StartModels):
    turn = {"repeat": 3, "text": "Step {{ turn }}", "tools": [{"read": {"line": "{{ turn | number }}"}}]}
    server = model_server(scenes(only={"turns": [turn, {"text": "Done."}]}))
    messages: list[dict[str, Any]] = [{"role": "user", "content": "go"}]
    seen: list[Any] = []
    for _ in range(4):
        reply = stream(server, messages=messages)
        seen.append([block.get("text") or block["input"] for block in said(reply)])
        if reply.stop_reason == "tool_use":
            messages += answered(reply, "ok")[1:]
    assert seen == [["Step 0", {"line": 0}], ["Step 1", {"line": 1}], ["Step 2", {"line": 2}], ["Done."]]


def test_compacted_conversation_finds_its_turn_by_number(model_server: StartModels):
    turns = [{"repeat": 10, "text": "Turn {{ turn }} done. Next: {{ turn }}"}]
    server = model_server(scenes(only={"turns": turns, "position": "continue with (\\d+)"}))
    assert words(stream(server, "Summary of what was: continue with 7")).startswith("Turn 7")


def test_templates_can_use_values_of_the_request(model_server: StartModels):
    text = (
        "{{ opening | chars: 5 }}/{{ latest }}/{{ system | lines: 1 }}/{{ tools }}/"
        "{{ result | json: files.1 }}/{{ result.look | find: a(b|c) }}"
    )
    server = model_server(
        scenes(only={"turns": [{"tools": [{"look": {}}]}, {"text": text}]}),
    )
    tools = [{"name": "look", "input_schema": {}}]
    first = stream(server, tools=tools)
    messages = answered(first, '{"files": ["x", "yac"]}')
    answer = stream(server, messages=messages, system="Line one\nLine two", tools=tools)
    assert words(answer) == "hello/hello/Line one/look/yac/c"


def test_answer_can_be_json(model_server: StartModels):
    server = model_server(one_turn(json={"said": "{{ latest }}", "count": 3}))
    assert words(stream(server)) == '{"said": "hello", "count": 3}'


def test_stop_reason_can_be_set(model_server: StartModels):
    assert stream(model_server(one_turn(text="a", stop="stop_sequence"))).stop_reason == "stop_sequence"
