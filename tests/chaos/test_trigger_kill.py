"""kill -9 at any time: every schedule and event starts exactly one run."""

import random
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.support.server import Server, wait_until
from tests.support.timeouts import PATIENCE_S

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(600)]

STEPS = [{"id": "pause", "type": "wait", "config": {"type": "wait", "seconds": 0}}]


def save(server: Server, name: str, trigger: dict[str, Any], output: str) -> None:
    definition = {"name": name, "triggers": [trigger], "steps": STEPS, "outputs": {"of": output}}
    server.call("POST", "/api/v1/workflows", {"definition": definition})


def runs(server: Server, name: str) -> list[dict[str, Any]]:
    return server.call("GET", f"/api/v1/workflows/{name}/runs?limit=200")


def outputs(server: Server, name: str) -> list[str]:
    workflow_runs = [server.call("GET", f"/api/v1/workflow-runs/{run['id']}") for run in runs(server, name)]
    return [run["output"]["of"] for run in workflow_runs]


def all_completed(server: Server, *names: str) -> bool:
    return all(run["status"] == "completed" for name in names for run in runs(server, name))


def test_schedules_and_events_start_one_run_each_despite_kills(
    start_server: Callable[..., Server], thorough: bool, chance: random.Random
):
    kills = 4 if thorough else 2
    server = start_server()
    schedule = {"type": "cron", "schedule": "every second", "catch_up": "all"}
    save(
        server,
        "after",
        {"type": "event", "event_type": "run.completed", "source": "workflow:tick"},
        "{{ trigger.run.id }}",
    )
    save(server, "tick", schedule, "{{ workflow.trigger.scheduled_at }}")
    for _ in range(kills):
        time.sleep(chance.uniform(0.5, 2.5))
        server.kill()
        time.sleep(chance.uniform(0, 1.5))
        server.start()
    wait_until(lambda: len(runs(server, "tick")) >= 5, what="some runs")
    server.call("PATCH", "/api/v1/workflows/tick", {"is_enabled": False})
    wait_until(
        lambda: all_completed(server, "tick"), timeout_s=PATIENCE_S, what="the end of all scheduled runs"
    )
    ticks = runs(server, "tick")
    wait_until(
        lambda: len(runs(server, "after")) >= len(ticks) and all_completed(server, "after"),
        timeout_s=PATIENCE_S,
        what="an event-triggered run per scheduled run",
    )
    due = sorted(datetime.fromisoformat(at) for at in outputs(server, "tick"))
    assert due == [due[0] + timedelta(seconds=number) for number in range(len(due))]
    assert sorted(outputs(server, "after")) == sorted(run["id"] for run in ticks)
