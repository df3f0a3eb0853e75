"""Ask a server for local models about itself, and use what it reports."""

from typing import Any

import httpx2
import pytest
from tests.support.chat_client import data, problem
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels

CALL = {"match": {"latest": "Call the tool"}, "turns": [{"tools": [{"report": {"word": "ready"}}]}]}
TEXT_CALL = {
    "match": {"latest": "Call the tool"},
    "turns": [{"text": '```json\n{"name": "report", "arguments": {"word": "ready"}}\n```'}],
}
COUNT = {
    "match": {"latest": "Count from 1"},
    "turns": [{"text": " ".join(map(str, range(1, 41))), "delay_s": 0.01}],
}


def script(server: str | None, **more: Any) -> dict[str, Any]:
    scenes = {"count": COUNT, "call": CALL}
    return {"server": server, "models": ["tiny"], "context_window": 8192, "scenes": scenes, **more}


async def add(client: httpx2.AsyncClient, server: ModelServer, **more: Any) -> Any:
    body = {"base_url": f"{server.url}/v1", **more}
    return data(await client.put("/api/v1/models/providers/local", json=body))


async def probe(client: httpx2.AsyncClient, **body: Any) -> Any:
    return data(await client.post("/api/v1/models/providers/local/probe", json=body))


@pytest.mark.parametrize("kind", ["llama_cpp", "ollama", "vllm", "lm_studio"])
async def test_probe_detects_the_server_and_prices_its_models(
    live_forge: Live, model_server: StartModels, kind: str
):
    server = model_server(script(kind))
    async with live_forge.client() as client:
        added = await add(client, server)
        found = await probe(client)
        models = data(await client.get("/api/v1/models"))
        chosen = await client.put("/api/v1/models/roles/utility", json={"chain": ["local:tiny"]})
    assert (added["server"], added["parallel"]) == (None, None)
    assert (found["provider"]["server"], found["provider"]["parallel"]) == (kind, 1)
    assert found["models"] == [{"name": "tiny", "context_window": 8192, "is_loaded": True}]
    assert found["priced"] == ["local:tiny"]
    price = models["prices"]["local:tiny"]
    assert (price["input"], price["output"], price["context_window"]) == (0, 0, 8192)
    assert data(chosen)["problem"] is None
    trial = found["trial"]
    assert (trial["model"], trial["problem"]) == ("local:tiny", None)
    assert (trial["tools"], trial["schema_support"]) == ("native", True)
    assert trial["first_token_ms"] is not None and trial["tokens_per_second"] > 0
    sent = [entry.body for entry in server.requests() if entry.path.endswith("/completions")]
    assert len(sent) == 3
    assert {body["max_tokens"] for body in sent} == {256, 512}, "local servers know the older name only"


async def test_probe_reports_calls_written_as_text(live_forge: Live, model_server: StartModels):
    server = model_server(script("llama_cpp", scenes={"call": TEXT_CALL}))
    async with live_forge.client() as client:
        await add(client, server)
        assert (await probe(client))["trial"]["tools"] == "text"


async def test_preset_has_the_usual_address_of_its_server(live_forge: Live):
    async with live_forge.client() as client:
        saved = data(await client.put("/api/v1/models/providers/ollama", json={"server": "ollama"}))
        wrong = {"server": "ollama", "kind": "anthropic"}
        refused = await client.put("/api/v1/models/providers/ollama", json=wrong)
    assert (saved["kind"], saved["base_url"]) == ("openai", "http://127.0.0.1:11434/v1")
    assert (saved["server"], saved["parallel"], saved["key_name"]) == ("ollama", 1, None)
    assert problem(refused) == (422, "invalid")


async def test_context_window_set_by_a_person_is_kept(live_forge: Live, model_server: StartModels):
    server = model_server(script("llama_cpp"))
    where = {"model": "local:tiny"}
    async with live_forge.client() as client:
        await add(client, server)
        mine = data(
            await client.put(
                "/api/v1/models/prices", params=where, json={"input": 0, "output": 0, "context_window": 4096}
            )
        )
        found = await probe(client)
        prices = data(await client.get("/api/v1/models"))["prices"]
        raised = data(await client.put("/api/v1/models/prices", params=where, json={"context_window": 6000}))
    assert mine["context_window"] == prices["local:tiny"]["context_window"] == 4096
    assert found["priced"] == []
    assert (raised["input"], raised["output"], raised["context_window"]) == (0, 0, 6000)


async def test_price_without_a_window_asks_the_server(live_forge: Live, model_server: StartModels):
    known, unknown = model_server(script("vllm")), model_server({"models": ["tiny"]})
    free = {"input": 0, "output": 0}
    async with live_forge.client() as client:
        await add(client, known)
        where = {"model": "local:tiny"}
        found = data(await client.put("/api/v1/models/prices", params=where, json=free))
        body = {"base_url": f"{unknown.url}/v1"}
        data(await client.put("/api/v1/models/providers/other", json=body))
        asked = await client.put("/api/v1/models/prices", params={"model": "other:tiny"}, json=free)
    assert found["context_window"] == 8192
    assert problem(asked) == (422, "invalid")
    error = asked.json()["errors"][0]
    assert error["field"] == "context_window"
    assert "PUT /api/v1/models/prices?model=other:tiny" in error["hint"]


async def test_provider_that_does_not_answer_is_a_problem_of_the_result(live_forge: Live):
    async with live_forge.client() as client:
        body = {"base_url": "http://127.0.0.1:1/v1"}
        data(await client.put("/api/v1/models/providers/local", json=body))
        found = await probe(client)
        unknown = await client.post("/api/v1/models/providers/nobody/probe", json={})
    assert "http://127.0.0.1:1 cannot be reached" in found["problem"]
    assert (found["models"], found["trial"]) == ([], None)
    assert problem(unknown) == (404, "not_found")


async def test_failed_trial_still_lists_the_models(live_forge: Live, model_server: StartModels):
    broken = {"only": {"turns": [{"text": "no", "fault": "loading"}]}}
    server = model_server(script("llama_cpp", scenes=broken))
    async with live_forge.client() as client:
        await add(client, server)
        found = await probe(client)
    assert [model["name"] for model in found["models"]] == ["tiny"]
    assert "still loading the model" in found["trial"]["problem"]
