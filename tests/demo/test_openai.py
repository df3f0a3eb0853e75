"""The Chat Completions API, used through OpenAI's client."""

from typing import Any
from unittest.mock import ANY

import httpx2
import openai
import pytest
from pydantic import BaseModel
from tests.demo.clients import openai_client
from tests.support.models import StartModels

SCRIPT: dict[str, Any] = {
    "scenes": {
        "only": {
            "turns": [
                {
                    "thinking": "Hm.",
                    "text": "Let me look at both.",
                    "tools": [{"read_file": {"path": "a.py"}}, {"read_file": {"path": "b.py"}}],
                },
                {"text": "The last one says {{ result }}."},
            ]
        }
    }
}
HELLO: Any = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def test_whole_answer_has_text_tool_calls_and_usage(model_server: StartModels):
    with openai_client(model_server(SCRIPT)) as api:
        answer = api.chat.completions.create(**HELLO)
    [choice] = answer.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content == "Let me look at both."
    assert [call.model_dump() for call in choice.message.tool_calls or []] == [
        {"id": ANY, "type": "function", "function": {"name": "read_file", "arguments": '{"path": "a.py"}'}},
        {"id": ANY, "type": "function", "function": {"name": "read_file", "arguments": '{"path": "b.py"}'}},
    ]
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def test_stream_includes_usage_on_request(model_server: StartModels):
    with openai_client(model_server(SCRIPT)) as api:
        whole = api.chat.completions.create(**HELLO)
        with api.chat.completions.stream(**HELLO, stream_options={"include_usage": True}) as events:
            streamed = events.get_final_completion()
        chunks = list(api.chat.completions.create(**HELLO, stream=True))
    assert streamed.choices[0].message.content == whole.choices[0].message.content
    assert [call.id for call in streamed.choices[0].message.tool_calls or []] == [
        call.id for call in whole.choices[0].message.tool_calls or []
    ]
    assert streamed.usage == whole.usage
    assert all(chunk.usage is None for chunk in chunks)
    assert sum(bool(chunk.choices[0].delta.tool_calls) for chunk in chunks) == 4


def test_next_turn_follows_tool_results(model_server: StartModels):
    with openai_client(model_server(SCRIPT)) as api:
        first = api.chat.completions.create(**HELLO).choices[0].message
        results: Any = [
            {"role": "tool", "tool_call_id": call.id, "content": f"result {number}"}
            for number, call in enumerate(first.tool_calls or [])
        ]
        messages: Any = [*HELLO["messages"], first, *results]
        second = api.chat.completions.create(model="m", messages=messages)
        with pytest.raises(openai.BadRequestError, match="did not have response messages"):
            api.chat.completions.create(model="m", messages=[*messages[:-1], *HELLO["messages"]])
        with pytest.raises(openai.BadRequestError, match="must be a response"):
            api.chat.completions.create(model="m", messages=[*HELLO["messages"], *results])
    assert second.choices[0].message.content == "The last one says result 1."
    assert second.choices[0].finish_reason == "stop"


def test_long_prefix_is_cached_automatically(model_server: StartModels):
    system: Any = {"role": "system", "content": "rule " * 2000}
    with openai_client(model_server()) as api:
        first = api.chat.completions.create(model="m", messages=[system, *HELLO["messages"]]).usage
        other: Any = {"role": "user", "content": "something else"}
        second = api.chat.completions.create(model="m", messages=[system, other]).usage
    assert first is not None
    assert first.prompt_tokens_details is not None
    assert first.prompt_tokens_details.cached_tokens == 0
    assert second is not None
    assert second.prompt_tokens_details is not None
    assert second.prompt_tokens_details.cached_tokens == 2432


class Verdict(BaseModel):
    is_good: bool
    score: int
    reason: str


def test_structured_answer_matches_its_schema(model_server: StartModels):
    with openai_client(model_server()) as api:
        answer = api.chat.completions.parse(**HELLO, response_format=Verdict)
    assert answer.choices[0].message.parsed == Verdict(is_good=True, score=0, reason="scripted reason")


def test_forced_tool_is_called(model_server: StartModels):
    schema = Verdict.model_json_schema()
    tool: Any = {"type": "function", "function": {"name": "judge", "parameters": schema}}
    choice: Any = {"type": "function", "function": {"name": "judge"}}
    with openai_client(model_server()) as api:
        answer = api.chat.completions.create(**HELLO, tools=[tool], tool_choice=choice)
    [call] = answer.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert Verdict.model_validate_json(call.function.arguments).score == 0


def test_wrong_key_is_rejected_in_the_format_of_the_api(model_server: StartModels):
    server = model_server({"keys": ["sk-right"]})
    with (
        openai_client(server, api_key="sk-wrong-1234") as api,
        pytest.raises(openai.AuthenticationError) as refused,
    ):
        api.chat.completions.create(**HELLO)
    assert refused.value.body == {
        "message": "Incorrect API key provided: ***1234.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_api_key",
    }
    assert httpx2.get(f"{server.url}/v1/models").status_code == 401


def test_models_are_listed_and_unknown_ones_not_found(model_server: StartModels):
    with openai_client(model_server({"models": ["one", "two"]})) as api:
        assert [model.id for model in api.models.list()] == ["one", "two"]
        with pytest.raises(openai.NotFoundError, match="model: m"):
            api.chat.completions.create(**HELLO)


def test_unreadable_request_is_a_bad_request(model_server: StartModels):
    with (
        openai_client(model_server()) as api,
        pytest.raises(openai.BadRequestError, match=r"messages\.0\.role"),
    ):
        api.post("/chat/completions", body={"model": "m", "messages": [{"role": "king"}]}, cast_to=object)
