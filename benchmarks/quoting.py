"""Write selected benchmark results into the README, so that it always quotes measured numbers."""

from collections.abc import Iterable
from pathlib import Path

from benchmarks.report import DIRECTIONS, Result, number, rows

BEGIN = "<!-- written by make bench -->\n"
END = "<!-- end of what make bench wrote -->\n"
HEAD = ("", "Forge", "compared with", "result", "ratio")
QUOTED = {
    ("runs", "CPU of a step on sqlite", "DBOS alone"): "CPU per step of a run, including journal and events",
    ("workflows", "chain of 10 on sqlite", "DBOS alone"): "a workflow of ten steps",
    ("workflows", "chain of 10 on sqlite", "LangGraph, sync checkpoints"): "a workflow of ten steps",
    ("workflows", "chain of 10 on sqlite", "Prefect"): "a workflow of ten steps",
    ("workflows", "100 chains at once on sqlite", "DBOS alone"): "a hundred such workflows at once",
    (
        "fanout",
        "500 clients, p50, on sqlite",
        "bare uvicorn broadcast",
    ): "delivery of an event to 500 live clients, p50",
    (
        "chats",
        "50 chats at once, first word, p50",
        "the scripted model called directly",
    ): "time to the first word of an answer, 50 chats at once, p50",
    (
        "interviews",
        "a turn without a model, p95",
        "the target",
    ): "time to the next question of an interview without a model, p95",
    (
        "skills",
        "JavaScript, one call in a fresh instance, p50",
        "process",
    ): "a skill script in a fresh instance",
    ("sandbox", "python -c pass, bubblewrap", "bare"): "`python -c pass` in the sandbox",
    (
        "tokens",
        "input of a 40-turn build, at claude-opus-4-6's prices",
        "resending everything",
    ): "billed input of a 40-turn build",
    ("startup", "forge serve, second start", "importing its libraries"): "start of `forge serve`",
    ("memory", "memory, idle", "FastAPI + DBOS alone"): "memory, idle",
    ("memory", "CPU, 1000 runs waiting", "FastAPI + DBOS alone"): "CPU, 1,000 runs waiting",
}
"""The title of each quoted result in the README, by benchmark, measurement and what it is compared with."""


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
    return (
        title,
        ours,
        result["against"],
        peer,
        f"{result['ratio']:.2f} ({DIRECTIONS[result['better']]} is better)",
    )
