"""kill -9 while a bot answers: question and partial answer are kept, and nothing is paid for twice."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.models import ModelServer, StartModels
from tests.support.server import Server, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]

REF = "scripted:scripted"
WORDS = " ".join(f"word{i}" for i in range(60))
REST = " and so on."
PROVIDER = {"kind": "anthropic"}


def script(delay_s: float) -> dict[str, Any]:
    return {
        "scenes": {
            "title": {"match": {"system": "Give the conversation"}, "turns": [{"text": "Words"}]},
            "more": {"match": {"latest": "Go on from exactly"}, "turns": [{"text": REST, "delay_s": 0}]},
            "talk": {"turns": [{"text": WORDS}]},
        },
        "delay_s": delay_s,
        "piece_chars": 8,
    }


def prepare(server: Server, models: ModelServer) -> None:
    server.call("PUT", "/api/v1/models/providers/scripted", PROVIDER | {"base_url": models.url})
    server.call("PUT", f"/api/v1/models/prices?model={REF}", {"input": 3, "output": 15})
    for role in ("bot", "utility"):
        server.call("PUT", f"/api/v1/models/roles/{role}", {"chain": [REF]})
    server.call("POST", "/api/v1/bots", {"name": "Ada"})


def ask(server: Server, text: str) -> str:
    return server.call("POST", "/api/v1/bots/ada/chat", {"text": text})["session"]["id"]


def messages(server: Server, session_id: str) -> list[Any]:
    return server.call("GET", f"/api/v1/sessions/{session_id}/messages")


def wait_for_answer(server: Server, session_id: str) -> Any:
    def finished_message() -> Any:
        message = messages(server, session_id)[-1]
        return message if message["status"] != "writing" else None

    return wait_until(finished_message, what="the end of the answer")


def calls(server: Server) -> list[Any]:
    return server.call("GET", "/api/v1/models/calls?limit=200")


def test_killed_answer_is_interrupted_and_can_be_resumed(
    start_server: Callable[..., Server], model_server: StartModels
):
    models = model_server(script(delay_s=0.1))
    server = start_server()
    prepare(server, models)
    session_id = ask(server, "Tell me words")
    wait_until(lambda: len(messages(server, session_id)[-1]["text"]) > 40, what="a part of the answer")
    server.kill()
    server.start()
    interrupted = wait_for_answer(server, session_id)
    question = messages(server, session_id)[0]
    assert (question["text"], interrupted["status"]) == ("Tell me words", "interrupted")
    assert len(interrupted["text"]) > 40 and WORDS.startswith(interrupted["text"])
    (lost,) = calls(server)
    assert lost["status"] == "lost" and lost["cost_micros"] == interrupted["answer"]["cost_micros"]
    assert models.stats().paid == 1
    server.call("POST", f"/api/v1/sessions/{session_id}/resume", {})
    resumed = wait_for_answer(server, session_id)
    assert (resumed["id"], resumed["status"]) == (interrupted["id"], "done")
    assert resumed["text"] == interrupted["text"] + REST
    wait_until(
        lambda: server.call("GET", f"/api/v1/sessions/{session_id}")["title"] == "Words", what="a title"
    )
    all_calls = calls(server)
    assert sorted(call["status"] for call in all_calls) == ["lost", "settled", "settled"]
    answers = sum(call["cost_micros"] for call in all_calls if call["role"] == "bot")
    assert resumed["answer"]["cost_micros"] == answers
    bot = server.call("GET", "/api/v1/bots/ada")
    assert bot["spent_micros"] == sum(call["cost_micros"] for call in all_calls)


def test_conversations_survive_kills_at_any_instant(
    start_server: Callable[..., Server], model_server: StartModels, thorough: bool, chance: random.Random
):
    kills = 6 if thorough else 2
    models = model_server(script(delay_s=0.01))
    server = start_server()
    prepare(server, models)
    sessions = dict[str, str]()
    for kill in range(kills):
        for i in range(6):
            text = f"question {kill}.{i}"
            sessions[ask(server, text)] = text
        time.sleep(chance.uniform(0, 1.2))
        server.kill()
        server.start()
    statuses = [wait_for_answer(server, session_id)["status"] for session_id in sessions]
    assert set(statuses) <= {"done", "interrupted"}
    for session_id, text in sessions.items():
        question, answer = messages(server, session_id)
        assert question["text"] == text
        if answer["status"] == "interrupted":
            assert WORDS.startswith(answer["text"])
            server.call("POST", f"/api/v1/sessions/{session_id}/resume", {})
            resumed = wait_for_answer(server, session_id)
            assert resumed["status"] == "done"
            assert resumed["text"] == (answer["text"] + REST if answer["text"] else WORDS)
        else:
            assert answer["text"] == WORDS
    wait_until(lambda: all(call["status"] != "open" for call in calls(server)), what="the end of all calls")
    print(f"\n{len(sessions)} answers, {kills} kills: {statuses.count('interrupted')} of them interrupted")
