"""Servers for local models: their own endpoints, and their errors for long prompts."""

from typing import Any

import httpx2
import openai
import pytest
from tests.demo.clients import openai_client
from tests.support.models import StartModels

LONG: Any = {"model": "tiny", "messages": [{"role": "user", "content": "flour " * 1000}], "max_tokens": 100}


def server_of(kind: str) -> dict[str, Any]:
    return {"server": kind, "models": ["tiny"], "context_window": 1000}


@pytest.mark.parametrize(
    ("kind", "path", "found"),
    [
        ("llama_cpp", "/props", lambda page: page["default_generation_settings"]["n_ctx"]),
        ("vllm", "/v1/models", lambda page: page["data"][0]["max_model_len"]),
        ("ollama", "/api/ps", lambda page: page["models"][0]["context_length"]),
        ("lm_studio", "/api/v0/models", lambda page: page["data"][0]["loaded_context_length"]),
    ],
)
def test_server_reports_its_context_window(model_server: StartModels, kind: str, path: str, found: Any):
    server = model_server(server_of(kind))
    assert found(httpx2.get(f"{server.url}{path}").json()) == 1000


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("llama_cpp", "exceeds the available context size (1000 tokens)"),
        ("vllm", "maximum context length is 1000 tokens. However, you requested 100 output tokens"),
        ("lm_studio", "loaded with context length of only 1000 tokens"),
    ],
)
def test_long_prompt_is_rejected_as_that_server_does_it(model_server: StartModels, kind: str, words: str):
    with (
        openai_client(model_server(server_of(kind))) as api,
        pytest.raises(openai.BadRequestError) as refused,
    ):
        api.chat.completions.create(**LONG)
    assert words in str(refused.value.body)


def test_ollama_accepts_a_long_prompt(model_server: StartModels):
    with openai_client(model_server(server_of("ollama"))) as api:
        assert api.chat.completions.create(**LONG).choices[0].finish_reason == "stop"


def test_vllm_counts_the_requested_output(model_server: StartModels):
    server = model_server(server_of("vllm"))
    short: Any = {"model": "tiny", "messages": [{"role": "user", "content": "hello"}]}
    with openai_client(server) as api:
        assert api.chat.completions.create(**short, max_tokens=900)
        with pytest.raises(openai.BadRequestError):
            api.chat.completions.create(**short, max_tokens=1000)
