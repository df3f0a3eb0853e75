"""Delivery of messages to bots, their replies, events and rejections, on both databases."""

import asyncio
import json
from datetime import timedelta

import sqlalchemy as sa
from tests.messages.messaging import Messaging
from tests.support.chat_client import data, problem
from tests.support.timeouts import PATIENCE_S

from forge.kernel.clock import now
from forge.messages.tables import bot_messages


async def test_reply_is_delivered_to_asking_bot(messaging: Messaging):
    more = {"to": "bob", "from": "ada", "message_type": "question", "wait": True, "timeout_secs": 100}
    sent = await messaging.send("When does the tide turn?", **more)
    message, reply = sent["message"], sent["reply"]
    assert (reply["body"], reply["reply_to"], reply["depth"]) == ("It turns at six.", message["id"], 1)
    assert reply["conversation_id"] == message["conversation_id"] == message["id"]
    assert (message["sender"]["slug"], message["sender"]["spoken_by"]) == ("ada", "Owner")
    assert (reply["sender"]["slug"], reply["sender"]["spoken_by"]) == ("bob", None)
    assert reply["recipient"]["bot"] == "ada"

    (delivery,) = message["deliveries"]
    assert (delivery["bot"], delivery["status"], delivery["reply_id"]) == ("bob", "answered", reply["id"])
    assert delivery["cost_micros"] > 0
    session, transcript = await messaging.session(delivery["session_id"])
    assert (session["origin"]["type"], session["origin"]["slug"]) == ("bot", "ada")
    assert (
        "> When does the tide turn?" in transcript[0]["text"] and transcript[1]["text"] == "It turns at six."
    )

    (report,) = (await messaging.wait_for_delivery(reply["id"]))["deliveries"]
    assert (report["bot"], report["status"]) == ("ada", "silent")
    session, transcript = await messaging.session(report["session_id"])
    assert [one["role"] for one in transcript] == ["user"] and "> It turns at six." in transcript[0]["text"]
    assert len(messaging.bot_requests()) == 1, "a delivered reply starts no model call"
    assert "Other bots of your owner" in str(messaging.bot_requests()[0]["system"])
    events = [(one["type"], one["data"]["message_id"]) for one in await messaging.message_events()]
    assert events == [
        ("message.sent", message["id"]),
        ("message.sent", reply["id"]),
        ("message.answered", message["id"]),
        ("message.answered", reply["id"]),
    ]


async def test_reply_continues_conversation(messaging: Messaging):
    first = await messaging.send("When does the tide turn?", to="bob", wait=True, timeout_secs=100)
    more = {"reply_to": first["reply"]["id"], "wait": True, "timeout_secs": 100}
    second = await messaging.send({"thanks": True}, to="bob", **more)
    assert second["message"]["depth"] == 2
    ids = [one["message"]["deliveries"][0]["session_id"] for one in (first, second)]
    assert ids[0] == ids[1]
    session, transcript = await messaging.session(ids[0])
    assert session["origin"] is None and len(transcript) == 4
    assert '"thanks": true' in transcript[2]["text"]
    found = data(
        await messaging.client.get(
            "/api/v1/messages", params={"conversation": first["message"]["id"], "limit": 3}
        )
    )
    assert [one["depth"] for one in found] == [3, 2, 1], "newest first"


async def test_bot_message_uses_another_session_than_the_owner(messaging: Messaging):
    from_owner = await messaging.send("I keep bees.", to="bob", wait=True)
    more = {"from": "ada", "reply_to": from_owner["message"]["id"]}
    from_bot = await messaging.send("Your owner keeps wasps.", to="bob", wait=True, **more)
    assert from_bot["message"]["conversation_id"] == from_owner["message"]["conversation_id"]
    sessions = [
        await messaging.session(sent["message"]["deliveries"][0]["session_id"])
        for sent in (from_owner, from_bot)
    ]
    assert [session["origin"] and session["origin"]["type"] for session, _ in sessions] == [None, "bot"]
    assert ["wasps" in str(messages) for _, messages in sessions] == [False, True]


async def test_reply_arrives_after_wait_timeout(messaging: Messaging):
    body = {"body": "Tell it slowly", "to": "bob", "wait": True, "timeout_secs": 0.2}
    response = await messaging.client.post("/api/v1/messages", json=body)
    sent = data(response)
    assert response.status_code == 202 and sent["is_late"] and sent["reply"] is None
    message = await messaging.wait_for_delivery(sent["message"]["id"])
    assert message["deliveries"][0]["status"] == "answered"
    (reply,) = data(await messaging.client.get("/api/v1/messages", params={"bot": "bob", "limit": 1}))
    assert reply["recipient"] == {"type": "sender", "name": "Owner"}


async def test_cancelled_delivery_fails(messaging: Messaging):
    sent = await messaging.send("Tell it slowly", to="bob")
    (delivery,) = sent["message"]["deliveries"]
    async with asyncio.timeout(PATIENCE_S):
        while not messaging.bot_requests():
            await asyncio.sleep(0.05)
    data(await messaging.client.post(f"/api/v1/runs/{delivery['run_id']}/cancel"))
    (delivery,) = (await messaging.wait_for_delivery(sent["message"]["id"]))["deliveries"]
    assert (delivery["status"], delivery["error"]["code"]) == ("failed", "cancelled")
    _, transcript = await messaging.session(delivery["session_id"])
    assert transcript[-1]["status"] == "stopped"


async def test_delivery_to_disabled_bot_fails(messaging: Messaging):
    data(await messaging.client.patch("/api/v1/bots/bob", json={"status": "disabled"}))
    response = await messaging.client.post(
        "/api/v1/messages", json={"body": "Hello", "to": "bob", "wait": True, "timeout_secs": 100}
    )
    sent = data(response)
    assert response.status_code == 200 and sent["reply"] is None and not sent["is_late"]
    assert sent["message"]["deliveries"][0]["error"]["code"] == "bot_blocked"
    assert (await messaging.message_events())[-1]["data"]["status"] == "failed"
    assert messaging.bot_requests() == []


async def test_invalid_senders_and_recipients_are_rejected(messaging: Messaging):
    async def rejection(**body: object) -> tuple[int, str]:
        return problem(await messaging.client.post("/api/v1/messages", json={"body": "Hello", **body}))

    assert await rejection(to="unknown") == (404, "not_found")
    assert await rejection(to="ada", **{"from": "unknown"}) == (404, "not_found")
    assert await rejection(to="ada", sender={"type": "bot", "slug": "bob"}) == (422, "invalid")
    assert await rejection(to="ada", **{"from": "ada"}) == (422, "invalid")
    assert await rejection() == (422, "invalid")
    assert await rejection(to="ada", channel="news") == (422, "invalid")
    assert await rejection(channel="news", wait=True) == (422, "invalid")
    assert await rejection(to="ada", reply_to="01a1e2a2-0000-7000-8000-000000000000") == (404, "not_found")
    assert await rejection(to="ada", body="") == (422, "invalid")
    assert await rejection(to="ada", body=" \n") == (422, "invalid")
    assert data(await messaging.client.get("/api/v1/messages")) == []


async def test_lone_surrogate_is_rejected_and_not_stored(messaging: Messaging):
    for body in ("half \ud83d", {"deep": ["half \ud83d"]}, {"half \ud83d": 1}):
        sent = {
            "content": json.dumps({"body": body, "to": "bob"}),
            "headers": {"Content-Type": "application/json"},
        }
        response = await messaging.client.post("/api/v1/messages", **sent)
        assert response.status_code == 422
        assert [one["message"] for one in response.json()["errors"]] == [
            "body: must not contain a lone surrogate"
        ]
    assert (
        data(await messaging.client.get("/api/v1/messages")) == [] and await messaging.message_events() == []
    )


async def test_channel_message_reaches_subscribers(messaging: Messaging):
    for bot in ("ada", "bob", "cleo"):
        data(await messaging.client.put(f"/api/v1/message-channels/news/bots/{bot}"))
    data(await messaging.client.delete("/api/v1/message-channels/news/bots/cleo"))
    sent = await messaging.send(
        "A new release", channel="news", message_type="information", **{"from": "ada"}
    )
    message = await messaging.wait_for_delivery(sent["message"]["id"])
    assert [(one["bot"], one["status"]) for one in message["deliveries"]] == [("bob", "silent")]
    asked = await messaging.send("Which tide?", channel="news")
    answered = await messaging.wait_for_delivery(asked["message"]["id"])
    assert [one["bot"] for one in answered["deliveries"]] == ["ada", "bob"]
    (channel,) = data(await messaging.client.get("/api/v1/message-channels"))
    assert (channel["name"], channel["bots"], channel["messages"]) == ("news", ["ada", "bob"], 4)
    history = data(await messaging.client.get("/api/v1/messages", params={"channel": "news"}))
    assert sorted(one["sender"]["name"] for one in history) == ["Ada", "Ada", "Bob", "Owner"]
    assert messaging.bot_requests() and len(messaging.bot_requests()) == 2, (
        "replies in a channel start no further replies"
    )

    unsubscribed = await messaging.send("Hello", channel="attic")
    assert unsubscribed["message"]["deliveries"] == []
    data(await messaging.client.delete("/api/v1/message-channels/news"))
    names = [one["name"] for one in data(await messaging.client.get("/api/v1/message-channels"))]
    assert names == ["attic"]
    assert problem(await messaging.client.delete("/api/v1/message-channels/news")) == (404, "not_found")


async def test_message_loops_are_stopped(messaging: Messaging):
    body = {"body": "ping", "to": "bob", "from": "ada", "message_type": "information"}
    sending = [messaging.client.post("/api/v1/messages", json=body) for _ in range(14)]
    codes = [response.status_code for response in await asyncio.gather(*sending)]
    assert sorted(codes) == [202] * 10 + [429] * 4
    other = await messaging.client.post("/api/v1/messages", json=body | {"to": "cleo"})
    assert other.status_code == 202, "messages to another bot are counted separately"
    async with messaging.live.forge.store.begin() as tx:
        await tx.execute(sa.update(bot_messages).values(created_at=now() + timedelta(hours=3)))
    after_clock_change = await messaging.client.post("/api/v1/messages", json=body)
    assert after_clock_change.status_code == 202, "messages with a future time do not count"

    last = (await messaging.send("ping", to="bob", message_type="information"))["message"]
    while last["depth"] < 5:
        more = {"to": "bob", "message_type": "information", "reply_to": last["id"]}
        last = (await messaging.send("ping", **more))["message"]
    deeper = {"body": "ping", "to": "bob", "reply_to": last["id"]}
    response = await messaging.client.post("/api/v1/messages", json=deeper)
    assert problem(response) == (429, "too_many") and "deep" in response.json()["errors"][0]["message"]
