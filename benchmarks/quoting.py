"""The lines of the results that README shows: `make bench` writes them there, so that they are those that were measured."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import Result, number, rows

BEGIN = "<!-- written by make bench -->\n"
END = "<!-- end of what make bench wrote -->\n"
HEAD = ("", "ours", "beside", "its", "ratio")
QUOTED = {
    ("runs", "CPU of a step on sqlite", "DBOS alone"): "CPU of a step of a run, journal and events included",
    ("workflows", "chain of 10 on sqlite", "DBOS alone"): "a workflow of ten steps",
    ("workflows", "chain of 10 on sqlite", "LangGraph, sync checkpoints"): "a workflow of ten steps",
    ("workflows", "chain of 10 on sqlite", "Prefect"): "a workflow of ten steps",
    ("workflows", "100 chains at once on sqlite", "DBOS alone"): "a hundred such workflows at once",
    (
        "fanout",
        "500 clients, p50, on sqlite",
        "bare uvicorn broadcast",
    ): "an event reaches 500 live clients, p50",
    (
        "chats",
        "50 chats at once, first word, p50",
        "the scripted model asked directly",
    ): "the first word of an answer, 50 chats at once, p50",
    (
        "interviews",
        "a turn without a model, p95",
        "the goal",
    ): "the next question of an interview without a model, p95",
    (
        "skills",
        "JavaScript, one call in a fresh instance, p50",
        "process",
    ): "a script of a skill in a fresh instance",
    ("sandbox", "python -c pass, bubblewrap", "bare"): "`python -c pass`, locked in",
    (
        "tokens",
        "input of a 40-turn build, at claude-opus-4-6's prices",
        "sending all of it again",
    ): "what the input of a 40-turn build is billed as",
    ("startup", "forge serve, second start", "importing its libraries"): "`forge serve` until it answers",
    ("memory", "memory, idle", "FastAPI + DBOS alone"): "memory, idle",
    ("memory", "CPU, 1000 runs waiting", "FastAPI + DBOS alone"): "CPU, 1,000 runs waiting",
}
"""By benchmark, what and beside what: how README says it."""


def quote(readme: Path, results: Iterable[Result]) -> None:
    before, found, rest = readme.read_text().partition(BEGIN)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise ValueError(f"{readme.name} has no place for the results: {BEGIN.strip()} … {END.strip()}")
    readme.write_text(f"{before}{BEGIN}{quoted(results)}\n{END}{after}")


def quoted(results: Iterable[Result]) -> str:
    known = {(result["name"], result["what"], result["against"]): result for result in results}
    lines = [_cells(title, known[line]) for line, title in QUOTED.items() if line in known]
    return rows([HEAD, *lines])


def _cells(title: str, result: Result) -> tuple[str, ...]:
    if result["ratio"] is None:
        return title, "-", result["against"], "-", result["note"]
    ours, peer = (f"{number(value)} {result['unit']}" for value in (result["ours"], result["peer"]))
    return title, ours, result["against"], peer, f"{result['ratio']:.2f} ({result['better']} is better)"
