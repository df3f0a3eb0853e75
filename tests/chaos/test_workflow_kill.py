"""kill -9 at every step boundary and in the middle of workflow steps: finished steps are not repeated."""

import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from typing import Any

import pytest
from tests.chaos.long_workflow import SCRIPT, RunReport, approve_all, collect_report, prepare, settle, start
from tests.chaos.post_counter import FLAKY_FAILURES, PostCounter, open_post_counter
from tests.chaos.test_kill import is_healthy
from tests.support.models import ModelServer, StartModels
from tests.support.postgres import Postgres
from tests.support.server import Server, wait_until

from forge.workflows.definition.models import StepType

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]

MAX_PROCESSES = 250
MAX_RUNS = 6
ANSWERS = 2
"""The number of model answers in one run."""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class WorkflowServer:
    """A server with the result of one undisturbed run of the workflow."""

    server: Server
    counter: PostCounter
    models: ModelServer
    undisturbed: RunReport

    def report(self, run_id: str) -> RunReport:
        return collect_report(self.server, self.counter, run_id)

    def calls(self) -> Counter[str]:
        """Count model calls by status."""
        return Counter(call["status"] for call in self.server.call("GET", "/api/v1/models/calls?limit=200"))


OpenWorkflowServer = Callable[..., WorkflowServer]


@pytest.fixture
def open_workflow_server(
    start_server: Callable[..., Server], model_server: StartModels, tmp_path: Path
) -> Iterator[OpenWorkflowServer]:
    with open_post_counter() as counter:

        def open_server(**environment: str) -> WorkflowServer:
            models = model_server(SCRIPT)
            server = start_server(FORGE_HTTP_ALLOW=counter.place, **environment)
            prepare(server, models, counter, tmp_path / "basket")
            run_id = start(server)
            settle(server, [run_id])
            return WorkflowServer(server, counter, models, collect_report(server, counter, run_id))

        yield open_server


def check(report: RunReport, undisturbed: RunReport, *, late_posts: bool = False) -> None:
    """Assert that the result equals that of an undisturbed run and every step was reported once."""
    assert (report.status, report.output) == ("completed", undisturbed.output)
    assert report.steps == undisturbed.steps
    assert set(report.settled) == set(report.steps)
    assert (report.gaps, report.reported_twice, report.posted_with_two_keys) == ([], [], [])
    assert late_posts or report.posted_after_completion == []
    assert report.children | {"chat": 1, "message": 1} == undisturbed.children
    assert report.children["message"] == report.attempts["tell"]


def run_until_done(options: dict[str, Any], boundaries_to_skip: Iterator[int]) -> list[dict[str, Any]]:
    """Restart the worker until the run is done, killing it at boundaries; return the log of kills."""
    kills_log, result = Path(options["kills_log"]), Path(options["result"])
    command = [sys.executable, "-m", "tests.chaos.workflow_worker"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as worker:
        assert worker.stdin and worker.stdout
        for number in range(MAX_PROCESSES):
            worker.stdin.write(
                json.dumps({**options, "before": number % 2 == 1, "pass": next(boundaries_to_skip)}) + "\n"
            )
            worker.stdin.flush()
            assert int(worker.stdout.readline()) in (0, -signal.SIGKILL)
            if result.exists():
                break
        worker.stdin.close()
    return [json.loads(line) for line in kills_log.read_text().splitlines()]


def test_workflow_killed_at_every_boundary_resumes_there(
    open_workflow_server: OpenWorkflowServer, tmp_path: Path, thorough: bool, chance: random.Random
):
    workflow_server = open_workflow_server()
    server, undisturbed = workflow_server.server, workflow_server.undisturbed
    assert {
        item["type"] for item in server.call("GET", "/api/v1/workflows/long")["definition"]["steps"]
    } == set(StepType)
    assert len(undisturbed.steps) >= 30
    run_id = start(server)
    server.kill()
    options = {"data_dir": str(server.data_dir), "place": workflow_server.counter.place, "run_id": run_id}
    options |= {"kills_log": str(tmp_path / "kills"), "result": str(tmp_path / "result")}
    kills_log = run_until_done(options, repeat(0) if thorough else iter(lambda: chance.randint(0, 8), None))
    server.start()
    report = workflow_server.report(run_id)
    check(report, undisturbed)
    assert report.children == undisturbed.children
    timings = Counter(kill["before"] for kill in kills_log)
    assert min(timings.values()) >= (35 if thorough else 2), "too few kills before or after commits"
    lost = Counter(key for kill in kills_log for key in kill["running_steps"])
    # An answer that arrived just before a kill and was not recorded is paid for again.
    assert 0 <= workflow_server.models.stats().paid - 2 * ANSWERS <= lost["ask"] + lost["tell"]
    repeated = 0
    for key, posts in report.posts.items():
        repetitions = len(posts) - (1 + FLAKY_FAILURES if key == "flaky" else 1)
        assert 0 <= repetitions <= lost[key.removeprefix("errand/")], f"{key} was posted {len(posts)} times"
        repeated += repetitions
    repeated_skill_runs = len(server.call("GET", "/api/v1/skills/twice/runs?limit=200")) - 2 * 3
    assert 0 <= repeated_skill_runs <= sum(times for key, times in lost.items() if key.endswith("/double"))
    print(f"\n{len(kills_log)} kills: {repeated} posts of running steps were repeated with the same key")


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_workflows_survive_kills_at_any_instant(
    open_workflow_server: OpenWorkflowServer,
    request: pytest.FixtureRequest,
    database: str,
    thorough: bool,
    chance: random.Random,
):
    kills = {"sqlite": 12, "postgresql": 4}[database] if thorough else 3
    environment: dict[str, str] = {}
    if database == "postgresql":
        postgres: Postgres = request.getfixturevalue("postgres")
        environment["FORGE_DATABASE_URL"] = postgres.new_database()
    workflow_server = open_workflow_server(**environment)
    run_ids = list[str]()
    for _ in range(kills):
        if len(run_ids) < MAX_RUNS:
            run_ids.append(start(workflow_server.server))
        time.sleep(chance.uniform(0.1, 2.0))
        approve_all(workflow_server.server)
        workflow_server.server.kill()
        workflow_server.server.start()
    settle(workflow_server.server, run_ids)
    reports = [workflow_server.report(run_id) for run_id in run_ids]
    for report in reports:
        check(report, workflow_server.undisturbed)
    calls = workflow_server.calls()
    assert 0 <= calls["settled"] - ANSWERS * (len(run_ids) + 1) <= kills
    assert set(calls) <= {"settled", "lost"}
    print(
        f"\n{len(run_ids)} runs, {kills} kills: {repeats(reports)} posts were repeated, {calls['lost']} answers lost"
    )


def repeats(reports: list[RunReport]) -> int:
    return sum(len(posts) - 1 for item in reports for key, posts in item.posts.items() if key != "flaky")


@pytest.fixture
def server_and_worker(
    open_workflow_server: OpenWorkflowServer, postgres: Postgres
) -> Iterator[tuple[WorkflowServer, Server]]:
    """A server and a worker on the same database."""
    url = postgres.new_database()
    workflow_server = open_workflow_server(FORGE_DATABASE_URL=url)
    environment = {"FORGE_DATABASE_URL": url, "FORGE_HTTP_ALLOW": workflow_server.counter.place}
    worker = Server(workflow_server.server.data_dir, command="worker", **environment)
    worker.start()
    wait_until(lambda: len(workers(workflow_server)) == 2, what="the second worker")
    yield workflow_server, worker
    worker.process.send_signal(signal.SIGCONT)
    worker.stop()


def workers(workflow_server: WorkflowServer) -> list[Any]:
    return workflow_server.server.call("GET", "/api/v1/status")["workers"]


def start_all(workflow_server: WorkflowServer, count: int) -> list[str]:
    """Start runs and wait until all have started a step."""
    run_ids = [start(workflow_server.server) for _ in range(count)]
    wait_until(
        lambda: all(
            workflow_server.server.call("GET", f"/api/v1/workflow-runs/{item}")["steps"] for item in run_ids
        ),
        what="the first steps",
    )
    return run_ids


def attempts(workflow_server: WorkflowServer, run_ids: list[str]) -> list[int]:
    return [workflow_server.server.call("GET", f"/api/v1/runs/{item}")["run"]["attempt"] for item in run_ids]


def test_workflows_of_a_killed_worker_are_recovered(server_and_worker: tuple[WorkflowServer, Server]):
    workflow_server, worker = server_and_worker
    run_ids = start_all(workflow_server, 6)
    worker.kill()
    killed_at = time.monotonic()
    wait_until(lambda: max(attempts(workflow_server, run_ids)) > 1, what="the recovery of runs")
    took_s = time.monotonic() - killed_at
    settle(workflow_server.server, run_ids)
    for run_id in run_ids:
        check(workflow_server.report(run_id), workflow_server.undisturbed)
    recovered = sum(number > 1 for number in attempts(workflow_server, run_ids))
    print(f"\n{recovered} of {len(run_ids)} runs were recovered, the first {took_s:.1f} s after the kill")


def test_frozen_worker_writes_nothing_after_its_runs_were_recovered(
    server_and_worker: tuple[WorkflowServer, Server],
):
    workflow_server, worker = server_and_worker
    run_ids = start_all(workflow_server, 6)
    worker.process.send_signal(signal.SIGSTOP)
    settle(workflow_server.server, run_ids)
    assert max(attempts(workflow_server, run_ids)) > 1, "the frozen worker had no runs to recover"
    before = [workflow_server.report(run_id) for run_id in run_ids]
    worker.process.send_signal(signal.SIGCONT)
    wait_until(lambda: len(workers(workflow_server)) == 2, what="the re-registration of the resumed worker")
    time.sleep(1.0)
    after = [workflow_server.report(run_id) for run_id in run_ids]
    assert [item.stored for item in after] == [item.stored for item in before]
    for report in after:
        check(report, workflow_server.undisturbed, late_posts=True)
    (new_run,) = start_all(workflow_server, 1)
    settle(workflow_server.server, [new_run])
    check(workflow_server.report(new_run), workflow_server.undisturbed)


def test_workflows_wait_for_an_unavailable_database(
    open_workflow_server: OpenWorkflowServer, postgres: Postgres
):
    workflow_server = open_workflow_server(FORGE_DATABASE_URL=postgres.new_database())
    run_ids = start_all(workflow_server, 3)
    for _ in range(4):
        time.sleep(0.7)
        postgres.restart()
    wait_until(lambda: is_healthy(workflow_server.server), what="the recovery of the server")
    settle(workflow_server.server, run_ids)
    assert attempts(workflow_server, run_ids) == [1, 1, 1], "no process was killed, so no run was restarted"
    for run_id in run_ids:
        check(workflow_server.report(run_id), workflow_server.undisturbed)
