"""The results table of a soak, for a terminal and as a page."""

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from benchmarks.machine import Facts
from benchmarks.report import columns, number, rows
from benchmarks.soak.verdict import Line

HEAD = ("what", "unit", "before", "first third", "last third", "per hour", "after", "verdict")
MAX_GROWN = 12


def table(lines: Sequence[Line]) -> str:
    return columns([HEAD, *map(_cells, lines)])


def page(lines: Sequence[Line], facts: Facts, minutes: float, done: Counter[str], failures: int) -> str:
    listed = "\n".join(f"- {name}: {value}" for name, value in facts.items())
    work = ", ".join(f"{count} {name}" for name, count in sorted(done.items()))
    return (
        "# Latest soak\n\n"
        f"Written by `make soak` on {datetime.now(UTC).date().isoformat()}: {minutes:g} minutes of everything at once "
        "against one `forge serve` on SQLite with a scripted model; see [docs/benchmarks.md]"
        "(../../docs/benchmarks.md).\n\n"
        f"{listed}\n\nWork done: {work}; failed: {failures}.\n\n{rows([HEAD, *map(_cells, lines)])}\n"
    )


def grown(before: Mapping[str, int], after: Mapping[str, int]) -> str:
    """Return the types of objects that increased in number, largest increase first, as a starting point for an
    investigation."""
    more = Counter(after)
    more.subtract(before)
    return ", ".join(f"{name} +{count}" for name, count in more.most_common(MAX_GROWN) if count > 0)


def _cells(line: Line) -> tuple[str, ...]:
    slope = "-" if line.per_hour is None else f"{line.per_hour:+.3g}"
    shown = (number(line.before), number(line.first), number(line.last), slope, number(line.after))
    return (line.what, line.unit, *shown, line.verdict)
