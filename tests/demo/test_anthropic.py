"""The Messages API, through Anthropic's own client."""

from typing import Any
from unittest import mock

import anthropic
import pytest
from tests.support.models import KEY, ModelServer, StartModels

CODING: dict[str, Any] = {
    "scenes": {
        "coding": {
            "match": {"opening": "fix (?P<file>\\S+)"},
            "turns": [
                {
                    "thinking": "I should look first.",
                    "text": "Let me look at {{ match.file }}.",
                    "tools": [{"list_directory": {"path": "."}}, {"read_file": {"path": "{{ match.file }}"}}],
                },
                {"text": "It says: {{ result.read_file | first_line }}"},
            ],
        }
    }
}


ANY_TEXT = mock.ANY
FIELDS = {"type", "text", "thinking", "signature", "data", "id", "name", "input"}


def client(server: ModelServer, **options: Any) -> anthropic.Anthropic:
    return anthropic.Anthropic(base_url=server.url, api_key=KEY, **{"max_retries": 0, **options})


def ask(text: str, **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1000, "messages": [{"role": "user", "content": text}], **more}


def said(message: anthropic.types.Message) -> list[dict[str, Any]]:
    return [block.model_dump(exclude_none=True, include=FIELDS) for block in message.content]


def test_a_stream_has_thinking_text_and_parallel_tool_calls(model_server: StartModels):
    with client(model_server(CODING)) as api, api.messages.stream(**ask("fix calc.py")) as stream:
        kinds = [event.type for event in stream]
        message = stream.get_final_message()
    assert said(message) == [
        {"type": "thinking", "thinking": "I should look first.", "signature": ANY_TEXT},
        {"type": "text", "text": "Let me look at calc.py."},
        {"type": "tool_use", "id": ANY_TEXT, "name": "list_directory", "input": {"path": "."}},
        {"type": "tool_use", "id": ANY_TEXT, "name": "read_file", "input": {"path": "calc.py"}},
    ]
    assert message.stop_reason == "tool_use"
    assert kinds.count("input_json") > 2
    assert kinds[-1] == "message_stop"


def test_the_next_turn_is_found_by_counting_replies_and_can_use_results(model_server: StartModels):
    server = model_server(CODING)
    with client(server) as api:
        first = api.messages.create(**ask("fix calc.py"))
        calls = [block for block in first.content if block.type == "tool_use"]
        results = [
            {"type": "tool_result", "tool_use_id": call.id, "content": f"{call.name} said\nthis"}
            for call in calls
        ]
        messages: list[Any] = [
            {"role": "user", "content": "fix calc.py"},
            {"role": "assistant", "content": first.content},
            {"role": "user", "content": results},
        ]
        second = api.messages.create(model="m", max_tokens=100, messages=messages)
        again = api.messages.create(model="m", max_tokens=100, messages=messages)
    assert said(second) == [{"type": "text", "text": "It says: read_file said"}]
    assert (second.id, second.content) == (again.id, again.content)
    assert [(entry.scene, entry.turn, entry.status) for entry in server.requests()] == [
        ("coding", 0, 200),
        ("coding", 1, 200),
        ("coding", 1, 200),
    ]


def test_without_a_script_it_says_that_it_is_one(model_server: StartModels):
    with client(model_server()) as api:
        answer = api.messages.create(**ask("Good  morning"))
    words = 'This answer comes from a script; no model was asked. You said: "Good morning".'
    assert said(answer) == [{"type": "text", "text": words}]


@pytest.mark.parametrize("missing", ["model", "max_tokens", "messages"])
def test_what_is_missing_is_named(model_server: StartModels, missing: str):
    body = {name: value for name, value in ask("hello").items() if name != missing}
    with (
        client(model_server()) as api,
        pytest.raises(anthropic.BadRequestError, match=f"{missing}: Field required"),
    ):
        api.post("/v1/messages", body=body, cast_to=object)
