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
from forge.server.checks.story import Story, judge
from forge.terminal.client import connect

PROVEN = ["steps", "parallel", "retry", "sleep", "child", "gate", "events", "self-test"]


def test_a_server_proves_every_mechanism(forge: Terminal, server: Server):
    said = forge("doctor", "--deep", "--json")
    assert said.code == 0
    deep = said.data["checks"][-len(PROVEN) :]
    assert [(found["name"], found["status"]) for found in deep] == [(name, "ok") for name in PROVEN]
    assert all(found["took_ms"] is not None for found in deep if found["name"] != "events")
    assert server.call("GET", "/api/v1/gates?status=open") == []


def test_without_a_server_there_is_nothing_to_prove(elsewhere: Terminal):
    said = elsewhere("doctor", "--deep", "--json")
    assert said.code == 1
    assert said.data["checks"][-1]["advice"] == "Start it: forge serve"


def test_a_key_that_may_only_read_cannot_start_the_proof(elsewhere: Terminal, server: Server):
    key = server.call("POST", "/api/v1/keys", {"name": "reader", "scopes": ["read"]})["key"]
    elsewhere.environment |= {"FORGE_URL": server.url, "FORGE_API_KEY": key}
    said = elsewhere("doctor", "--deep", "--json")
    assert said.code == 1
    assert "scope" in said.data["checks"][-1]["finding"]


@pytest.fixture(scope="module")
def story(server: Server) -> Story:
    """A self-test that went well, to be spoilt."""
    Terminal(server.data_dir)("doctor", "--deep")
    with connect(ClientSettings(data_dir=server.data_dir)) as client:
        runs = client.get("/runs", list[dict[str, Any]])
        run_id = next(run["id"] for run in runs if run["parent_id"] is None)
        events = client.get("/events", list[Event], {"stream": f"run:{run_id}"})
        return Story(events, events, client.get(f"/runs/{run_id}", RunDetail))


def bad_ones(story: Story) -> set[str]:
    return {check.name for check in judge(story) if check.status is CheckStatus.BAD}


def without(story: Story, **wanted: Any) -> Story:
    kept = [event for event in story.live if not wanted.items() <= {"type": event.type, **event.data}.items()]
    assert len(kept) < len(story.live)
    renumbered = [replace(event, seq=number) for number, event in enumerate(kept, 1)]
    return replace(story, live=renumbered, stored=renumbered)


def test_a_story_that_went_well_is_believed(story: Story):
    assert bad_ones(story) == set()


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
def test_what_did_not_happen_is_noticed(story: Story, missing: dict[str, Any], name: str):
    assert bad_ones(without(story, **missing)) == {name}


def test_a_gap_is_noticed(story: Story):
    assert bad_ones(replace(story, live=story.live[:3] + story.live[4:])) >= {"events"}


def test_a_difference_to_the_log_is_noticed(story: Story):
    assert bad_ones(replace(story, stored=story.stored[:-1])) == {"events"}


def test_steps_one_after_the_other_are_not_parallel(story: Story):
    ended = next(
        event.at for event in story.live if event.data.get("name") == "branch 0" and "outcome" in event.data
    )
    late = [
        replace(event, at=ended + timedelta(seconds=1)) if event.data.get("name") == "branch 1" else event
        for event in story.live
    ]
    assert bad_ones(replace(story, live=late, stored=late)) == {"parallel"}


def test_a_run_that_failed_is_told_with_its_reason(story: Story):
    error = Problem(code="wrong_result", message="branch 1 gave 4")
    run = story.detail.run.model_copy(update={"status": RunStatus.FAILED, "error": error})
    failed = replace(story, detail=story.detail.model_copy(update={"run": run}))
    (found,) = [check for check in judge(failed) if check.status is CheckStatus.BAD]
    assert found.finding == "failed: branch 1 gave 4"
