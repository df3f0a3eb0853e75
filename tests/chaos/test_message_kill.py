"""kill -9 during message delivery: no message is lost or delivered twice."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.models import StartModels
from tests.support.server import Server, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]

REF = "scripted:scripted"
MESSAGES = 3
WORDS = " ".join(["word"] * 20)


def prepare(server: Server, url: str) -> None:
    server.call("PUT", "/api/v1/models/providers/scripted", {"kind": "anthropic", "base_url": url})
    server.call("PUT", f"/api/v1/models/prices?model={REF}", {"input": 3, "output": 15})
    for role in ("bot", "utility"):
        server.call("PUT", f"/api/v1/models/roles/{role}", {"chain": [REF]})
    for name in ("Ada", "Bob"):
        server.call("POST", "/api/v1/bots", {"name": name})


def wait_for_delivery(server: Server, message_id: str) -> Any:
    def finished_message() -> Any:
        message = server.call("GET", f"/api/v1/messages/{message_id}")
        is_finished = all(entry["status"] not in ("queued", "delivering") for entry in message["deliveries"])
        return message if is_finished else None

    return wait_until(finished_message, timeout_s=240, what="the delivery")


def test_messages_survive_kills_at_any_instant(
    start_server: Callable[..., Server], model_server: StartModels, thorough: bool, chance: random.Random
):
    kills = 4 if thorough else 2
    models = model_server({"scenes": {"talk": {"turns": [{"text": WORDS}]}}, "delay_s": 0.02})
    server = start_server()
    prepare(server, models.url)
    sent = list[str]()
    for _ in range(kills):
        for _ in range(MESSAGES):
            body = {"to": "bob", "message_type": "question", "body": f"question {len(sent)}"}
            sent.append(server.call("POST", "/api/v1/messages", body)["message"]["id"])
        time.sleep(chance.uniform(0, 1.5))
        server.kill()
        server.start()
    attempts: list[int] = []
    for message_id in sent:
        message = wait_for_delivery(server, message_id)
        (delivery,) = message["deliveries"]
        assert delivery["status"] in ("answered", "failed"), delivery
        messages = server.call("GET", f"/api/v1/sessions/{delivery['session_id']}/messages")
        assert [entry["role"] for entry in messages] == ["user", "assistant"], "the question is not repeated"
        replies = [
            entry
            for entry in server.call("GET", f"/api/v1/messages?conversation={message_id}")
            if entry["reply_to"] == message_id
        ]
        if delivery["status"] == "answered":
            assert [entry["id"] for entry in replies] == [delivery["reply_id"]]
            assert replies[0]["body"] == messages[1]["text"] == WORDS
        else:
            assert delivery["error"]["code"] == "interrupted" and replies == []
        attempts.append(len(messages[1]["siblings"]))
    print(f"\n{len(sent)} messages, {kills} kills: {sum(attempts)} answer attempts")
