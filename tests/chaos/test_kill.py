"""kill -9 at random times loses no run and no effect."""

import random
import signal
import time
from collections.abc import Callable

import httpx2
import pytest
from tests.support.chaos import (
    ChaosReport,
    answer_gates,
    collect_report,
    runs_in_flight,
    start_runs,
    unfinished,
)
from tests.support.postgres import Postgres
from tests.support.server import Server, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]


def settle(server: Server) -> None:
    def all_done() -> bool:
        answer_gates(server)
        return unfinished(server) == 0

    wait_until(all_done, timeout_s=600, what="the end of all runs")


def check(report: ChaosReport, *, runs: int, kills: int) -> None:
    assert dict(report.statuses) == {"completed": runs}
    assert report.wrong_answers == []
    assert report.gaps == []
    assert (report.out_of_order, report.effects_out_of_order) == ([], [])
    assert report.lost_effects == 0
    # Only steps that were running at a kill may be repeated: at most three in each run.
    assert report.repeated_effects <= runs * kills * 3
    print(
        f"\n{runs} runs, {kills} kills: {report.effects} effects, {report.repeated_effects} of them repeated; "
        f"runs by number of attempts: {dict(sorted(report.attempts.items()))}"
    )


def test_runs_survive_kills_on_sqlite(
    start_server: Callable[..., Server], thorough: bool, chance: random.Random
):
    # Long steps, so that runs are in flight at most kills.
    runs, kills, step_ms = (200, 20, 2500) if thorough else (50, 5, 1000)
    server = start_server()
    batch = runs // 2 // kills
    run_ids = start_runs(server, range(runs // 2), step_ms=step_ms)
    for _ in range(kills):
        # New runs before each kill, so that some are in flight even on a fast machine.
        run_ids += start_runs(server, range(len(run_ids), len(run_ids) + batch), step_ms=step_ms)
        time.sleep(chance.uniform(0.05, 1.0))
        answer_gates(server)
        wait_until(lambda: runs_in_flight(server), what="a run to interrupt")
        server.kill()
        server.start()
    settle(server)
    report = collect_report(server, run_ids)
    check(report, runs=runs, kills=kills)
    interrupted = sum((attempts - 1) * runs for attempts, runs in report.attempts.items())
    assert interrupted >= kills, "too few runs were in flight at the kills"


def test_runs_of_a_killed_worker_are_recovered(
    start_server: Callable[..., Server], postgres: Postgres, thorough: bool
):
    runs = 200 if thorough else 60
    url = postgres.new_database()
    server = start_server(FORGE_DATABASE_URL=url)
    # Both share the data directory, so that effects are counted in one file.
    worker = Server(server.data_dir, command="worker", FORGE_DATABASE_URL=url)
    worker.start()
    wait_until(lambda: len(server.call("GET", "/api/v1/status")["workers"]) == 2, what="the second worker")
    run_ids = start_runs(server, range(runs))
    killed_id = next(
        worker_row["id"]
        for worker_row in server.call("GET", "/api/v1/status")["workers"]
        if worker_row["pid"] == worker.process.pid
    )
    worker.kill()
    killed_at = time.monotonic()
    wait_until(
        lambda: all(
            worker_row["id"] != killed_id for worker_row in server.call("GET", "/api/v1/status")["workers"]
        ),
        what="the removal of the killed worker",
    )
    took_s = time.monotonic() - killed_at
    settle(server)
    report = collect_report(server, run_ids)
    check(report, runs=runs, kills=1)
    assert report.attempts[2] > 0, "the killed worker had no runs to recover"
    print(f"a killed worker's runs were recovered {took_s:.1f} s after the kill")


def test_waiting_run_survives_kills_with_one_gate(start_server: Callable[..., Server]):
    server = start_server()
    body = {"kind": "self_test", "input": {"ask": True, "step_ms": 0}}
    run_id = server.call("POST", "/api/v1/runs", body)["id"]
    (gate,) = wait_until(lambda: server.call("GET", "/api/v1/gates?status=open"), what="the gate")
    for _ in range(3):
        server.kill()
        server.start()
    assert server.call("GET", "/api/v1/gates?status=open") == [gate]
    # Killed before the run can read the answer: answers are durable.
    response = {"option": "no", "shown_hash": gate["shown_hash"]}
    server.call("POST", f"/api/v1/gates/{gate['id']}/answer", response)
    server.kill()
    server.start()
    path = f"/api/v1/runs/{run_id}"
    wait_until(lambda: server.call("GET", path)["run"]["status"] == "completed", what="the end of the run")
    assert server.call("GET", path)["run"]["output"] == {"answer": "no"}


def test_cancel_survives_a_kill(start_server: Callable[..., Server]):
    server = start_server()
    body = {"kind": "self_test", "input": {"step_ms": 60_000}}
    run_id = server.call("POST", "/api/v1/runs", body)["id"]
    path = f"/api/v1/runs/{run_id}"
    wait_until(lambda: server.call("GET", path)["steps"], what="the first step")
    server.call("POST", f"{path}/cancel")
    server.kill()
    server.start()
    other_id = server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {}})["id"]
    wait_until(
        lambda: server.call("GET", f"/api/v1/runs/{other_id}")["run"]["status"] == "completed",
        what="another run",
    )
    detail = server.call("GET", path)
    assert (detail["run"]["status"], detail["run"]["attempt"]) == ("cancelled", 1)


def test_runs_of_a_frozen_worker_are_recovered_and_its_late_results_rejected(
    start_server: Callable[..., Server], postgres: Postgres
):
    """The frozen worker holds locks and still considers itself the owner of its runs."""
    url = postgres.new_database()
    server = start_server(FORGE_DATABASE_URL=url)
    worker = Server(server.data_dir, command="worker", FORGE_DATABASE_URL=url)
    worker.start()
    wait_until(lambda: len(server.call("GET", "/api/v1/status")["workers"]) == 2, what="the second worker")
    run_ids = start_runs(server, range(60))
    worker.process.send_signal(signal.SIGSTOP)
    frozen_at = time.monotonic()
    settle(server)
    took_s = time.monotonic() - frozen_at
    worker.process.send_signal(signal.SIGCONT)
    wait_until(
        lambda: len(server.call("GET", "/api/v1/status")["workers"]) == 2,
        what="the re-registration of the resumed worker",
    )
    new_run_ids = start_runs(server, range(20))
    settle(server)
    worker.stop()
    assert worker.process.returncode == 0
    report = collect_report(server, run_ids)
    assert dict(report.statuses) == {"completed": 60}
    assert (report.wrong_answers, report.gaps) == ([], [])
    assert dict(collect_report(server, new_run_ids).statuses) == {"completed": 20}
    print(f"60 runs, half of them on a frozen worker: all completed {took_s:.1f} s later")


def test_runs_wait_for_an_unavailable_database(start_server: Callable[..., Server], postgres: Postgres):
    server = start_server(FORGE_DATABASE_URL=postgres.new_database())
    run_ids = start_runs(server, range(40))
    for _ in range(3):
        time.sleep(0.5)
        postgres.restart()
    wait_until(lambda: is_healthy(server), what="the recovery of the server")
    settle_through_outage(server)
    runs = [server.call("GET", f"/api/v1/runs/{run_id}")["run"] for run_id in run_ids]
    assert [run["error"] for run in runs if run["error"]] == []
    report = collect_report(server, run_ids)
    assert dict(report.statuses) == {"completed": 40}
    assert (report.wrong_answers, report.gaps) == ([], [])


def test_server_stops_cleanly_while_its_database_is_unavailable(
    start_server: Callable[..., Server], postgres: Postgres
):
    server = start_server(FORGE_DATABASE_URL=postgres.new_database())
    run_ids = start_runs(server, range(8))
    with postgres.stopped():
        wait_until(lambda: "the database is unavailable" in server.output, what="a waiting run")
        server.stop()
    assert server.process.returncode == 0, server.output
    server.start()
    settle_through_outage(server)
    report = collect_report(server, run_ids)
    assert dict(report.statuses) == {"completed": 8}
    assert (report.wrong_answers, report.gaps) == ([], [])


def is_healthy(server: Server) -> bool:
    try:
        return httpx2.get(f"{server.url}/health").is_success
    except httpx2.HTTPError:
        return False


def settle_through_outage(server: Server) -> None:
    def all_done() -> bool:
        answer_gates(server)
        with server.client() as client:
            response = client.get("/api/v1/status")
        return response.is_success and not {"pending", "running", "waiting"} & set(
            response.json()["data"]["runs"]
        )

    wait_until(all_done, timeout_s=600, what="the end of all runs")
