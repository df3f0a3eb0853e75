"""Results of a benchmark: Forge compared with a peer or lower bound, as a ratio, with the numbers of every round."""

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from typing import Literal, TypedDict

from benchmarks.machine import Facts, slug

Better = Literal["more", "less"]


class Result(TypedDict):
    """A line of the table. `ours`, `peer` and `ratio` are None if there is no number; `note` then has the reason."""

    name: str
    what: str
    against: str
    ours: float | None
    peer: float | None
    unit: str
    ratio: float | None
    better: Better
    rounds: list[tuple[float, float]]
    note: str


class Saved(TypedDict):
    measured: str
    machine: Facts
    results: list[Result]


def compare(
    name: str, what: str, unit: str, better: Better, against: str, rounds: Sequence[tuple[float, float]]
) -> Result:
    """Compute medians over the rounds. The ratio is the median of the ratios of the rounds, which were measured under
    the same load."""
    return Result(
        name=name,
        what=what,
        against=against,
        ours=_rounded(median(ours for ours, _ in rounds)),
        peer=_rounded(median(peer for _, peer in rounds)),
        unit=unit,
        ratio=round(median(ours / peer if peer else 0.0 for ours, peer in rounds), 2),
        better=better,
        rounds=[(_rounded(ours), _rounded(peer)) for ours, peer in rounds],
        note="",
    )


def missing(name: str, what: str, unit: str, against: str, why: str) -> Result:
    """Return a line for a peer that could not be measured, with the reason."""
    return Result(
        name=name,
        what=what,
        against=against,
        ours=None,
        peer=None,
        unit=unit,
        ratio=None,
        better="more",
        rounds=[],
        note=why,
    )


HEAD = ("benchmark", "measurement", "Forge", "compared with", "result", "unit", "ratio", "rounds")
DIRECTIONS: Mapping[Better, str] = {"more": "higher", "less": "lower"}


def table(results: Iterable[Result]) -> str:
    """Format rows for a terminal, with columns padded by spaces."""
    return columns([HEAD, *(_cells(result) for result in results)])


def columns(table: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in table]
    return "\n".join(line.rstrip() for line in lines)


def rows(table: Sequence[Sequence[str]]) -> str:
    """Format rows as Markdown; the first row is the header."""
    head, *others = table
    return "\n".join(f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *others))


def markdown(saved: Saved) -> str:
    facts = "\n".join(f"- {name}: {value}" for name, value in saved["machine"].items())
    lines = rows([HEAD, *(_cells(result) for result in saved["results"])])
    return (
        "# Latest results\n\n"
        f"Written by `make bench` on {saved['measured']}; see [docs/benchmarks.md]"
        "(../../docs/benchmarks.md).\n\n"
        f"{facts}\n\n{lines}\n"
    )


def save(folder: Path, machine: Facts, results: Sequence[Result]) -> Path:
    """Write one file per day and machine: new results replace earlier ones, others are kept."""
    today = datetime.now(UTC).date().isoformat()
    path = folder / f"{today}-{slug(machine)}.json"
    again = {result["name"] for result in results}
    kept = [result for result in load(path) if result["name"] not in again]
    merged = sorted([*kept, *results], key=lambda result: result["name"])
    saved = Saved(measured=today, machine=machine, results=merged)
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(saved, indent=1) + "\n")
    (folder / "latest.md").write_text(markdown(saved))
    return path


def load(path: Path) -> list[Result]:
    if not path.exists():
        return []
    saved: Mapping[str, list[Result]] = json.loads(path.read_text())
    return saved["results"]


def _cells(result: Result) -> tuple[str, ...]:
    if result["ratio"] is None:
        return (
            result["name"],
            result["what"],
            "-",
            result["against"],
            "-",
            result["unit"],
            result["note"],
            "0",
        )
    return (
        result["name"],
        result["what"],
        number(result["ours"]),
        result["against"],
        number(result["peer"]),
        result["unit"],
        f"{result['ratio']:.2f} x ({DIRECTIONS[result['better']]} is better)",
        str(len(result["rounds"])),
    )


def _rounded(value: float) -> float:
    return float(f"{value:.4g}")


def number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 100 else f"{value:.3g}"
