"""The Messages API, used through Anthropic's client."""

from typing import Any
from unittest.mock import ANY

import anthropic
import httpx2
import pytest
from tests.demo.clients import answered, anthropic_client, ask, one_turn, said, stream
from tests.support.models import StartModels

TOOLS: list[Any] = [{"name": "read_file", "input_schema": {"type": "object", "properties": {}}}]
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


def test_stream_has_thinking_text_and_parallel_tool_calls(model_server: StartModels):
    server = model_server(CODING)
    with anthropic_client(server) as api, api.messages.stream(**ask("fix calc.py")) as events:
        kinds = [event.type for event in events]
        message = events.get_final_message()
    assert said(message) == [
        {"type": "thinking", "thinking": "I should look first.", "signature": ANY},
        {"type": "text", "text": "Let me look at calc.py."},
        {"type": "tool_use", "id": ANY, "name": "list_directory", "input": {"path": "."}},
        {"type": "tool_use", "id": ANY, "name": "read_file", "input": {"path": "calc.py"}},
    ]
    assert message.stop_reason == "tool_use"
    assert kinds.count("input_json") > 2
    assert kinds[-1] == "message_stop"


def test_stream_and_whole_answer_are_equal(model_server: StartModels):
    server = model_server(CODING)
    with anthropic_client(server) as api:
        whole = api.messages.create(**ask("fix calc.py"))
    streamed = stream(server, "fix calc.py")
    assert said(whole) == said(streamed)
    assert (whole.id, whole.stop_reason, whole.usage.input_tokens, whole.usage.output_tokens) == (
        streamed.id,
        streamed.stop_reason,
        streamed.usage.input_tokens,
        streamed.usage.output_tokens,
    )


def test_stream_events_match_the_real_api(model_server: StartModels):
    server = model_server(one_turn(text="Hi", tools=[{"look": {"a": 1}}]))
    answer = httpx2.post(f"{server.url}/v1/messages", json=ask(stream=True))
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["request-id"] == "req_000001"
    assert answer.headers["anthropic-ratelimit-requests-limit"] == "4000"
    assert [
        line.removeprefix("event: ") for line in answer.text.splitlines() if line.startswith("event: ")
    ] == [
        "message_start",
        "ping",
        "content_block_start",
        "content_block_delta",
        "content_block_stop",
        "content_block_start",
        "content_block_delta",
        "content_block_delta",
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_next_turn_is_found_by_counting_replies(model_server: StartModels):
    server = model_server(CODING)
    with anthropic_client(server) as api:
        first = api.messages.create(**ask("fix calc.py"))
        messages: Any = answered(first, "a listing", "the first line\nthe second")
        messages[0]["content"] = "fix calc.py"
        second = api.messages.create(model="m", max_tokens=100, messages=messages)
        again = api.messages.create(model="m", max_tokens=100, messages=messages)
    assert said(second) == [{"type": "text", "text": "It says: the first line"}]
    assert (second.id, said(second)) == (again.id, said(again))
    assert [(entry.scene, entry.turn, entry.status) for entry in server.requests()] == [
        ("coding", 0, 200),
        ("coding", 1, 200),
        ("coding", 1, 200),
    ]
    assert (server.stats().paid, server.stats().repeated) == (3, 1)


def test_changed_thinking_is_rejected(model_server: StartModels):
    server = model_server(one_turn(thinking="A thought.", redacted_thinking="c2VjcmV0", text="Said."))
    first = stream(server)
    assert said(first)[1] == {"type": "redacted_thinking", "data": "c2VjcmV0"}
    good: Any = [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": said(first)},
        {"role": "user", "content": "and now?"},
    ]
    with anthropic_client(server) as api:
        api.messages.create(model="m", max_tokens=10, messages=good)
        good[1]["content"][0]["thinking"] = "Another thought."
        with pytest.raises(anthropic.BadRequestError, match="Invalid `signature`"):
            api.messages.create(model="m", max_tokens=10, messages=good)


def test_default_answer_says_it_is_scripted(model_server: StartModels):
    words = 'This answer comes from a script; no model was called. You said: "Good morning".'
    assert said(stream(model_server(), "Good  morning")) == [{"type": "text", "text": words}]


@pytest.mark.parametrize("missing", ["model", "max_tokens", "messages"])
def test_missing_field_is_named(model_server: StartModels, missing: str):
    body = {name: value for name, value in ask().items() if name != missing}
    with (
        anthropic_client(model_server()) as api,
        pytest.raises(anthropic.BadRequestError, match=f"{missing}: Field required") as refused,
    ):
        api.post("/v1/messages", body=body, cast_to=object)
    assert refused.value.body == {
        "type": "error",
        "error": {"type": "invalid_request_error", "message": f"{missing}: Field required"},
        "request_id": "req_000001",
    }


USE = {"type": "tool_use", "id": "t1", "name": "read_file", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "t1", "content": "x"}


@pytest.mark.parametrize(
    ("history", "words"),
    [
        ([("user", "a"), ("assistant", [USE]), ("user", "b")], "without `tool_result` blocks"),
        ([("user", "a"), ("assistant", "b"), ("user", [RESULT])], "unexpected `tool_use_id`"),
        ([("user", "a"), ("assistant", [USE, USE]), ("user", [RESULT])], "ids must be unique"),
        ([("assistant", "a")], "first message must use"),
    ],
)
def test_inconsistent_history_is_rejected(
    model_server: StartModels, history: list[tuple[str, Any]], words: str
):
    messages: Any = [{"role": role, "content": content} for role, content in history]
    with anthropic_client(model_server()) as api, pytest.raises(anthropic.BadRequestError, match=words):
        api.messages.create(model="m", max_tokens=10, messages=messages)


def test_results_can_be_in_several_messages(model_server: StartModels):
    history = [("user", "a"), ("assistant", [USE, {**USE, "id": "t2"}])]
    history += [("user", [RESULT]), ("user", [{**RESULT, "tool_use_id": "t2"}])]
    messages: Any = [{"role": role, "content": content} for role, content in history]
    assert stream(model_server(), messages=messages).stop_reason == "end_turn"


def test_only_valid_keys_are_accepted(model_server: StartModels):
    server = model_server({"keys": ["sk-right"]})
    with anthropic_client(server, api_key="sk-right") as api:
        api.messages.create(**ask())
    with (
        anthropic_client(server, api_key="sk-wrong") as api,
        pytest.raises(anthropic.AuthenticationError, match="invalid x-api-key"),
    ):
        api.messages.create(**ask())
    assert httpx2.post(f"{server.url}/v1/messages", json=ask()).json()["error"] == {
        "type": "authentication_error",
        "message": "x-api-key header is required",
    }


def test_models_are_listed_and_unknown_ones_not_found(model_server: StartModels):
    with anthropic_client(model_server({"models": ["one", "two"]})) as api:
        assert [model.id for model in api.models.list()] == ["one", "two"]
        assert api.models.retrieve("two").id == "two"
        assert api.messages.create(**ask(model="one")).model == "one"
        with pytest.raises(anthropic.NotFoundError, match="model: three"):
            api.messages.create(**ask(model="three"))


def test_tokens_are_counted_without_charge(model_server: StartModels):
    server = model_server()
    body = ask("word " * 100, system="Be brief.", tools=TOOLS)
    with anthropic_client(server) as api:
        paid = api.messages.create(**body).usage.input_tokens
        del body["max_tokens"]
        assert api.messages.count_tokens(**body).input_tokens == paid > 125


def test_cache_is_written_once_then_read(model_server: StartModels):
    system: Any = [{"type": "text", "text": "rule " * 2000, "cache_control": {"type": "ephemeral"}}]
    with anthropic_client(model_server()) as api:
        first = api.messages.create(**ask(system=system)).usage
        second = api.messages.create(**ask("something else", system=system)).usage
    assert first.cache_creation_input_tokens == second.cache_read_input_tokens == 2507
    assert first.cache_read_input_tokens == second.cache_creation_input_tokens == 0
    assert 0 < first.input_tokens < second.input_tokens < 20


def test_five_breakpoints_are_rejected(model_server: StartModels):
    mark = {"type": "ephemeral"}
    blocks = [{"type": "text", "text": f"part {number}", "cache_control": mark} for number in range(5)]
    with (
        anthropic_client(model_server()) as api,
        pytest.raises(anthropic.BadRequestError, match="A maximum of 4 blocks with cache_control"),
    ):
        api.messages.create(**ask(messages=[{"role": "user", "content": blocks}]))


def test_wrong_path_is_rejected_in_the_format_of_the_api(model_server: StartModels):
    with anthropic_client(model_server()) as api, pytest.raises(anthropic.NotFoundError, match="/v1/nothing"):
        api.post("/v1/nothing", body={}, cast_to=object)


def test_broken_json_is_a_bad_request(model_server: StartModels):
    answer = httpx2.post(f"{model_server().url}/v1/messages", content=b'{"model": ')
    assert answer.status_code == 400
    assert answer.json()["error"]["type"] == "invalid_request_error"
