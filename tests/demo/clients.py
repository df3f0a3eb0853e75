"""The real clients, connected to a scripted server, with helpers to call it."""

from typing import Any

import anthropic
import openai
from tests.support.models import KEY, ModelServer

FIELDS = {"type", "text", "thinking", "signature", "data", "id", "name", "input"}


def anthropic_client(server: ModelServer, **options: Any) -> anthropic.Anthropic:
    options = {"api_key": KEY, "max_retries": 0, **options}
    http = anthropic.DefaultHttpxClient(verify=False)  # reading certificates takes longer than most tests
    return anthropic.Anthropic(base_url=server.url, http_client=http, **options)


def openai_client(server: ModelServer, **options: Any) -> openai.OpenAI:
    options = {"api_key": KEY, "max_retries": 0, **options}
    http = openai.DefaultHttpxClient(verify=False)
    return openai.OpenAI(base_url=f"{server.url}/v1", http_client=http, **options)


def ask(text: str = "hello", **more: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 1000, "messages": [{"role": "user", "content": text}], **more}


def said(message: anthropic.types.Message) -> list[dict[str, Any]]:
    """Return a message without the fields that only some clients know."""
    return [block.model_dump(exclude_none=True, include=FIELDS) for block in message.content]


def stream(server: ModelServer, text: str = "hello", **more: Any) -> anthropic.types.Message:
    with anthropic_client(server) as api, api.messages.stream(**ask(text, **more)) as events:
        return events.get_final_message()


def one_turn(**turn: Any) -> dict[str, Any]:
    return {"scenes": {"only": {"turns": [turn]}}}


def answered(first: Any, *results: str) -> list[dict[str, Any]]:
    """Return the messages to send next, if the tools of the first answer returned these results."""
    calls = [block for block in first.content if block.type == "tool_use"]
    given = [
        {"type": "tool_result", "tool_use_id": call.id, "content": result}
        for call, result in zip(calls, results, strict=True)
    ]
    return [
        {"role": "user", "content": "hello"},
        {"role": "assistant", "content": first.content},
        {"role": "user", "content": given},
    ]
