"""The cost of a run: 1-step runs, a 10-step chain, 20 chains at once, compared with DBOS alone and LangGraph."""

from collections.abc import Iterator
from contextlib import ExitStack

from benchmarks.bench import Bench, Numbers, Rounds, pairs
from benchmarks.contender import Contender, module, started
from benchmarks.environment import LANGGRAPH as LANGGRAPH_ITSELF
from benchmarks.environment import NotInstalled
from benchmarks.report import Result, compare, missing

ROUNDS = 5
DBOS = "DBOS alone"
LANGGRAPH = "LangGraph, sync checkpoints"
REQUESTS = {
    "runs": ("1-step runs", "runs/s"),
    "chain": ("10-step chain", "steps/s"),
    "chains": ("20 chains at once", "steps/s"),
}


def measure(bench: Bench) -> Iterator[Result]:
    ours, dbos = module("forge_runs"), module("dbos_runs")
    try:
        peers = {DBOS: dbos, LANGGRAPH: LANGGRAPH_ITSELF.install("langgraph_runs")}
    except NotInstalled as error:
        peers = {DBOS: dbos}
        yield missing("runs", "everything on sqlite", "", LANGGRAPH, str(error))
    yield from _compare(bench, "sqlite", {"ours": ours, **peers})
    yield from _compare(bench, "postgresql", {"ours": ours, DBOS: dbos})


def _compare(bench: Bench, database: str, commands: dict[str, list[str]]) -> Iterator[Result]:
    with ExitStack() as stack:
        contenders = {
            name: stack.enter_context(started(bench.new_folder(), command, bench.new_database(database)))
            for name, command in commands.items()
        }
        for contender in contenders.values():
            contender.hear()  # ready
        measured = {request: _in_turns(bench, contenders, request) for request in REQUESTS}
    for request, (what, unit) in REQUESTS.items():
        for peer in list(contenders)[1:]:
            compared = pairs(measured[request], "ours", peer, "speed")
            yield compare("runs", f"{what} on {database}", unit, "more", peer, compared)
    for peer in list(contenders)[1:]:
        compared = pairs(measured["chain"], "ours", peer, "cpu")
        yield compare("runs", f"CPU of a step on {database}", "ms", "less", peer, compared)


def _in_turns(bench: Bench, contenders: dict[str, Contender], request: str) -> Rounds:
    def turn(contender: Contender) -> Numbers:
        return contender.ask(request)

    return bench.in_turns({name: lambda c=c: turn(c) for name, c in contenders.items()}, rounds=ROUNDS)
