"""kill -9 between turns of an interview and during model calls.

It resumes at the same turn, repeats no question and pays for no answer twice.
"""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.support.interview_scripts import NAME, TONE, ask, interview_script, option, ready
from tests.support.models import ModelServer, StartModels
from tests.support.server import Server, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]

REF = "scripted:scripted"
QUESTIONS = [
    NAME,
    TONE,
    ask("How bold?", option("Calm", "0.3"), option("Bold", "0.9"), field="temperature", phase="model"),
    ready(purpose="Tell a story before sleep."),
]


def prepare(server: Server, url: str) -> None:
    server.call("PUT", "/api/v1/models/providers/scripted", {"kind": "anthropic", "base_url": url})
    server.call("PUT", f"/api/v1/models/prices?model={REF}", {"input": 3, "output": 15})
    server.call("PUT", "/api/v1/models/roles/interviewer", {"chain": [REF]})


def start_interview(server: Server) -> Any:
    return server.call("POST", "/api/v1/builder/sessions", {"description": "Bedtime stories for my children"})


def get_session(server: Server, session_id: str) -> Any:
    return server.call("GET", f"/api/v1/builder/sessions/{session_id}")


def answer(server: Server, view: Any, index: int = 0) -> Any:
    body = {"answer": {"OptionIndex": index}, "turn": view["revision"]}
    return server.call("POST", f"/api/v1/builder/sessions/{view['session_id']}/answer", body)


def restart(server: Server) -> None:
    server.kill()
    server.start()


def test_interview_survives_a_kill_between_turns(
    start_server: Callable[..., Server], model_server: StartModels
):
    models = model_server(interview_script(QUESTIONS))
    server = start_server()
    prepare(server, models.url)
    view = start_interview(server)
    while view["turn"]["action"] == "ask_question":
        restart(server)
        assert get_session(server, view["session_id"]) == view
        view = answer(server, view)
    restart(server)
    assert get_session(server, view["session_id"]) == view
    created = server.call("POST", f"/api/v1/builder/sessions/{view['session_id']}/assemble", {})["result"]
    restart(server)
    repeated = server.call("POST", f"/api/v1/builder/sessions/{view['session_id']}/assemble", {})["result"]
    assert repeated == created
    assert "read every line aloud" in Path(created["soul_path"]).read_text()
    assert [line["answer"] for line in get_session(server, view["session_id"])["lines"]] == [
        "Quill",
        "Gently",
        "Calm (0.3)",
    ]
    calls = server.call("GET", "/api/v1/models/calls?limit=50")
    assert [call["status"] for call in calls] == ["settled"] * (len(QUESTIONS) + 1)  # including the soul
    assert models.stats().paid == len(calls)
    assert get_session(server, view["session_id"])["cost_micros"] == sum(
        call["cost_micros"] for call in calls
    )


def test_interview_survives_a_kill_during_a_model_call(
    start_server: Callable[..., Server], model_server: StartModels
):
    models = model_server(interview_script(QUESTIONS, delay_s=0.1))
    server = start_server()
    prepare(server, models.url)
    body = {"description": "Bedtime stories for my children"}
    path = "/api/v1/builder/sessions"
    view = server.call("POST", f"{path}?wait=false", body)
    path = f"{path}/{view['session_id']}"
    for _ in QUESTIONS[:-1]:
        view = kill_while_thinking(server, models, path)
        server.call("POST", f"{path}/answer?wait=false", {"answer": {"OptionIndex": 0}})
    view = kill_while_thinking(server, models, path)
    assert view["turn"]["action"] == "ready_to_assemble"
    assert [line["answer"] for line in view["lines"]] == ["Quill", "Gently", "Calm (0.3)"]
    calls = server.call("GET", "/api/v1/models/calls?limit=50")
    statuses = Counter(call["status"] for call in calls)
    assert statuses == {"settled": len(QUESTIONS) + 1, "lost": len(QUESTIONS)}, statuses


def kill_while_thinking(server: Server, models: ModelServer, path: str) -> Any:
    """Kill the server during a model call, and return the session at its next turn."""
    wait_until(lambda: models.stats().running, what="a running model call")
    restart(server)

    def next_turn() -> Any:
        view = server.call("GET", path)
        return view if view["due"] is None and view["turn"] is not None else None

    return wait_until(next_turn, what="the next turn")
