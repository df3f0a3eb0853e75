"""Start many self-test runs while servers are killed, and check their effects exactly."""

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from tests.support.server import Server

WIDTH = 3
INPUT = {"width": WIDTH, "keep_effects": True}
GROUPS = {1: 0, **{2 + i: 1 for i in range(WIDTH)}, 2 + WIDTH: 2}
"""The group of each self-test step number, in execution order; the parallel steps share a group."""
EFFECTS_PER_RUN = len(GROUPS) + 1  # the flaky step has two attempts


@dataclass
class ChaosReport:
    """Results, events and effects of all runs after the last kill."""

    statuses: Counter[str] = field(default_factory=Counter)
    wrong_answers: list[str] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    effects_out_of_order: list[str] = field(default_factory=list)
    lost_effects: int = 0
    repeated_effects: int = 0
    effects: int = 0
    attempts: Counter[int] = field(default_factory=Counter)


def start_runs(server: Server, numbers: range, *, step_ms: int = 50) -> list[str]:
    """Start one run per number: every second one has a gate, every fifth a child run."""
    run_ids: list[str] = []
    with server.client() as client:
        for i in numbers:
            run_input = {**INPUT, "step_ms": step_ms, "ask": i % 2 == 0, "child": i % 5 == 0}
            response = client.post("/api/v1/runs", json={"kind": "self_test", "input": run_input})
            run_ids.append(response.raise_for_status().json()["data"]["id"])
    return run_ids


def answer_gates(server: Server) -> None:
    """Answer all open gates; ignore a server that is killed meanwhile."""
    try:
        with server.client() as client:
            response = client.get("/api/v1/gates", params={"status": "open", "limit": 200})
            for gate in response.raise_for_status().json()["data"]:
                body = {"option": "yes", "shown_hash": gate["shown_hash"]}
                client.post(f"/api/v1/gates/{gate['id']}/answer", json=body)
    except (httpx2.HTTPError, json.JSONDecodeError, FileNotFoundError):
        pass


def unfinished(server: Server) -> int:
    runs: dict[str, int] = server.call("GET", "/api/v1/status")["runs"]
    return sum(runs.get(status, 0) for status in ("pending", "running", "waiting"))


def runs_in_flight(server: Server) -> int:
    return server.call("GET", "/api/v1/status")["runs"].get("running", 0)


def collect_report(server: Server, run_ids: list[str]) -> ChaosReport:
    account = ChaosReport()
    with server.client() as client:
        for i, run_id in enumerate(run_ids):
            detail = client.get(f"/api/v1/runs/{run_id}").json()["data"]
            run = detail["run"]
            account.statuses[run["status"]] += 1
            account.attempts[run["attempt"]] += 1
            if run["output"] != {"answer": "yes" if i % 2 == 0 else None}:
                account.wrong_answers.append(f"{run_id}: {run['status']} {run['output']} {run['error']}")
            query = {"stream": f"run:{run_id}", "limit": 10_000}
            events = client.get("/api/v1/events", params=query).json()["data"]
            if [event["seq"] for event in events] != list(range(1, len(events) + 1)):
                account.gaps.append(run_id)
            _check_progress(account, run_id, events)
            _count_effects(account, server.data_dir, run_id)
    return account


def _check_progress(account: ChaosReport, run_id: str, events: list[dict[str, Any]]) -> None:
    """Check that each progress event, a database effect, exists exactly once and in order."""
    progress = [event["data"]["done"] for event in events if event["type"] == "run.progress"]
    if progress != [0, 1, 2, 3, 4, 5]:
        account.out_of_order.append(f"{run_id}: progress {progress}")


def _count_effects(account: ChaosReport, data_dir: Path, run_id: str) -> None:
    effects = (data_dir / "self-test" / run_id / "effects").read_text().split()
    counts = Counter(effects)
    account.effects += len(effects)
    account.repeated_effects += sum(count - 1 for count in counts.values())
    account.lost_effects += EFFECTS_PER_RUN - len(counts)
    groups = [GROUPS[int(line.split("#")[0])] for line in effects]
    if groups != sorted(groups):
        account.effects_out_of_order.append(f"{run_id}: {effects}")
