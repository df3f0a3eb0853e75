"""kill -9 while a bot uses skills: nothing is said twice, and repeated executions are reported."""

import random
import time
from collections.abc import Callable
from typing import Any

import pytest
from tests.chaos.test_chat_kill import ask, ended, messages, prepare
from tests.support.models import StartModels
from tests.support.server import Server, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]

WHOLE = "I run it.\n\nDone with it."
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


def give_skill(server: Server) -> None:
    files = {"SKILL.md": SKILL_MD, "skill.js": SOURCE}
    server.call("POST", "/api/v1/skills", {"name": "slow", "files": files})
    server.call("POST", "/api/v1/bots/ada/skills", {"skill_name": "slow"})


def uses(message: Any) -> list[tuple[str, str]]:
    return [(use["how"], use["state"]) for use in message["answer"]["skills_used"]]


def test_a_skill_that_ran_when_the_server_died_is_not_run_again(
    start_server: Callable[..., Server], model_server: StartModels
):
    models = model_server(script(ms=20_000, delay_s=0))
    server = start_server()
    prepare(server, models)
    give_skill(server)
    session_id = ask(server, "Run it")
    wait_until(lambda: ("ran", "running") in uses(messages(server, session_id)[-1]), what="a skill that runs")
    wait_until(lambda: server.call("GET", "/api/v1/skills/slow/runs") != [], what="a note that it does")
    server.kill()
    server.start()
    answer = ended(server, session_id)
    assert (answer["status"], answer["text"]) == ("done", WHOLE)
    assert uses(answer) == [("opened", "done"), ("ran", "failed")]
    assert "was not run again" in answer["answer"]["skills_used"][-1]["output"]
    assert len(server.call("GET", "/api/v1/skills/slow/runs")) == 1
    wait_until(lambda: models.stats().paid == 4, what="a title beside the three turns")


def test_answers_with_skills_survive_kills_at_any_instant(
    start_server: Callable[..., Server], model_server: StartModels, thorough: bool, chance: random.Random
):
    kills = 5 if thorough else 2
    models = model_server(script(ms=150, delay_s=0.02))
    server = start_server()
    prepare(server, models)
    give_skill(server)
    sessions = list[str]()
    for kill in range(kills):
        sessions += [ask(server, f"run {kill}.{i}") for i in range(4)]
        time.sleep(chance.uniform(0.1, 1.5))
        server.kill()
        server.start()
    statuses = [ended(server, session_id)["status"] for session_id in sessions]
    assert set(statuses) <= {"done", "interrupted"}
    for session_id in sessions:
        _, answer = messages(server, session_id)
        assert "running" not in [state for _, state in uses(answer)]
        if answer["status"] == "done":
            assert answer["text"] == WHOLE
            assert [how for how, _ in uses(answer)] == ["opened", "ran"]
            continue
        assert WHOLE.startswith(answer["text"])
        server.call("POST", f"/api/v1/sessions/{session_id}/resume", {})
        resumed = ended(server, session_id)
        assert resumed["status"] == "done"
        assert resumed["text"] == (answer["text"] + " And on." if answer["text"] else WHOLE)
    runs = server.call("GET", "/api/v1/skills/slow/runs?limit=200")
    asked = sum(how == "ran" for one in sessions for how, _ in uses(messages(server, one)[-1]))
    assert len(runs) <= asked
    print(f"\n{len(sessions)} answers, {kills} kills: {statuses.count('interrupted')} of them interrupted")
