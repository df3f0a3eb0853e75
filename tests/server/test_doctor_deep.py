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

SELF_TEST_CHECKS = ["steps", "parallel", "retry", "sleep", "child", "gate", "events", "self-test"]


def test_self_test_passes_on_a_running_server(forge: Terminal, server: Server):
    result = forge("doctor", "--deep", "--json")
    assert result.code == 0
    deep = result.data["checks"][-len(SELF_TEST_CHECKS) :]
    assert [(check["name"], check["status"]) for check in deep] == [(name, "ok") for name in SELF_TEST_CHECKS]
    assert all(check["took_ms"] is not None for check in deep if check["name"] != "events")
    assert server.call("GET", "/api/v1/gates?status=open") == []


def test_self_test_needs_a_server(remote: Terminal):
    result = remote("doctor", "--deep", "--json")
    assert result.code == 1
    assert result.data["checks"][-1]["advice"] == "Start it: forge serve"


def test_read_key_cannot_start_the_self_test(remote: Terminal, server: Server):
    key = server.call("POST", "/api/v1/keys", {"name": "reader", "scopes": ["read"]})["key"]
    remote.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": key}
    result = remote("doctor", "--deep", "--json")
    assert result.code == 1
    assert "scope" in result.data["checks"][-1]["finding"]


@pytest.fixture(scope="module")
def observation(server: Server) -> Observation:
    """The observation of a successful self-test."""
    Terminal(server.data_dir)("doctor", "--deep")
    with connect(ClientSettings(data_dir=server.data_dir)) as client:
        runs = client.get("/runs", list[dict[str, Any]])
        run_id = next(run["id"] for run in runs if run["parent_id"] is None)
        events = client.get("/events", list[Event], {"stream": f"run:{run_id}"})
        return Observation(events, events, client.get(f"/runs/{run_id}", RunDetail))


def failed_checks(observation: Observation) -> set[str]:
    return {check.name for check in check_observation(observation) if check.status is CheckStatus.BAD}


def without_events(observation: Observation, **attributes: Any) -> Observation:
    remaining = [
        event
        for event in observation.live
        if not attributes.items() <= {"type": event.type, **event.data}.items()
    ]
    assert len(remaining) < len(observation.live)
    renumbered = [replace(event, seq=number) for number, event in enumerate(remaining, 1)]
    return replace(observation, live=renumbered, stored=renumbered)


def test_correct_events_pass_all_checks(observation: Observation):
    assert failed_checks(observation) == set()


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
    assert failed_checks(without_events(observation, **missing)) == {name}


def test_gap_in_the_events_is_detected(observation: Observation):
    assert failed_checks(replace(observation, live=observation.live[:3] + observation.live[4:])) >= {"events"}


def test_difference_between_live_events_and_log_is_detected(observation: Observation):
    assert failed_checks(replace(observation, stored=observation.stored[:-1])) == {"events"}


def test_sequential_steps_fail_the_parallel_check(observation: Observation):
    finished_at = next(
        event.at
        for event in observation.live
        if event.data.get("name") == "branch 0" and "outcome" in event.data
    )
    events = [
        replace(event, at=finished_at + timedelta(seconds=1))
        if event.data.get("name") == "branch 1"
        else event
        for event in observation.live
    ]
    assert failed_checks(replace(observation, live=events, stored=events)) == {"parallel"}


def test_failed_run_is_reported_with_its_reason(observation: Observation):
    error = Problem(code="wrong_result", message="branch 1 gave 4")
    run = observation.detail.run.model_copy(update={"status": RunStatus.FAILED, "error": error})
    failed = replace(observation, detail=observation.detail.model_copy(update={"run": run}))
    (check,) = [check for check in check_observation(failed) if check.status is CheckStatus.BAD]
    assert check.finding == "failed: branch 1 gave 4"
