"""Conversations with slow, small and unready models on a server for local models."""

import asyncio
import json
from typing import Any

import httpx2
import pytest
from tests.support.chat_client import ROLES, BotClient, data
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels
from tests.support.timeouts import PATIENCE_S

import forge.bots.chat.answer_run
from forge.runs.attempt import Retry

TITLE = {"match": {"system": "Give the conversation"}, "turns": [{"text": "Tea"}]}
REMEMBER = {"match": {"system": "long-term memory"}, "turns": [{"json": {"facts": []}}]}
RESUMED = {"latest": "Go on from exactly"}


def script(*turns: dict[str, Any], resumed: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    scenes: dict[str, Any] = {"title": TITLE, "remember": REMEMBER}
    if resumed is not None:
        scenes["resumed"] = {"match": RESUMED, "turns": [resumed]}
    scenes["talk"] = {"turns": list(turns)}
    return {"server": "llama_cpp", "models": ["tiny"], "context_window": 8192, "scenes": scenes, **more}


async def open_local_bot(client: httpx2.AsyncClient, server: ModelServer) -> BotClient:
    body = {"base_url": f"{server.url}/v1", "server": server_kind(server)}
    data(await client.put("/api/v1/models/providers/local", json=body))
    price = {"input": 0, "output": 0, "context_window": 8192}
    data(await client.put("/api/v1/models/prices", params={"model": "local:tiny"}, json=price))
    for role in ROLES:
        data(await client.put(f"/api/v1/models/roles/{role}", json={"chain": ["local:tiny"]}))
    bot = data(await client.post("/api/v1/bots", json={"name": "Ada"}))
    return BotClient(client, bot["slug"])


def server_kind(server: ModelServer) -> str:
    owner = httpx2.get(f"{server.url}/v1/models").json()["data"][0]["owned_by"]
    server.reset()
    return {"llamacpp": "llama_cpp", "vllm": "vllm"}[owner]


def asked(server: ModelServer, system: str = "<soul>") -> list[Any]:
    """Return the messages of the bot's requests, without the system prompt."""
    bodies = [entry.body for entry in server.requests() if "messages" in entry.body]
    return [body["messages"][1:] for body in bodies if system in str(body["messages"][0]["content"])]


async def chat_events(live: Live, session_id: str, *, until: str) -> list[dict[str, Any]]:
    """Return the events of a conversation up to the first one of a type."""
    found: list[dict[str, Any]] = []
    async with asyncio.timeout(PATIENCE_S), live.socket() as socket:
        await socket.send(json.dumps({"type": "subscribe", "stream": f"session:{session_id}", "after": 0}))
        async for text in socket:
            for event in json.loads(text).get("events", []):
                found.append(event)
                if event["type"] == until:
                    return found
    raise AssertionError("the connection was closed")


async def stop_after(live: Live, bot: BotClient, session_id: str, characters: int) -> Any:
    """Stop the answer when this many characters were written, and return it."""
    async with asyncio.timeout(PATIENCE_S), live.socket() as socket:
        await socket.send(json.dumps({"type": "subscribe", "stream": f"session:{session_id}", "after": 0}))
        async for text in socket:
            events = json.loads(text).get("events", [])
            if any(e["type"] == "chat.delta" and e["data"]["offset"] >= characters for e in events):
                break
    await bot.post(f"/sessions/{session_id}/stop")
    await bot.wait_until_idle()
    return (await bot.messages(session_id))[-1]


async def test_loading_model_is_announced_and_asked_again(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "Ready.", "fault": {"kind": "loading", "times": 2}}))
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        turn = await bot.ask("Are you there?")
        session_id = turn["session"]["id"]
        events = await chat_events(live_forge, session_id, until="chat.retrying")
        waiting = (await bot.messages(session_id))[-1]
        answer = await bot.wait_for_answer(session_id)
        events = await chat_events(live_forge, session_id, until="chat.answered")
    retries = [event["data"]["retry"] for event in events if event["type"] == "chat.retrying"]
    assert [(retry["attempt"], retry["attempts"]) for retry in retries] == [(2, 8), (3, 8)]
    assert retries[0]["problem"]["message"] == (
        f"The model server at {server.url}/v1 is still loading the model."
    )
    assert waiting["status"] == "writing" and waiting["answer"]["retry"] in retries
    assert (answer["text"], answer["answer"]["retry"]) == ("Ready.", None)


async def test_duration_of_a_failed_answer_includes_the_retries(
    live_forge: Live, model_server: StartModels, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(forge.bots.chat.answer_run, "RETRY", Retry(attempts=3, first_delay_s=0.3))
    server = model_server(script({"text": "No.", "fault": "loading"}))
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        answer = await bot.say("Are you there?")
    assert (answer["status"], answer["error"]["code"]) == ("failed", "model_fault")
    assert len(asked(server)) == 3
    assert answer["answer"]["duration_ms"] >= 300 + 600
    assert answer["answer"]["retry"] is None


async def test_repetition_ends_the_answer_and_feeds_no_title(live_forge: Live, model_server: StartModels):
    loop = {"text": "I like tea, I really do. ", "fault": {"kind": "repetition", "repeats": 2000}}
    server = model_server(script(loop, {"text": "Tea, please."}))
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        answer = await bot.say("What do you drink?")
        await bot.wait_until_idle()
        session_id = answer["session_id"]
        assert asked(server, "Give the conversation") == []
        assert (await bot.session(session_id))["title"] == "What do you drink?"
        whole = await bot.say("Sorry?", session_id)
        await bot.wait_until_idle()
        titled = await bot.session(session_id)
    assert (answer["status"], answer["answer"]["stop"]) == ("done", "repeated")
    assert answer["text"].startswith("I like tea") and len(answer["text"]) < 1000
    assert whole["text"] == "Tea, please."
    assert titled["title"] == "Tea"


async def test_answer_cut_off_at_its_length_feeds_no_title_and_no_memory(
    live_forge: Live, model_server: StartModels
):
    server = model_server(script({"text": "Half of a sent", "stop": "max_tokens"}))
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        answer = await bot.say("I drink tea. And you?")
        await bot.post(f"/sessions/{answer['session_id']}/remember")
        await bot.wait_until_idle()
    assert answer["answer"]["stop"] == "length"
    assert asked(server, "Give the conversation") == []
    [extraction] = asked(server, "long-term memory")
    assert "I drink tea." in str(extraction) and "Half of a sent" not in str(extraction)


@pytest.mark.parametrize("kind", ["llama_cpp", "vllm"])
async def test_resumed_answer_is_continued_by_the_server(
    live_forge: Live, model_server: StartModels, kind: str
):
    words = "one two three four five six seven eight nine ten"
    talk = {"text": words, "delay_s": 0.2}
    server = model_server(script(talk, server=kind, piece_chars=4))
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        turn = await bot.ask("Count")
        session_id = turn["session"]["id"]
        kept = await stop_after(live_forge, bot, session_id, 16)
        await bot.post(f"/sessions/{session_id}/resume")
        whole = await bot.wait_for_answer(session_id)
    sent = [entry.body for entry in server.requests() if "messages" in entry.body]
    resumed = next(body for body in sent if body["messages"][-1]["role"] == "assistant")
    assert resumed["messages"][-1]["content"] == kept["text"]
    assert resumed.get("continue_final_message") is (True if kind == "vllm" else None)
    assert whole["text"].startswith(kept["text"]) and whole["status"] == "done"


async def test_resumed_answer_that_starts_again_is_not_repeated(live_forge: Live, model_server: StartModels):
    words = "one two three four five six seven eight nine ten"
    server = model_server(script({"text": words, "delay_s": 0.2}, resumed={"text": words}, piece_chars=4))
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        body = {"base_url": f"{server.url}/v1/", "kind": "openai"}  # as an unknown server: it cannot continue
        data(await client.put("/api/v1/models/providers/local", json=body))
        turn = await bot.ask("Count")
        session_id = turn["session"]["id"]
        kept = await stop_after(live_forge, bot, session_id, 16)
        assert words.startswith(kept["text"]) and kept["text"] != words
        await bot.post(f"/sessions/{session_id}/resume")
        whole = await bot.wait_for_answer(session_id)
    assert asked(server)[-1][-1]["content"].startswith("Your answer above was interrupted")
    assert whole["text"] == words


async def test_question_larger_than_the_context_window_names_both_numbers(
    live_forge: Live, model_server: StartModels
):
    server = model_server(script({"text": "Hm."}))
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        answer = await bot.say("flour " * 6000)
    assert (answer["status"], answer["error"]["code"]) == ("failed", "context_full")
    assert "but the context window of local:tiny is 8,192 tokens." in answer["error"]["message"]
    assert "forge models price local:tiny --context" in answer["error"]["hint"]
    assert asked(server) == []


async def test_title_yields_to_a_question(live_forge: Live, model_server: StartModels):
    slow_title = {"match": TITLE["match"], "turns": [{"text": "A long title about tea", "delay_s": 0.3}]}
    scenes = {"title": slow_title, "talk": {"turns": [{"text": "Tea."}]}}
    server = model_server({**script(), "scenes": scenes, "piece_chars": 2})
    async with live_forge.client() as client:
        bot = await open_local_bot(client, server)
        first = await bot.say("What do you drink?")
        async with asyncio.timeout(PATIENCE_S):
            while not asked(server, "Give the conversation"):
                await asyncio.sleep(0.01)
        second = await bot.say("And now?", first["session_id"])
        before = [entry.scene for entry in server.requests() if entry.scene]
        await bot.wait_until_idle()
    assert second["text"] == "Tea."
    assert before[:3] == ["talk", "title", "talk"]
    assert [entry.outcome for entry in server.requests() if entry.scene][1] == "disconnected"
