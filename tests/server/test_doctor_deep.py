from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.support.server import Server
from tests.support.terminal import Terminal

from forge.config import ClientSettings
from forge.events.models import Event
from forge.runs.models import Problem, RunDetail, RunStatus
from forge.server.checks.check import CheckStatus
from forge.server.checks.self_test import Observation, check_observation
from forge.terminal.client import connect

PROVEN = ["steps", "parallel", "retry", "sleep", "child", "gate", "events", "self-test"]


def test_self_test_passes_on_a_running_server(forge: Terminal, server: Server):
    said = forge("doctor", "--deep", "--json")
    assert said.code == 0
    deep = said.data["checks"][-len(PROVEN) :]
    assert [(found["name"], found["status"]) for found in deep] == [(name, "ok") for name in PROVEN]
    assert all(found["took_ms"] is not None for found in deep if found["name"] != "events")
    assert server.call("GET", "/api/v1/gates?status=open") == []


def test_self_test_needs_a_server(elsewhere: Terminal):
    said = elsewhere("doctor", "--deep", "--json")
    assert said.code == 1
    assert said.data["checks"][-1]["advice"] == "Start it: forge serve"


def test_read_key_cannot_start_the_self_test(elsewhere: Terminal, server: Server):
    key = server.call("POST", "/api/v1/keys", {"name": "reader", "scopes": ["read"]})["key"]
    elsewhere.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": key}
    said = elsewhere("doctor", "--deep", "--json")
    assert said.code == 1
    assert "scope" in said.data["checks"][-1]["finding"]


@pytest.fixture(scope="module")
def observation(server: Server) -> Observation:
    """A self-test that went well, to be spoilt."""
    Terminal(server.data_dir)("doctor", "--deep")
    with connect(ClientSettings(data_dir=server.data_dir)) as client:
        runs = client.get("/runs", list[dict[str, Any]])
        run_id = next(run["id"] for run in runs if run["parent_id"] is None)
        events = client.get("/events", list[Event], {"stream": f"run:{run_id}"})
        return Observation(events, events, client.get(f"/runs/{run_id}", RunDetail))


def bad_ones(observation: Observation) -> set[str]:
    return {check.name for check in check_observation(observation) if check.status is CheckStatus.BAD}


def without(observation: Observation, **wanted: Any) -> Observation:
    kept = [
        event
        for event in observation.live
        if not wanted.items() <= {"type": event.type, **event.data}.items()
    ]
    assert len(kept) < len(observation.live)
    renumbered = [replace(event, seq=number) for number, event in enumerate(kept, 1)]
    return replace(observation, live=renumbered, stored=renumbered)


def test_correct_events_pass_all_checks(observation: Observation):
    assert bad_ones(observation) == set()


@pytest.mark.parametrize(
    ("missing", "name"),
    [
        ({"type": "step.finished", "name": "single"}, "steps"),
        ({"type": "step.finished", "name": "branch 1"}, "parallel"),
        ({"type": "step.finished", "name": "flaky", "outcome": "error"}, "retry"),
        ({"type": "run.waiting", "reason": "sleep"}, "sleep"),
        ({"type": "run.waiting", "reason": "child"}, "child"),
        ({"type": "gate.answered"}, "gate"),
    ],
)
def test_missing_event_is_detected(observation: Observation, missing: dict[str, Any], name: str):
    assert bad_ones(without(observation, **missing)) == {name}


def test_gap_in_the_events_is_detected(observation: Observation):
    assert bad_ones(replace(observation, live=observation.live[:3] + observation.live[4:])) >= {"events"}


def test_difference_between_live_events_and_log_is_detected(observation: Observation):
    assert bad_ones(replace(observation, stored=observation.stored[:-1])) == {"events"}


def test_sequential_steps_fail_the_parallel_check(observation: Observation):
    ended = next(
        event.at
        for event in observation.live
        if event.data.get("name") == "branch 0" and "outcome" in event.data
    )
    late = [
        replace(event, at=ended + timedelta(seconds=1)) if event.data.get("name") == "branch 1" else event
        for event in observation.live
    ]
    assert bad_ones(replace(observation, live=late, stored=late)) == {"parallel"}


def test_failed_run_is_reported_with_its_reason(observation: Observation):
    error = Problem(code="wrong_result", message="branch 1 gave 4")
    run = observation.detail.run.model_copy(update={"status": RunStatus.FAILED, "error": error})
    failed = replace(observation, detail=observation.detail.model_copy(update={"run": run}))
    (found,) = [check for check in check_observation(failed) if check.status is CheckStatus.BAD]
    assert found.finding == "failed: branch 1 gave 4"
