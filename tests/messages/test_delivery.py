"""Messages that reach bots: who is told what, what comes back, and what is refused. On both databases."""

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
    session, said = await messaging.session(delivery["session_id"])
    assert (session["origin"]["type"], session["origin"]["slug"]) == ("bot", "ada")
    assert "> When does the tide turn?" in said[0]["text"] and said[1]["text"] == "It turns at six."

    (report,) = (await messaging.delivered(reply["id"]))["deliveries"]
    assert (report["bot"], report["status"]) == ("ada", "silent")
    session, said = await messaging.session(report["session_id"])
    assert [one["role"] for one in said] == ["user"] and "> It turns at six." in said[0]["text"]
    assert len(messaging.asked()) == 1, "a report asks for nothing"
    assert "Other bots of your owner" in str(messaging.asked()[0]["system"])
    told = [(one["type"], one["data"]["message_id"]) for one in await messaging.told()]
    assert told == [
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
    session, said = await messaging.session(ids[0])
    assert session["origin"] is None and len(said) == 4
    assert '"thanks": true' in said[2]["text"]
    found = data(
        await messaging.client.get(
            "/api/v1/messages", params={"conversation": first["message"]["id"], "limit": 3}
        )
    )
    assert [one["depth"] for one in found] == [3, 2, 1], "the newest first"


async def test_bots_do_not_write_in_sessions_of_people(messaging: Messaging):
    mine = await messaging.send("I keep bees.", to="bob", wait=True)
    more = {"from": "ada", "reply_to": mine["message"]["id"]}
    theirs = await messaging.send("Your owner keeps wasps.", to="bob", wait=True, **more)
    assert theirs["message"]["conversation_id"] == mine["message"]["conversation_id"]
    sessions = [
        await messaging.session(sent["message"]["deliveries"][0]["session_id"]) for sent in (mine, theirs)
    ]
    assert [session["origin"] and session["origin"]["type"] for session, _ in sessions] == [None, "bot"]
    assert ["wasps" in str(messages) for _, messages in sessions] == [False, True]


async def test_reply_arrives_after_wait_timeout(messaging: Messaging):
    given = {"body": "Tell it slowly", "to": "bob", "wait": True, "timeout_secs": 0.2}
    answer = await messaging.client.post("/api/v1/messages", json=given)
    sent = data(answer)
    assert answer.status_code == 202 and sent["is_late"] and sent["reply"] is None
    whole = await messaging.delivered(sent["message"]["id"])
    assert whole["deliveries"][0]["status"] == "answered"
    (reply,) = data(await messaging.client.get("/api/v1/messages", params={"bot": "bob", "limit": 1}))
    assert reply["recipient"] == {"type": "sender", "name": "Owner"}


async def test_cancelled_delivery_fails(messaging: Messaging):
    sent = await messaging.send("Tell it slowly", to="bob")
    (delivery,) = sent["message"]["deliveries"]
    async with asyncio.timeout(PATIENCE_S):
        while not messaging.asked():
            await asyncio.sleep(0.05)
    data(await messaging.client.post(f"/api/v1/runs/{delivery['run_id']}/cancel"))
    (delivery,) = (await messaging.delivered(sent["message"]["id"]))["deliveries"]
    assert (delivery["status"], delivery["error"]["code"]) == ("failed", "cancelled")
    _, said = await messaging.session(delivery["session_id"])
    assert said[-1]["status"] == "stopped"


async def test_delivery_to_disabled_bot_fails(messaging: Messaging):
    data(await messaging.client.patch("/api/v1/bots/bob", json={"status": "disabled"}))
    answer = await messaging.client.post(
        "/api/v1/messages", json={"body": "Hello", "to": "bob", "wait": True, "timeout_secs": 100}
    )
    sent = data(answer)
    assert answer.status_code == 200 and sent["reply"] is None and not sent["is_late"]
    assert sent["message"]["deliveries"][0]["error"]["code"] == "bot_blocked"
    assert (await messaging.told())[-1]["data"]["status"] == "failed"
    assert messaging.asked() == []


async def test_invalid_senders_and_recipients_are_rejected(messaging: Messaging):
    async def refused(**given: object) -> tuple[int, str]:
        return problem(await messaging.client.post("/api/v1/messages", json={"body": "Hello", **given}))

    assert await refused(to="nobody") == (404, "not_found")
    assert await refused(to="ada", **{"from": "nobody"}) == (404, "not_found")
    assert await refused(to="ada", sender={"type": "bot", "slug": "bob"}) == (422, "invalid")
    assert await refused(to="ada", **{"from": "ada"}) == (422, "invalid")
    assert await refused() == (422, "invalid")
    assert await refused(to="ada", channel="news") == (422, "invalid")
    assert await refused(channel="news", wait=True) == (422, "invalid")
    assert await refused(to="ada", reply_to="01a1e2a2-0000-7000-8000-000000000000") == (404, "not_found")
    assert await refused(to="ada", body="") == (422, "invalid")
    assert await refused(to="ada", body=" \n") == (422, "invalid")
    assert data(await messaging.client.get("/api/v1/messages")) == []


async def test_lone_surrogate_is_rejected_without_trace(messaging: Messaging):
    for body in ("half \ud83d", {"deep": ["half \ud83d"]}, {"half \ud83d": 1}):
        sent = {
            "content": json.dumps({"body": body, "to": "bob"}),
            "headers": {"Content-Type": "application/json"},
        }
        refused = await messaging.client.post("/api/v1/messages", **sent)
        assert refused.status_code == 422
        assert [one["message"] for one in refused.json()["errors"]] == [
            "body: must not contain a lone surrogate"
        ]
    assert data(await messaging.client.get("/api/v1/messages")) == [] and await messaging.told() == []


async def test_channel_message_reaches_subscribers(messaging: Messaging):
    for bot in ("ada", "bob", "cleo"):
        data(await messaging.client.put(f"/api/v1/message-channels/news/bots/{bot}"))
    data(await messaging.client.delete("/api/v1/message-channels/news/bots/cleo"))
    sent = await messaging.send(
        "A new release", channel="news", message_type="information", **{"from": "ada"}
    )
    message = await messaging.delivered(sent["message"]["id"])
    assert [(one["bot"], one["status"]) for one in message["deliveries"]] == [("bob", "silent")]
    asked = await messaging.send("Which tide?", channel="news")
    answered = await messaging.delivered(asked["message"]["id"])
    assert [one["bot"] for one in answered["deliveries"]] == ["ada", "bob"]
    (channel,) = data(await messaging.client.get("/api/v1/message-channels"))
    assert (channel["name"], channel["bots"], channel["messages"]) == ("news", ["ada", "bob"], 4)
    history = data(await messaging.client.get("/api/v1/messages", params={"channel": "news"}))
    assert sorted(one["sender"]["name"] for one in history) == ["Ada", "Ada", "Bob", "Owner"]
    assert messaging.asked() and len(messaging.asked()) == 2, "replies in a channel start no other round"

    unheard = await messaging.send("Is anybody here?", channel="attic")
    assert unheard["message"]["deliveries"] == []
    data(await messaging.client.delete("/api/v1/message-channels/news"))
    names = [one["name"] for one in data(await messaging.client.get("/api/v1/message-channels"))]
    assert names == ["attic"]
    assert problem(await messaging.client.delete("/api/v1/message-channels/news")) == (404, "not_found")


async def test_message_loops_are_stopped(messaging: Messaging):
    given = {"body": "ping", "to": "bob", "from": "ada", "message_type": "information"}
    sending = [messaging.client.post("/api/v1/messages", json=given) for _ in range(14)]
    codes = [answer.status_code for answer in await asyncio.gather(*sending)]
    assert sorted(codes) == [202] * 10 + [429] * 4
    other = await messaging.client.post("/api/v1/messages", json=given | {"to": "cleo"})
    assert other.status_code == 202, "another pair has its own count"
    async with messaging.live.forge.store.begin() as tx:
        await tx.execute(sa.update(bot_messages).values(created_at=now() + timedelta(hours=3)))
    again = await messaging.client.post("/api/v1/messages", json=given)
    assert again.status_code == 202, "what was sent before the clock was set back is not of this minute"

    last = (await messaging.send("ping", to="bob", message_type="information"))["message"]
    while last["depth"] < 5:
        more = {"to": "bob", "message_type": "information", "reply_to": last["id"]}
        last = (await messaging.send("ping", **more))["message"]
    deeper = {"body": "ping", "to": "bob", "reply_to": last["id"]}
    answer = await messaging.client.post("/api/v1/messages", json=deeper)
    assert problem(answer) == (429, "too_many") and "deep" in answer.json()["errors"][0]["message"]
