"""kill -9 at any time loses nothing."""

import random
import signal
import time
from collections.abc import Callable

import httpx2
import pytest
from tests.support.chaos import Account, account_for, answer_gates, runs_in_flight, start_runs, unfinished
from tests.support.postgres import Postgres
from tests.support.server import Server, wait_until

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]


def settle(server: Server) -> None:
    def all_done() -> bool:
        answer_gates(server)
        return unfinished(server) == 0

    wait_until(all_done, timeout_s=600, what="the end of all runs")


def check(account: Account, *, runs: int, kills: int) -> None:
    assert dict(account.statuses) == {"completed": runs}
    assert account.wrong_answers == []
    assert account.gaps == []
    assert (account.out_of_order, account.effects_out_of_order) == ([], [])
    assert account.lost_effects == 0
    # Only a step that was running when the process died may happen again: at most three at once in each run.
    assert account.repeated_effects <= runs * kills * 3
    print(
        f"\n{runs} runs, {kills} kills: {account.effects} effects, {account.repeated_effects} of them repeated; "
        f"runs by number of attempts: {dict(sorted(account.attempts.items()))}"
    )


def test_runs_survive_kills_on_sqlite(
    start_server: Callable[..., Server], thorough: bool, chance: random.Random
):
    # A step long enough for runs to be in flight at most of the kills.
    runs, kills, step_ms = (200, 20, 2500) if thorough else (50, 5, 1000)
    server = start_server()
    batch = runs // 2 // kills
    run_ids = start_runs(server, range(runs // 2), step_ms=step_ms)
    for _ in range(kills):
        # However slow the machine is, and however many have ended: at each kill there are some that have just begun.
        run_ids += start_runs(server, range(len(run_ids), len(run_ids) + batch), step_ms=step_ms)
        time.sleep(chance.uniform(0.05, 1.0))
        answer_gates(server)
        wait_until(lambda: runs_in_flight(server), what="a run to interrupt")
        server.kill()
        server.start()
    settle(server)
    account = account_for(server, run_ids)
    check(account, runs=runs, kills=kills)
    interrupted = sum((attempts - 1) * runs for attempts, runs in account.attempts.items())
    assert interrupted >= kills, "too few runs were in flight when the server died"


def test_the_runs_of_a_dead_worker_are_taken_over(
    start_server: Callable[..., Server], postgres: Postgres, thorough: bool
):
    runs = 200 if thorough else 60
    url = postgres.new_database()
    server = start_server(FORGE_DATABASE_URL=url)
    # They share the data directory, as processes on one machine do, so that effects are counted in one place.
    worker = Server(server.data_dir, command="worker", FORGE_DATABASE_URL=url)
    worker.start()
    wait_until(lambda: len(server.call("GET", "/api/v1/status")["workers"]) == 2, what="the second worker")
    run_ids = start_runs(server, range(runs))
    doomed = next(
        w["id"] for w in server.call("GET", "/api/v1/status")["workers"] if w["pid"] == worker.process.pid
    )
    worker.kill()
    died = time.monotonic()
    wait_until(
        lambda: all(w["id"] != doomed for w in server.call("GET", "/api/v1/status")["workers"]),
        what="the burial of the dead worker",
    )
    took_s = time.monotonic() - died
    settle(server)
    account = account_for(server, run_ids)
    check(account, runs=runs, kills=1)
    assert account.attempts[2] > 0, "the dead worker had no run to take over"
    print(f"a dead worker's runs were taken over {took_s:.1f} s after its death")


def test_waiting_runs_survive_a_kill_and_a_question_is_asked_once(start_server: Callable[..., Server]):
    server = start_server()
    body = {"kind": "self_test", "input": {"ask": True, "step_ms": 0}}
    run_id = server.call("POST", "/api/v1/runs", body)["id"]
    (gate,) = wait_until(lambda: server.call("GET", "/api/v1/gates?status=open"), what="the question")
    for _ in range(3):
        server.kill()
        server.start()
    assert server.call("GET", "/api/v1/gates?status=open") == [gate]
    # Answered, and killed before the run can hear of it: the answer is as durable as the question.
    answer = {"option": "no", "shown_hash": gate["shown_hash"]}
    server.call("POST", f"/api/v1/gates/{gate['id']}/answer", answer)
    server.kill()
    server.start()
    path = f"/api/v1/runs/{run_id}"
    wait_until(lambda: server.call("GET", path)["run"]["status"] == "completed", what="the end of the run")
    assert server.call("GET", path)["run"]["output"] == {"answer": "no"}


def test_a_cancel_survives_a_kill(start_server: Callable[..., Server]):
    server = start_server()
    body = {"kind": "self_test", "input": {"step_ms": 60_000}}
    run_id = server.call("POST", "/api/v1/runs", body)["id"]
    path = f"/api/v1/runs/{run_id}"
    wait_until(lambda: server.call("GET", path)["steps"], what="the first step")
    server.call("POST", f"{path}/cancel")
    server.kill()
    server.start()
    other = server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {}})["id"]
    wait_until(
        lambda: server.call("GET", f"/api/v1/runs/{other}")["run"]["status"] == "completed",
        what="another run",
    )
    detail = server.call("GET", path)
    assert (detail["run"]["status"], detail["run"]["attempt"]) == ("cancelled", 1)


def test_a_frozen_worker_is_taken_over_and_its_late_results_are_refused(
    start_server: Callable[..., Server], postgres: Postgres
):
    """It holds locks and believes that it still owns its runs: both must not matter."""
    url = postgres.new_database()
    server = start_server(FORGE_DATABASE_URL=url)
    worker = Server(server.data_dir, command="worker", FORGE_DATABASE_URL=url)
    worker.start()
    wait_until(lambda: len(server.call("GET", "/api/v1/status")["workers"]) == 2, what="the second worker")
    run_ids = start_runs(server, range(60))
    worker.process.send_signal(signal.SIGSTOP)
    froze = time.monotonic()
    settle(server)
    took_s = time.monotonic() - froze
    worker.process.send_signal(signal.SIGCONT)
    wait_until(
        lambda: len(server.call("GET", "/api/v1/status")["workers"]) == 2, what="the thawed worker's return"
    )
    more = start_runs(server, range(20))
    settle(server)
    worker.stop()
    assert worker.process.returncode == 0
    account = account_for(server, run_ids)
    assert dict(account.statuses) == {"completed": 60}
    assert (account.wrong_answers, account.gaps) == ([], [])
    assert dict(account_for(server, more).statuses) == {"completed": 20}
    print(f"60 runs, half of them on a worker that froze: all done {took_s:.1f} s later")


def test_runs_wait_for_a_database_that_is_away(start_server: Callable[..., Server], postgres: Postgres):
    server = start_server(FORGE_DATABASE_URL=postgres.new_database())
    run_ids = start_runs(server, range(40))
    for _ in range(3):
        time.sleep(0.5)
        postgres.restart()
    wait_until(lambda: is_well(server), what="the server's recovery")
    settle_through_outage(server)
    ended = [server.call("GET", f"/api/v1/runs/{run_id}")["run"] for run_id in run_ids]
    assert [run["error"] for run in ended if run["error"]] == []
    account = account_for(server, run_ids)
    assert dict(account.statuses) == {"completed": 40}
    assert (account.wrong_answers, account.gaps) == ([], [])


def test_a_server_ends_well_while_its_database_is_away(
    start_server: Callable[..., Server], postgres: Postgres
):
    server = start_server(FORGE_DATABASE_URL=postgres.new_database())
    run_ids = start_runs(server, range(8))
    with postgres.away():
        wait_until(lambda: "the database is unavailable" in server.output, what="a run that waits")
        server.stop()
    assert server.process.returncode == 0, server.output
    server.start()
    settle_through_outage(server)
    account = account_for(server, run_ids)
    assert dict(account.statuses) == {"completed": 8}
    assert (account.wrong_answers, account.gaps) == ([], [])


def is_well(server: Server) -> bool:
    try:
        return httpx2.get(f"{server.url}/health").is_success
    except httpx2.HTTPError:
        return False


def settle_through_outage(server: Server) -> None:
    def all_done() -> bool:
        answer_gates(server)
        with server.client() as client:
            answer = client.get("/api/v1/status")
        return answer.is_success and not {"pending", "running", "waiting"} & set(
            answer.json()["data"]["runs"]
        )

    wait_until(all_done, timeout_s=600, what="the end of all runs")
