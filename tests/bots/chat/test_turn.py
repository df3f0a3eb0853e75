"""One question and its answer, in a whole Forge, on both databases."""

import asyncio
import json
from typing import Any

import pytest
from tests.support.chat_client import data, open_bot_client, problem
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels
from tests.support.timeouts import PATIENCE_S

TITLE = {"match": {"system": "Give the conversation"}, "turns": [{"text": '"Small talk about tea."'}]}


def script(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"scenes": {"title": TITLE, "talk": {"turns": list(turns), "after": "repeat"}}, **more}


def bodies(server: ModelServer, system: str = "<soul>") -> list[Any]:
    """Return the requests of the bot to the model, in order."""
    return [entry.body for entry in server.requests() if system in str(entry.body.get("system"))]


async def wait_for_delta(live: Live, session_id: str, characters: int) -> None:
    """Wait until this many characters of the answer were streamed."""
    async with asyncio.timeout(PATIENCE_S), live.socket() as socket:
        await socket.send(json.dumps({"type": "subscribe", "stream": f"session:{session_id}", "after": 0}))
        async for text in socket:
            for event in json.loads(text).get("events", []):
                if event["type"] == "chat.delta" and event["data"]["offset"] >= characters:
                    return


async def test_question_is_answered_with_the_settings_of_the_bot(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "Tea, please."}))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        change = {"temperature": 0.3, "max_tokens": 777}
        data(await client.patch("/api/v1/bots/ada", json=change))
        turn = await bot.ask("What do you drink?")
        assert (turn["question"]["text"], turn["answer"]["status"]) == ("What do you drink?", "writing")
        answer = await bot.wait_for_answer(turn["session"]["id"])
        (sent,) = bodies(server)
    assert (answer["text"], answer["status"]) == ("Tea, please.", "done")
    facts = answer["answer"]
    assert (facts["model"], facts["temperature"], facts["max_tokens"]) == ("scripted:scripted", 0.3, 777)
    assert (sent["temperature"], sent["max_tokens"]) == (0.3, 777)
    assert facts["usage"]["output"] > 0 and facts["cost_micros"] > 0 and facts["duration_ms"] > 0
    assert facts["soul_version"] == 1


async def test_history_is_sent_and_grows_only_at_its_end(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "One."}, {"text": "Two."}, {"text": "Three."}))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        first = await bot.say("first")
        await bot.say("second", first["session_id"])
        await bot.say("third", first["session_id"])
        sent = bodies(server)
    texts = [[part["text"] for message in body["messages"] for part in message["content"]] for body in sent]
    assert texts == [
        ["first"],
        ["first", "One.", "second"],
        ["first", "One.", "second", "Two.", "third"],
    ]
    assert len({str(body["system"]) for body in sent}) == 1


async def test_title_is_generated_unless_set_by_a_person(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "Tea."}))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        answer = await bot.say("What  do\nyou drink?")
        await bot.wait_until_idle()
        assert (await bot.session(answer["session_id"]))["title"] == "Small talk about tea"
        other = await bot.ask("Again")
        title = {"title": "Mine"}
        data(await client.patch(f"/api/v1/sessions/{other['session']['id']}", json=title))
        await bot.wait_until_idle()
        assert (await bot.session(other["session"]["id"]))["title"] == "Mine"


async def test_answer_can_be_stopped_and_resumed(live_forge: Live, model_server: StartModels):
    words = "one two three four five six seven eight nine ten"
    server = model_server(
        {
            "scenes": {
                "title": TITLE,
                "more": {
                    "match": {"latest": "Go on from exactly"},
                    "turns": [{"text": " and the rest.", "delay_s": 0}],
                },
                "talk": {"turns": [{"text": words}]},
            },
            "delay_s": 0.3,
            "piece_chars": 4,
        }
    )
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        turn = await bot.ask("Count")
        session_id = turn["session"]["id"]
        await wait_for_delta(live_forge, session_id, 8)
        busy = await client.post("/api/v1/bots/ada/chat", json={"text": "And?", "session_id": session_id})
        assert problem(busy) == (409, "conflict")
        stopped = await bot.post(f"/sessions/{session_id}/stop")
        assert stopped["status"] == "stopped"
        await bot.wait_until_idle()
        (_, kept) = await bot.messages(session_id)
        assert kept["status"] == "stopped" and words.startswith(kept["text"]) and len(kept["text"]) >= 8
        assert kept["answer"]["cost_micros"] > 0 and kept["answer"]["usage"]["output"] > 0
        assert kept["answer"]["model"] == "scripted:scripted"
        again = await client.post(f"/api/v1/sessions/{session_id}/stop", json={})
        assert problem(again) == (409, "conflict")
        await bot.post(f"/sessions/{session_id}/resume")
        whole = await bot.wait_for_answer(session_id)
        assert (whole["id"], whole["status"]) == (kept["id"], "done")
        assert whole["text"] == kept["text"] + " and the rest."
        assert whole["answer"]["cost_micros"] > kept["answer"]["cost_micros"]
        done = await client.post(f"/api/v1/sessions/{session_id}/resume", json={})
        assert problem(done) == (409, "conflict")


async def test_answers_and_questions_have_branches(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "One."}, {"text": "Two."}))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        first = await bot.say("first")
        session_id = first["session_id"]
        second = await bot.say("second", session_id)
        await bot.post(f"/sessions/{session_id}/retry")
        tried = await bot.wait_for_answer(session_id)
        assert tried["siblings"] == [second["id"], tried["id"]]
        question = (await bot.messages(session_id))[2]
        edited = await bot.say("second, differently", session_id, edits_id=question["id"])
        shown = await bot.messages(session_id)
        assert [message["text"] for message in shown] == ["first", "One.", "second, differently", "Two."]
        assert len(shown[2]["siblings"]) == 2
        back = {"head_id": question["id"]}
        data(await client.patch(f"/api/v1/sessions/{session_id}", json=back))
        assert (await bot.messages(session_id))[-1]["id"] == tried["id"]
        (answer,) = [m for m in shown if m["id"] == edited["id"]]
        wrong = {"text": "x", "session_id": session_id, "edits_id": answer["id"]}
        assert problem(await client.post("/api/v1/bots/ada/chat", json=wrong)) == (422, "invalid")


@pytest.mark.parametrize(
    ("turn", "code"),
    [
        ({"fault": "401"}, "model_key"),
        ({"fault": "400"}, "model_rejected"),
        ({"stop": "refusal"}, "agent_refused"),
    ],
)
async def test_failed_answer_has_a_reason_and_can_be_retried(
    live_forge: Live, model_server: StartModels, turn: dict[str, Any], code: str
):
    fault = turn.get("fault")
    first = (
        {**turn, "text": "No."} if fault is None else {"text": "No.", "fault": {"kind": fault, "times": 1}}
    )
    server = model_server(script(first))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        failed = await bot.say("Well?")
        assert (failed["status"], failed["error"]["code"]) == ("failed", code)
        assert (await bot.messages(failed["session_id"]))[0]["text"] == "Well?"
        if fault is not None:
            await bot.post(f"/sessions/{failed['session_id']}/retry")
            assert (await bot.wait_for_answer(failed["session_id"]))["text"] == "No."


async def test_overloaded_model_is_retried(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "At last.", "fault": {"kind": "529", "times": 1}}))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        assert (await bot.say("Well?"))["text"] == "At last."


async def test_text_of_an_interrupted_answer_is_kept(live_forge: Live, model_server: StartModels):
    words = "one two three four"
    cut = {"kind": "cut", "after": 2}
    server = model_server(script({"text": words, "fault": cut}, piece_chars=4))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        turn = await bot.ask("Count")
        run_id, session_id = turn["answer"]["answer"]["run_id"], turn["session"]["id"]
        async with asyncio.timeout(PATIENCE_S):  # until it waits before a retry
            while not any(
                event["type"] == "step.finished" and event["data"]["retry_in_s"]
                for event in data(await client.get("/api/v1/events", params={"stream": f"run:{run_id}"}))
            ):
                await asyncio.sleep(0.02)
        stopped = await bot.post(f"/sessions/{session_id}/stop")
    assert stopped["text"] and words.startswith(stopped["text"])


async def test_missing_key_is_an_error_with_a_hint_and_stores_nothing(live_forge: Live):
    async with live_forge.client() as client:
        data(await client.post("/api/v1/bots", json={"name": "Ada"}))
        refused = await client.post("/api/v1/bots/ada/chat", json={"text": "Hello"})
        assert problem(refused) == (403, "model_key")
        hint = refused.json()["errors"][0]["hint"]
        assert "PUT /api/v1/secrets/ANTHROPIC_API_KEY" in hint and "forge models serve" in hint
        assert data(await client.get("/api/v1/bots/ada/sessions")) == []


async def test_many_conversations_run_concurrently(
    live_forge: Live, model_server: StartModels, thorough: bool
):
    count = 50 if thorough else 15
    server = model_server(script({"text": "The answer to {{ latest }}."}, delay_s=0.02))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        turns = [await bot.ask(f"number {i}") for i in range(count)]
        answers = [await bot.wait_for_answer(turn["session"]["id"]) for turn in turns]
    assert [answer["status"] for answer in answers] == ["done"] * count
    assert len({answer["session_id"] for answer in answers}) == count


async def test_model_of_the_bot_answers(live_forge: Live, model_server: StartModels):
    default = model_server(script({"text": "Usual."}))
    special = model_server(script({"text": "Special."}))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, default)
        provider = {"kind": "openai", "base_url": f"{special.url}/v1"}
        data(await client.put("/api/v1/models/providers/special", json=provider))
        price = {"input": 1, "output": 2, "context_window": 100_000}
        data(await client.put("/api/v1/models/prices", params={"model": "special:one"}, json=price))
        data(await client.patch("/api/v1/bots/ada", json={"provider": "special", "model": "one"}))
        answer = await bot.say("Who?")
        assert (answer["text"], answer["answer"]["model"]) == ("Special.", "special:one")
        assert special.requests()[0].body["temperature"] == 0.7


async def test_conversation_of_another_bot_is_not_found(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "One."}))
    async with live_forge.client() as client:
        bot = await open_bot_client(client, server)
        first = await bot.say("first")
        data(await client.post("/api/v1/bots", json={"name": "Bob"}))
        other = {"text": "x", "session_id": first["session_id"]}
        assert problem(await client.post("/api/v1/bots/bob/chat", json=other)) == (404, "not_found")
