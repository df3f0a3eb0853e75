"""Kill -9 at every boundary and in the middle of a workflow's steps: it goes on exactly there, and nothing that was
finished is done again."""

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
from tests.chaos.counting import SHY_TIMES, Counting, counting
from tests.chaos.long_workflow import SCRIPT, RunAccount, account_for, approve_all, prepare, settle, start
from tests.chaos.test_kill import is_well
from tests.support.models import ModelServer, StartModels
from tests.support.postgres import Postgres
from tests.support.server import Server, wait_until

from forge.workflows.definition.models import StepType

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(900)]

MAX_LIVES = 250
MAX_RUNS = 6
ANSWERS = 2
"""Of a model, in one run."""
ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class House:
    """A server on which the workflow has run once without interruption."""

    server: Server
    counter: Counting
    models: ModelServer
    usual: RunAccount

    def account(self, run_id: str) -> RunAccount:
        return account_for(self.server, self.counter, run_id)

    def calls(self) -> Counter[str]:
        """Of models, by status."""
        return Counter(call["status"] for call in self.server.call("GET", "/api/v1/models/calls?limit=200"))


OpenHouse = Callable[..., House]


@pytest.fixture
def open_house(
    start_server: Callable[..., Server], model_server: StartModels, tmp_path: Path
) -> Iterator[OpenHouse]:
    with counting() as counter:

        def open_it(**environment: str) -> House:
            models = model_server(SCRIPT)
            server = start_server(FORGE_HTTP_ALLOW=counter.place, **environment)
            prepare(server, models, counter, tmp_path / "basket")
            run_id = start(server)
            settle(server, [run_id])
            return House(server, counter, models, account_for(server, counter, run_id))

        yield open_it


def check(account: RunAccount, usual: RunAccount, *, late_posts: bool = False) -> None:
    """Check that the result equals an undisturbed run and every step was reported once."""
    assert (account.status, account.output) == ("completed", usual.output)
    assert account.steps == usual.steps
    assert set(account.settled) == set(account.steps)
    assert (account.gaps, account.told_twice, account.with_two_keys) == ([], [], [])
    assert late_posts or account.posted_after_the_end == []
    assert account.children | {"chat": 1, "message": 1} == usual.children
    assert account.children["message"] == account.attempts["tell"]


def live_until_done(life: dict[str, Any], boundaries_to_pass: Iterator[int]) -> list[dict[str, Any]]:
    """One life after the other, each killed at a boundary; how each died."""
    deaths, result = Path(life["deaths"]), Path(life["result"])
    command = [sys.executable, "-m", "tests.chaos.workflow_worker"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as worker:
        assert worker.stdin and worker.stdout
        for number in range(MAX_LIVES):
            worker.stdin.write(
                json.dumps({**life, "before": number % 2 == 1, "pass": next(boundaries_to_pass)}) + "\n"
            )
            worker.stdin.flush()
            assert int(worker.stdout.readline()) in (0, -signal.SIGKILL)
            if result.exists():
                break
        worker.stdin.close()
    return [json.loads(line) for line in deaths.read_text().splitlines()]


def test_a_workflow_killed_at_every_boundary_goes_on_exactly_there(
    open_house: OpenHouse, tmp_path: Path, thorough: bool, chance: random.Random
):
    house = open_house()
    server, usual = house.server, house.usual
    assert {
        one["type"] for one in server.call("GET", "/api/v1/workflows/long")["definition"]["steps"]
    } == set(StepType)
    assert len(usual.steps) >= 30
    run_id = start(server)
    server.kill()
    life = {"data_dir": str(server.data_dir), "place": house.counter.place, "run_id": run_id}
    life |= {"deaths": str(tmp_path / "deaths"), "result": str(tmp_path / "result")}
    deaths = live_until_done(life, repeat(0) if thorough else iter(lambda: chance.randint(0, 8), None))
    server.start()
    account = house.account(run_id)
    check(account, usual)
    assert account.children == usual.children
    kinds = Counter(death["before"] for death in deaths)
    assert min(kinds.values()) >= (35 if thorough else 2), (
        "every boundary was to be died at, on both of its sides"
    )
    lost = Counter(key for death in deaths for key in death["under_way"])
    # An answer that arrived in the instant of a kill, before anything recorded it, is paid for again.
    assert 0 <= house.models.stats().paid - 2 * ANSWERS <= lost["ask"] + lost["tell"]
    repeated = 0
    for key, posts in account.posts.items():
        again = len(posts) - (1 + SHY_TIMES if key == "shy" else 1)
        assert 0 <= again <= lost[key.removeprefix("errand/")], f"{key} was posted {len(posts)} times"
        repeated += again
    ran = len(server.call("GET", "/api/v1/skills/twice/runs?limit=200")) - 2 * 3
    assert 0 <= ran <= sum(times for key, times in lost.items() if key.endswith("/double"))
    print(
        f"\n{len(deaths)} kills: {repeated} posts of steps that were under way were repeated, with the same key"
    )


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_workflows_survive_kills_at_any_instant(
    open_house: OpenHouse,
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
    house = open_house(**environment)
    run_ids = list[str]()
    for _ in range(kills):
        if len(run_ids) < MAX_RUNS:
            run_ids.append(start(house.server))
        time.sleep(chance.uniform(0.1, 2.0))
        approve_all(house.server)
        house.server.kill()
        house.server.start()
    settle(house.server, run_ids)
    accounts = [house.account(run_id) for run_id in run_ids]
    for account in accounts:
        check(account, house.usual)
    calls = house.calls()
    assert 0 <= calls["settled"] - ANSWERS * (len(run_ids) + 1) <= kills
    assert set(calls) <= {"settled", "lost"}
    print(
        f"\n{len(run_ids)} runs, {kills} kills: {repeats(accounts)} posts were repeated, {calls['lost']} answers lost"
    )


def repeats(accounts: list[RunAccount]) -> int:
    return sum(len(posts) - 1 for one in accounts for key, posts in one.posts.items() if key != "shy")


@pytest.fixture
def pair(open_house: OpenHouse, postgres: Postgres) -> Iterator[tuple[House, Server]]:
    """A server and a worker, each with runs of the workflow to execute."""
    url = postgres.new_database()
    house = open_house(FORGE_DATABASE_URL=url)
    environment = {"FORGE_DATABASE_URL": url, "FORGE_HTTP_ALLOW": house.counter.place}
    worker = Server(house.server.data_dir, command="worker", **environment)
    worker.start()
    wait_until(lambda: len(workers(house)) == 2, what="the second worker")
    yield house, worker
    worker.process.send_signal(signal.SIGCONT)
    worker.stop()


def workers(house: House) -> list[Any]:
    return house.server.call("GET", "/api/v1/status")["workers"]


def start_all(house: House, count: int) -> list[str]:
    """Runs that are all under way."""
    run_ids = [start(house.server) for _ in range(count)]
    wait_until(
        lambda: all(house.server.call("GET", f"/api/v1/workflow-runs/{one}")["steps"] for one in run_ids),
        what="the first steps",
    )
    return run_ids


def attempts(house: House, run_ids: list[str]) -> list[int]:
    return [house.server.call("GET", f"/api/v1/runs/{one}")["run"]["attempt"] for one in run_ids]


def test_the_workflows_of_a_dead_worker_are_taken_over(pair: tuple[House, Server]):
    house, worker = pair
    run_ids = start_all(house, 6)
    worker.kill()
    died = time.monotonic()
    wait_until(lambda: max(attempts(house, run_ids)) > 1, what="taking over")
    took_s = time.monotonic() - died
    settle(house.server, run_ids)
    for run_id in run_ids:
        check(house.account(run_id), house.usual)
    taken = sum(number > 1 for number in attempts(house, run_ids))
    print(
        f"\n{taken} of {len(run_ids)} runs were taken over, the first {took_s:.1f} s after their worker's death"
    )


def test_a_frozen_worker_writes_nothing_after_it_was_taken_over(pair: tuple[House, Server]):
    house, worker = pair
    run_ids = start_all(house, 6)
    worker.process.send_signal(signal.SIGSTOP)
    settle(house.server, run_ids)
    assert max(attempts(house, run_ids)) > 1, "the frozen worker had nothing to be taken over"
    before = [house.account(run_id) for run_id in run_ids]
    worker.process.send_signal(signal.SIGCONT)
    wait_until(lambda: len(workers(house)) == 2, what="the thawed worker's return")
    time.sleep(1.0)
    after = [house.account(run_id) for run_id in run_ids]
    assert [one.kept for one in after] == [one.kept for one in before]
    for account in after:
        check(account, house.usual, late_posts=True)
    (more,) = start_all(house, 1)
    settle(house.server, [more])
    check(house.account(more), house.usual)


def test_workflows_wait_for_a_database_that_is_away(open_house: OpenHouse, postgres: Postgres):
    house = open_house(FORGE_DATABASE_URL=postgres.new_database())
    run_ids = start_all(house, 3)
    for _ in range(4):
        time.sleep(0.7)
        postgres.restart()
    wait_until(lambda: is_well(house.server), what="the server's recovery")
    settle(house.server, run_ids)
    assert attempts(house, run_ids) == [1, 1, 1], "nothing died, so nothing was taken up again"
    for run_id in run_ids:
        check(house.account(run_id), house.usual)
