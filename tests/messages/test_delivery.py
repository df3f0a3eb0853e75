"""Messages that reach bots: who is told what, what comes back, and what is refused. On both databases."""

import asyncio
import json
from datetime import timedelta

import sqlalchemy as sa
from tests.messages.office import Office
from tests.support.chats import data, problem
from tests.support.patience import PATIENCE_S

from forge.kernel.clock import now
from forge.messages.tables import bot_messages


async def test_a_bot_answers_another_and_the_one_that_asked_is_told(office: Office):
    more = {"to": "bob", "from": "ada", "message_type": "question", "wait": True, "timeout_secs": 100}
    sent = await office.send("When does the tide turn?", **more)
    message, reply = sent["message"], sent["reply"]
    assert (reply["body"], reply["reply_to"], reply["depth"]) == ("It turns at six.", message["id"], 1)
    assert reply["conversation_id"] == message["conversation_id"] == message["id"]
    assert (message["sender"]["slug"], message["sender"]["spoken_by"]) == ("ada", "Owner")
    assert (reply["sender"]["slug"], reply["sender"]["spoken_by"]) == ("bob", None)
    assert reply["recipient"]["bot"] == "ada"

    (delivery,) = message["deliveries"]
    assert (delivery["bot"], delivery["status"], delivery["reply_id"]) == ("bob", "answered", reply["id"])
    assert delivery["cost_micros"] > 0
    session, said = await office.session(delivery["session_id"])
    assert (session["origin"]["type"], session["origin"]["slug"]) == ("bot", "ada")
    assert "> When does the tide turn?" in said[0]["text"] and said[1]["text"] == "It turns at six."

    (report,) = (await office.delivered(reply["id"]))["deliveries"]
    assert (report["bot"], report["status"]) == ("ada", "silent")
    session, said = await office.session(report["session_id"])
    assert [one["role"] for one in said] == ["user"] and "> It turns at six." in said[0]["text"]
    assert len(office.asked()) == 1, "a report asks for nothing"
    assert "Other bots of your owner" in str(office.asked()[0]["system"])
    told = [(one["type"], one["data"]["message_id"]) for one in await office.told()]
    assert told == [
        ("message.sent", message["id"]),
        ("message.sent", reply["id"]),
        ("message.answered", message["id"]),
        ("message.answered", reply["id"]),
    ]


async def test_a_conversation_goes_on_where_it_was(office: Office):
    first = await office.send("When does the tide turn?", to="bob", wait=True, timeout_secs=100)
    more = {"reply_to": first["reply"]["id"], "wait": True, "timeout_secs": 100}
    second = await office.send({"thanks": True}, to="bob", **more)
    assert second["message"]["depth"] == 2
    ids = [one["message"]["deliveries"][0]["session_id"] for one in (first, second)]
    assert ids[0] == ids[1]
    session, said = await office.session(ids[0])
    assert session["origin"] is None and len(said) == 4
    assert '"thanks": true' in said[2]["text"]
    found = data(
        await office.client.get(
            "/api/v1/messages", params={"conversation": first["message"]["id"], "limit": 3}
        )
    )
    assert [one["depth"] for one in found] == [3, 2, 1], "the newest first"


async def test_nobody_speaks_in_a_session_of_a_person(office: Office):
    mine = await office.send("I keep bees.", to="bob", wait=True)
    more = {"from": "ada", "reply_to": mine["message"]["id"]}
    theirs = await office.send("Your owner keeps wasps.", to="bob", wait=True, **more)
    assert theirs["message"]["conversation_id"] == mine["message"]["conversation_id"]
    sessions = [
        await office.session(sent["message"]["deliveries"][0]["session_id"]) for sent in (mine, theirs)
    ]
    assert [session["origin"] and session["origin"]["type"] for session, _ in sessions] == [None, "bot"]
    assert ["wasps" in str(messages) for _, messages in sessions] == [False, True]


async def test_who_waits_too_shortly_gets_the_reply_later(office: Office):
    given = {"body": "Tell it slowly", "to": "bob", "wait": True, "timeout_secs": 0.2}
    answer = await office.client.post("/api/v1/messages", json=given)
    sent = data(answer)
    assert answer.status_code == 202 and sent["is_late"] and sent["reply"] is None
    whole = await office.delivered(sent["message"]["id"])
    assert whole["deliveries"][0]["status"] == "answered"
    (reply,) = data(await office.client.get("/api/v1/messages", params={"bot": "bob", "limit": 1}))
    assert reply["recipient"] == {"type": "sender", "name": "Owner"}


async def test_a_delivery_that_is_cancelled_has_failed(office: Office):
    sent = await office.send("Tell it slowly", to="bob")
    (delivery,) = sent["message"]["deliveries"]
    async with asyncio.timeout(PATIENCE_S):
        while not office.asked():
            await asyncio.sleep(0.05)
    data(await office.client.post(f"/api/v1/runs/{delivery['run_id']}/cancel"))
    (delivery,) = (await office.delivered(sent["message"]["id"]))["deliveries"]
    assert (delivery["status"], delivery["error"]["code"]) == ("failed", "cancelled")
    _, said = await office.session(delivery["session_id"])
    assert said[-1]["status"] == "stopped"


async def test_a_bot_that_is_off_is_not_reached_and_says_so(office: Office):
    data(await office.client.patch("/api/v1/bots/bob", json={"status": "disabled"}))
    answer = await office.client.post(
        "/api/v1/messages", json={"body": "Hello", "to": "bob", "wait": True, "timeout_secs": 100}
    )
    sent = data(answer)
    assert answer.status_code == 200 and sent["reply"] is None and not sent["is_late"]
    assert sent["message"]["deliveries"][0]["error"]["code"] == "bot_blocked"
    assert (await office.told())[-1]["data"]["status"] == "failed"
    assert office.asked() == []


async def test_nobody_speaks_for_others_or_to_nobody(office: Office):
    async def refused(**given: object) -> tuple[int, str]:
        return problem(await office.client.post("/api/v1/messages", json={"body": "Hello", **given}))

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
    assert data(await office.client.get("/api/v1/messages")) == []


async def test_half_a_character_is_refused_and_leaves_no_trace(office: Office):
    for body in ("half \ud83d", {"deep": ["half \ud83d"]}, {"half \ud83d": 1}):
        sent = {
            "content": json.dumps({"body": body, "to": "bob"}),
            "headers": {"Content-Type": "application/json"},
        }
        refused = await office.client.post("/api/v1/messages", **sent)
        assert refused.status_code == 422
        assert [one["message"] for one in refused.json()["errors"]] == [
            "body: must not contain half a character"
        ]
    assert data(await office.client.get("/api/v1/messages")) == [] and await office.told() == []


async def test_what_is_said_in_a_channel_reaches_those_who_listen(office: Office):
    for bot in ("ada", "bob", "cleo"):
        data(await office.client.put(f"/api/v1/message-channels/news/bots/{bot}"))
    data(await office.client.delete("/api/v1/message-channels/news/bots/cleo"))
    sent = await office.send("A new release", channel="news", message_type="information", **{"from": "ada"})
    message = await office.delivered(sent["message"]["id"])
    assert [(one["bot"], one["status"]) for one in message["deliveries"]] == [("bob", "silent")]
    asked = await office.send("Which tide?", channel="news")
    answered = await office.delivered(asked["message"]["id"])
    assert [one["bot"] for one in answered["deliveries"]] == ["ada", "bob"]
    (channel,) = data(await office.client.get("/api/v1/message-channels"))
    assert (channel["name"], channel["bots"], channel["messages"]) == ("news", ["ada", "bob"], 4)
    history = data(await office.client.get("/api/v1/messages", params={"channel": "news"}))
    assert sorted(one["sender"]["name"] for one in history) == ["Ada", "Ada", "Bob", "Owner"]
    assert office.asked() and len(office.asked()) == 2, "replies in a channel start no other round"

    unheard = await office.send("Is anybody here?", channel="attic")
    assert unheard["message"]["deliveries"] == []
    data(await office.client.delete("/api/v1/message-channels/news"))
    names = [one["name"] for one in data(await office.client.get("/api/v1/message-channels"))]
    assert names == ["attic"]
    assert problem(await office.client.delete("/api/v1/message-channels/news")) == (404, "not_found")


async def test_bots_cannot_talk_to_each_other_for_ever(office: Office):
    given = {"body": "ping", "to": "bob", "from": "ada", "message_type": "information"}
    sending = [office.client.post("/api/v1/messages", json=given) for _ in range(14)]
    codes = [answer.status_code for answer in await asyncio.gather(*sending)]
    assert sorted(codes) == [202] * 10 + [429] * 4
    other = await office.client.post("/api/v1/messages", json=given | {"to": "cleo"})
    assert other.status_code == 202, "another pair has its own count"
    async with office.live.forge.store.begin() as tx:
        await tx.execute(sa.update(bot_messages).values(created_at=now() + timedelta(hours=3)))
    again = await office.client.post("/api/v1/messages", json=given)
    assert again.status_code == 202, "what was sent before the clock was set back is not of this minute"

    last = (await office.send("ping", to="bob", message_type="information"))["message"]
    while last["depth"] < 5:
        more = {"to": "bob", "message_type": "information", "reply_to": last["id"]}
        last = (await office.send("ping", **more))["message"]
    deeper = {"body": "ping", "to": "bob", "reply_to": last["id"]}
    answer = await office.client.post("/api/v1/messages", json=deeper)
    assert problem(answer) == (429, "too_many") and "deep" in answer.json()["errors"][0]["message"]
