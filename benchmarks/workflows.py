"""The cost of a workflow step: a chain of 10, 50 in parallel, 100 chains at once, compared with DBOS, LangGraph and
Prefect."""

from collections.abc import Iterator
from contextlib import ExitStack

import psycopg

from benchmarks.bench import Bench, Rounds, pairs
from benchmarks.contender import Contender, ContenderFailed, module, started
from benchmarks.environment import LANGGRAPH, PREFECT, Environment, NotInstalled
from benchmarks.report import Result, compare, missing

NAME = "workflows"
ROUNDS = 3
REQUESTS = {"chain": "chain of 10", "fan": "50 side by side", "many": "100 chains at once"}
ENVIRONMENTS = {
    "LangGraph, sync checkpoints": (LANGGRAPH, "langgraph_workflows"),
    "Prefect": (PREFECT, "prefect_workflows"),
}
PREFECT_NEEDS = "pg_trgm"


def measure(bench: Bench) -> Iterator[Result]:
    for database in ("sqlite", "postgresql"):
        with ExitStack() as stack:
            contenders = {
                "ours": _open(bench, stack, database, module("forge_workflows")),
                "DBOS alone": _open(bench, stack, database, module("dbos_workflows")),
            }
            for title, (environment, script) in ENVIRONMENTS.items():
                try:
                    command = _command(bench, environment, script, database)
                    contenders[title] = _open(bench, stack, database, command)
                except (NotInstalled, ContenderFailed) as error:
                    reason = (str(error).strip().splitlines() or ["it did not start"])[-1]
                    yield missing(NAME, f"everything on {database}", "", title, reason[:200])
            yield from _compare(bench, database, contenders)


def _command(bench: Bench, environment: Environment, script: str, database: str) -> list[str]:
    if environment is PREFECT and database == "postgresql" and not _has_extension(bench, PREFECT_NEEDS):
        raise NotInstalled(
            f"its server wants the extension {PREFECT_NEEDS}, which this PostgreSQL does not have"
        )
    return environment.install(script)


def _has_extension(bench: Bench, name: str) -> bool:
    with psycopg.connect(bench.new_database("postgresql")) as connection:
        found = connection.execute("SELECT 1 FROM pg_available_extensions WHERE name = %s", (name,))
        return found.fetchone() is not None


def _open(bench: Bench, stack: ExitStack, database: str, command: list[str]) -> Contender:
    """Start all contenders before measuring: a start would disturb another one's measurement."""
    contender = stack.enter_context(started(bench.new_folder(), command, bench.new_database(database)))
    contender.hear()
    return contender


def _compare(bench: Bench, database: str, contenders: dict[str, Contender]) -> Iterator[Result]:
    peers = list(contenders)[1:]
    for request, what in REQUESTS.items():
        measured = _in_turns(bench, contenders, request)
        for peer in peers:
            yield compare(
                NAME, f"{what} on {database}", "steps/s", "more", peer, pairs(measured, "ours", peer, "speed")
            )
        if request == "chain":
            for peer in peers:
                compared = pairs(measured, "ours", peer, "step_ms")
                yield compare(NAME, f"a step of it on {database}", "ms", "less", peer, compared)


def _in_turns(bench: Bench, contenders: dict[str, Contender], request: str) -> Rounds:
    turns = {name: lambda c=c: c.ask(request) for name, c in contenders.items()}
    return bench.in_turns(turns, rounds=ROUNDS)
