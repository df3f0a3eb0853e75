"""Turn samples into a table: compare the last third of the time with the first, and decide whether something grew."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression, median
from typing import Literal

from benchmarks.soak.load import Timed
from benchmarks.soak.server_monitor import Sample

Verdict = Literal["flat", "steady", "grew", "for information"]


@dataclass(frozen=True)
class Rule:
    """Values up to this much above the first third count as flat."""

    unit: str
    share: float
    amount: float


HELD = {
    "memory": Rule("MB", 0.08, 4),
    "memory of child processes": Rule("MB", 0.15, 40),
    "child processes": Rule("", 0, 2),
    "threads": Rule("", 0, 3),
    "open files": Rule("", 0, 5),
    "sockets": Rule("", 0.1, 5),
    "tasks": Rule("", 0.1, 10),
    "objects": Rule("thousand", 0.08, 10),
    "temporary files": Rule("", 0, 3),
    "write-ahead log": Rule("MB", 0.25, 4),
}
PER_WORK = {"database": ("KB", 1024), "log files": ("KB", 1024), "CPU": ("ms", 1000)}
"""Data that is kept for a time grows with the work done, but each piece of work must not add more and more."""
MORE = Rule("", 1, 1)
"""Twice as much: on a machine that gets busier, fewer large pieces of work and more small ones are done."""

Parts = tuple[Sequence[Sample], Sequence[Sample]]


@dataclass(frozen=True)
class Line:
    what: str
    unit: str
    before: float | None
    first: float
    last: float
    per_hour: float | None
    after: float | None
    verdict: Verdict


def judge(before: Sample, during: Sequence[Sample], after: Sample) -> list[Line]:
    """Compare samples. `before` and `after` were taken from the idle server."""
    parts = thirds(during)
    held = [_held(name, rule, before, during, after) for name, rule in HELD.items()]
    return [*held, *(_per_work(name, unit, scale, parts) for name, (unit, scale) in PER_WORK.items())]


def judge_times(timed: Sequence[Timed], seconds: float) -> list[Line]:
    """Durations depend on the machine as much as on the server, so they are shown without a verdict."""
    lines: list[Line] = []
    for name in sorted({each.name for each in timed}):
        own = [each for each in timed if each.name == name]
        first = [each.ms for each in own if each.at_s < seconds / 3]
        last = [each.ms for each in own if each.at_s > seconds * 2 / 3]
        if first and last:
            what = f"{name}, p50 of {len(own)}"
            lines.append(Line(what, "ms", None, median(first), median(last), None, None, "for information"))
    return lines


def thirds(during: Sequence[Sample]) -> Parts:
    third = max(2, len(during) // 3)
    return during[:third], during[-third:]


def _held(name: str, rule: Rule, before: Sample, during: Sequence[Sample], after: Sample) -> Line:
    first, last = (median(sample.numbers[name] for sample in part) for part in thirds(during))
    return Line(
        name,
        rule.unit,
        before.numbers[name],
        first,
        last,
        _per_hour(name, during[len(during) // 3 :]),
        after.numbers[name],
        "flat" if _is_within(rule, first, last) else "grew",
    )


def _per_work(name: str, unit: str, scale: float, parts: Parts) -> Line:
    first, last = (_growth(name, part) * scale for part in parts)
    verdict = "steady" if _is_within(MORE, first, last) else "grew"
    return Line(f"{name}, a piece of work", unit, None, first, last, None, None, verdict)


def _is_within(rule: Rule, first: float, last: float) -> bool:
    return last <= first * (1 + rule.share) + rule.amount


def _growth(name: str, part: Sequence[Sample]) -> float:
    done = part[-1].done - part[0].done
    return (part[-1].numbers[name] - part[0].numbers[name]) / max(1, done)


def _per_hour(name: str, samples: Sequence[Sample]) -> float:
    """Return the slope by least squares."""
    points = [(sample.at_s / 3600, sample.numbers[name]) for sample in samples]
    return linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else 0.0
