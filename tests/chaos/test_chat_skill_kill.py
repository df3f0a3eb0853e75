"""kill -9 while a bot uses skills: no text is repeated, and interrupted skill runs are reported."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.chaos.test_chat_kill import ask, messages, prepare, wait_for_answer
from tests.support.models import StartModels
from tests.support.server import Server, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]

FULL_TEXT = "I run it.\n\nDone with it."
SKILL_MD = """\
---
name: slow
description: Takes a while.
metadata:
  forge-kind: script
---
Give it nothing.
"""
SOURCE = """\
function run(input) {
  const end = Date.now() + (input.ms || 0);
  while (Date.now() < end) {}
  return { done: true };
}
"""


def script(ms: int, delay_s: float) -> dict[str, Any]:
    turns = [
        {"text": "I run it.", "tools": [{"use_skill": {"name": "slow"}}]},
        {"tools": [{"run_skill": {"name": "slow", "input": {"ms": ms}}}]},
        {"text": "Done with it."},
    ]
    return {
        "scenes": {
            "title": {"match": {"system": "Give the conversation"}, "turns": [{"text": "Slow"}]},
            "more": {"match": {"latest": "Go on from exactly"}, "turns": [{"text": " And on."}]},
            "talk": {"turns": turns},
        },
        "delay_s": delay_s,
        "piece_chars": 3,
    }


def attach_skill(server: Server) -> None:
    files = {"SKILL.md": SKILL_MD, "skill.js": SOURCE}
    server.call("POST", "/api/v1/skills", {"name": "slow", "files": files})
    server.call("POST", "/api/v1/bots/ada/skills", {"skill_name": "slow"})


def skill_calls(message: Any) -> list[tuple[str, str]]:
    return [(use["how"], use["state"]) for use in message["answer"]["skills_used"]]


def test_skill_running_during_a_kill_is_not_run_again(
    start_server: Callable[..., Server], model_server: StartModels
):
    models = model_server(script(ms=20_000, delay_s=0))
    server = start_server()
    prepare(server, models)
    attach_skill(server)
    session_id = ask(server, "Run it")
    wait_until(
        lambda: ("ran", "running") in skill_calls(messages(server, session_id)[-1]), what="a running skill"
    )
    wait_until(
        lambda: server.call("GET", "/api/v1/skills/slow/runs") != [], what="the record of the skill run"
    )
    server.kill()
    server.start()
    answer = wait_for_answer(server, session_id)
    assert (answer["status"], answer["text"]) == ("done", FULL_TEXT)
    assert skill_calls(answer) == [("opened", "done"), ("ran", "failed")]
    assert "was not run again" in answer["answer"]["skills_used"][-1]["output"]
    assert len(server.call("GET", "/api/v1/skills/slow/runs")) == 1
    wait_until(lambda: models.stats().paid == 4, what="the title and three turns")


def test_answers_with_skills_survive_kills_at_any_instant(
    start_server: Callable[..., Server], model_server: StartModels, thorough: bool, chance: random.Random
):
    kills = 5 if thorough else 2
    models = model_server(script(ms=150, delay_s=0.02))
    server = start_server()
    prepare(server, models)
    attach_skill(server)
    sessions = list[str]()
    for kill in range(kills):
        sessions += [ask(server, f"run {kill}.{i}") for i in range(4)]
        time.sleep(chance.uniform(0.1, 1.5))
        server.kill()
        server.start()
    statuses = [wait_for_answer(server, session_id)["status"] for session_id in sessions]
    assert set(statuses) <= {"done", "interrupted"}
    for session_id in sessions:
        _, answer = messages(server, session_id)
        assert "running" not in [state for _, state in skill_calls(answer)]
        if answer["status"] == "done":
            assert answer["text"] == FULL_TEXT
            assert [how for how, _ in skill_calls(answer)] == ["opened", "ran"]
            continue
        assert FULL_TEXT.startswith(answer["text"])
        server.call("POST", f"/api/v1/sessions/{session_id}/resume", {})
        resumed = wait_for_answer(server, session_id)
        assert resumed["status"] == "done"
        assert resumed["text"] == (answer["text"] + " And on." if answer["text"] else FULL_TEXT)
    runs = server.call("GET", "/api/v1/skills/slow/runs?limit=200")
    requested = sum(
        how == "ran" for session_id in sessions for how, _ in skill_calls(messages(server, session_id)[-1])
    )
    assert len(runs) <= requested
    print(f"\n{len(sessions)} answers, {kills} kills: {statuses.count('interrupted')} of them interrupted")
