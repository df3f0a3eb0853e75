"""The scripted server used through pydantic-ai's models, as in Forge."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_ai import Agent, ModelHTTPError
from pydantic_ai.models import Model
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from pydantic_ai.providers.openai import OpenAIProvider
from tests.support.models import KEY, ModelServer, StartModels

CODING: dict[str, Any] = {
    "scenes": {
        "coding": {
            "turns": [
                {
                    "thinking": "I look first.",
                    "tools": [{"read_file": {"path": "a.py"}}, {"read_file": {"path": "b.py"}}],
                },
                {"text": "Written.", "tools": [{"write_file": {"path": "a.py", "content": "x = 2"}}]},
                {"text": "It said {{ result.write_file }}."},
            ]
        }
    }
}


@asynccontextmanager
async def model(server: ModelServer, api: str, **options: Any) -> AsyncIterator[Model]:
    if api == "anthropic":
        from anthropic import AsyncAnthropic

        async with AsyncAnthropic(base_url=server.url, api_key=KEY, **options) as client:
            yield AnthropicModel("scripted", provider=AnthropicProvider(anthropic_client=client))
    else:
        from openai import AsyncOpenAI

        async with AsyncOpenAI(base_url=f"{server.url}/v1", api_key=KEY, **options) as client:
            yield OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))


@pytest.mark.parametrize("api", ["anthropic", "openai"])
async def test_agent_runs_a_whole_scene(model_server: StartModels, api: str):
    server = model_server(CODING)
    files = {"a.py": "x = 1", "b.py": "y = 1"}

    def read_file(path: str) -> str:
        return files[path]

    def write_file(path: str, content: str) -> str:
        files[path] = content
        return f"{len(content)} characters"

    async with model(server, api) as scripted:
        agent = Agent(scripted, tools=[read_file, write_file])
        async with agent.run_stream_events("Fix it.") as events:
            last = [event async for event in events][-1]
    assert last.event_kind == "agent_run_result"
    assert last.result.output == "It said 5 characters."
    assert files["a.py"] == "x = 2"
    assert [(entry.turn, entry.is_stream, entry.status) for entry in server.requests()] == [
        (0, True, 200),
        (1, True, 200),
        (2, True, 200),
    ]


class Verdict(BaseModel):
    is_good: bool
    reasons: list[str]


@pytest.mark.parametrize("api", ["anthropic", "openai"])
async def test_structured_answer_needs_no_script(model_server: StartModels, api: str):
    async with model(model_server(), api) as scripted:
        answer = await Agent(scripted, output_type=Verdict).run("Is it good?")
    assert answer.output == Verdict(is_good=True, reasons=[])


async def test_overloaded_model_is_a_model_error(model_server: StartModels):
    script: dict[str, Any] = {"scenes": {"only": {"turns": [{"fault": 529}]}}}
    async with model(model_server(script), "anthropic", max_retries=0) as scripted:
        with pytest.raises(ModelHTTPError) as refused:
            await Agent(scripted).run("hello")
    assert refused.value.status_code == 529


async def test_cached_prompt_is_read_at_the_next_turn(model_server: StartModels):
    server = model_server(CODING)
    async with model(server, "anthropic") as scripted:
        agent = Agent(
            scripted, instructions="rule " * 2000, tools=[read_file, write_file], model_settings=CACHING
        )
        await agent.run("Fix it.")
    first, second, third = [entry.usage for entry in server.requests() if entry.usage is not None]
    assert first.cache_read_input_tokens == 0
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens
    assert third.cache_read_input_tokens == second.prompt_tokens - second.input_tokens


CACHING: Any = {"anthropic_cache": True, "anthropic_cache_instructions": True}


def read_file(path: str) -> str:
    return f"content of {path}"


def write_file(path: str, content: str) -> str:
    return f"wrote {len(content)} characters to {path}"
