"""One question and its answer, in a whole Forge, on both databases."""

import asyncio
import json
from typing import Any

import pytest
from tests.support.chat_client import data, open_talk, problem
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels
from tests.support.timeouts import PATIENCE_S

TITLE = {"match": {"system": "Give the conversation"}, "turns": [{"text": '"Small talk about tea."'}]}


def script(*turns: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"scenes": {"title": TITLE, "talk": {"turns": list(turns), "after": "repeat"}}, **more}


def bodies(server: ModelServer, system: str = "<soul>") -> list[Any]:
    """What reached the model as the bot, in order."""
    return [entry.body for entry in server.requests() if system in str(entry.body.get("system"))]


async def heard(live: Live, session_id: str, characters: int) -> None:
    """Until so much of an answer has been whispered."""
    async with asyncio.timeout(PATIENCE_S), live.socket() as socket:
        await socket.send(json.dumps({"type": "subscribe", "stream": f"session:{session_id}", "after": 0}))
        async for text in socket:
            for event in json.loads(text).get("events", []):
                if event["type"] == "chat.delta" and event["data"]["offset"] >= characters:
                    return


async def test_a_question_is_answered_with_what_the_bot_says_it_uses(
    live_forge: Live, model_server: StartModels
):
    server = model_server(script({"text": "Tea, please."}))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        change = {"temperature": 0.3, "max_tokens": 777}
        data(await client.patch("/api/v1/bots/ada", json=change))
        turn = await talk.ask("What do you drink?")
        assert (turn["question"]["text"], turn["answer"]["status"]) == ("What do you drink?", "writing")
        answer = await talk.answered(turn["session"]["id"])
        (sent,) = bodies(server)
    assert (answer["text"], answer["status"]) == ("Tea, please.", "done")
    facts = answer["answer"]
    assert (facts["model"], facts["temperature"], facts["max_tokens"]) == ("scripted:scripted", 0.3, 777)
    assert (sent["temperature"], sent["max_tokens"]) == (0.3, 777)
    assert facts["usage"]["output"] > 0 and facts["cost_micros"] > 0 and facts["duration_ms"] > 0
    assert facts["soul_version"] == 1


async def test_the_conversation_goes_along_and_grows_only_at_its_end(
    live_forge: Live, model_server: StartModels
):
    server = model_server(script({"text": "One."}, {"text": "Two."}, {"text": "Three."}))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        first = await talk.say("first")
        await talk.say("second", first["session_id"])
        await talk.say("third", first["session_id"])
        sent = bodies(server)
    texts = [[part["text"] for message in body["messages"] for part in message["content"]] for body in sent]
    assert texts == [
        ["first"],
        ["first", "One.", "second"],
        ["first", "One.", "second", "Two.", "third"],
    ]
    assert len({str(body["system"]) for body in sent}) == 1


async def test_a_conversation_gets_a_title_from_the_model_unless_a_person_gave_one(
    live_forge: Live, model_server: StartModels
):
    server = model_server(script({"text": "Tea."}))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        answer = await talk.say("What  do\nyou drink?")
        await talk.quiet()
        assert (await talk.session(answer["session_id"]))["title"] == "Small talk about tea"
        other = await talk.ask("Again")
        title = {"title": "Mine"}
        data(await client.patch(f"/api/v1/sessions/{other['session']['id']}", json=title))
        await talk.quiet()
        assert (await talk.session(other["session"]["id"]))["title"] == "Mine"


async def test_an_answer_can_be_stopped_and_written_on(live_forge: Live, model_server: StartModels):
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
        talk = await open_talk(client, server)
        turn = await talk.ask("Count")
        session_id = turn["session"]["id"]
        await heard(live_forge, session_id, 8)
        busy = await client.post("/api/v1/bots/ada/chat", json={"text": "And?", "session_id": session_id})
        assert problem(busy) == (409, "conflict")
        stopped = await talk.post(f"/sessions/{session_id}/stop")
        assert stopped["status"] == "stopped"
        await talk.quiet()
        (_, kept) = await talk.messages(session_id)
        assert kept["status"] == "stopped" and words.startswith(kept["text"]) and len(kept["text"]) >= 8
        assert kept["answer"]["cost_micros"] > 0 and kept["answer"]["usage"]["output"] > 0
        assert kept["answer"]["model"] == "scripted:scripted"
        again = await client.post(f"/api/v1/sessions/{session_id}/stop", json={})
        assert problem(again) == (409, "conflict")
        await talk.post(f"/sessions/{session_id}/resume")
        whole = await talk.answered(session_id)
        assert (whole["id"], whole["status"]) == (kept["id"], "done")
        assert whole["text"] == kept["text"] + " and the rest."
        assert whole["answer"]["cost_micros"] > kept["answer"]["cost_micros"]
        done = await client.post(f"/api/v1/sessions/{session_id}/resume", json={})
        assert problem(done) == (409, "conflict")


async def test_answers_and_questions_have_branches(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "One."}, {"text": "Two."}))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        first = await talk.say("first")
        session_id = first["session_id"]
        second = await talk.say("second", session_id)
        await talk.post(f"/sessions/{session_id}/retry")
        tried = await talk.answered(session_id)
        assert tried["siblings"] == [second["id"], tried["id"]]
        question = (await talk.messages(session_id))[2]
        edited = await talk.say("second, differently", session_id, edits_id=question["id"])
        shown = await talk.messages(session_id)
        assert [message["text"] for message in shown] == ["first", "One.", "second, differently", "Two."]
        assert len(shown[2]["siblings"]) == 2
        back = {"head_id": question["id"]}
        data(await client.patch(f"/api/v1/sessions/{session_id}", json=back))
        assert (await talk.messages(session_id))[-1]["id"] == tried["id"]
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
async def test_an_answer_that_does_not_come_says_why_and_can_be_tried_again(
    live_forge: Live, model_server: StartModels, turn: dict[str, Any], code: str
):
    fault = turn.get("fault")
    first = (
        {**turn, "text": "No."} if fault is None else {"text": "No.", "fault": {"kind": fault, "times": 1}}
    )
    server = model_server(script(first))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        failed = await talk.say("Well?")
        assert (failed["status"], failed["error"]["code"]) == ("failed", code)
        assert (await talk.messages(failed["session_id"]))[0]["text"] == "Well?"
        if fault is not None:
            await talk.post(f"/sessions/{failed['session_id']}/retry")
            assert (await talk.answered(failed["session_id"]))["text"] == "No."


async def test_a_model_that_is_overloaded_for_a_moment_is_asked_again(
    live_forge: Live, model_server: StartModels
):
    server = model_server(script({"text": "At last.", "fault": {"kind": "529", "times": 1}}))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        assert (await talk.say("Well?"))["text"] == "At last."


async def test_what_was_seen_of_an_answer_that_broke_off_is_kept(live_forge: Live, model_server: StartModels):
    words = "one two three four"
    cut = {"kind": "cut", "after": 2}
    server = model_server(script({"text": words, "fault": cut}, piece_chars=4))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        turn = await talk.ask("Count")
        run_id, session_id = turn["answer"]["answer"]["run_id"], turn["session"]["id"]
        async with asyncio.timeout(PATIENCE_S):  # until it pauses before another try
            while not any(
                event["type"] == "step.finished" and event["data"]["retry_in_s"]
                for event in data(await client.get("/api/v1/events", params={"stream": f"run:{run_id}"}))
            ):
                await asyncio.sleep(0.02)
        stopped = await talk.post(f"/sessions/{session_id}/stop")
    assert stopped["text"] and words.startswith(stopped["text"])


async def test_without_a_key_a_chat_says_what_to_do_and_keeps_nothing(live_forge: Live):
    async with live_forge.client() as client:
        data(await client.post("/api/v1/bots", json={"name": "Ada"}))
        refused = await client.post("/api/v1/bots/ada/chat", json={"text": "Hello"})
        assert problem(refused) == (403, "model_key")
        hint = refused.json()["errors"][0]["hint"]
        assert "forge secrets set ANTHROPIC_API_KEY" in hint and "forge models serve" in hint
        assert data(await client.get("/api/v1/bots/ada/sessions")) == []


async def test_many_conversations_go_on_at_once(live_forge: Live, model_server: StartModels, thorough: bool):
    count = 50 if thorough else 15
    server = model_server(script({"text": "The answer to {{ latest }}."}, delay_s=0.02))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        turns = [await talk.ask(f"number {i}") for i in range(count)]
        answers = [await talk.answered(turn["session"]["id"]) for turn in turns]
    assert [answer["status"] for answer in answers] == ["done"] * count
    assert len({answer["session_id"] for answer in answers}) == count


async def test_a_model_chosen_for_the_bot_is_the_one_that_answers(
    live_forge: Live, model_server: StartModels
):
    usual = model_server(script({"text": "Usual."}))
    special = model_server(script({"text": "Special."}))
    async with live_forge.client() as client:
        talk = await open_talk(client, usual)
        provider = {"kind": "openai", "base_url": f"{special.url}/v1"}
        data(await client.put("/api/v1/models/providers/special", json=provider))
        price = {"input": 1, "output": 2}
        data(await client.put("/api/v1/models/prices", params={"model": "special:one"}, json=price))
        data(await client.patch("/api/v1/bots/ada", json={"provider": "special", "model": "one"}))
        answer = await talk.say("Who?")
        assert (answer["text"], answer["answer"]["model"]) == ("Special.", "special:one")
        assert special.requests()[0].body["temperature"] == 0.7


async def test_conversations_of_others_are_not_there(live_forge: Live, model_server: StartModels):
    server = model_server(script({"text": "One."}))
    async with live_forge.client() as client:
        talk = await open_talk(client, server)
        first = await talk.say("first")
        data(await client.post("/api/v1/bots", json={"name": "Bob"}))
        other = {"text": "x", "session_id": first["session_id"]}
        assert problem(await client.post("/api/v1/bots/bob/chat", json=other)) == (404, "not_found")
