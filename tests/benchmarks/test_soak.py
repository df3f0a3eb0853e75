"""Verdicts and reports of the soak test. No test asserts resource use."""

from collections import Counter

from benchmarks.soak.load import Timed
from benchmarks.soak.server_monitor import Sample
from benchmarks.soak.soak_report import grown, page
from benchmarks.soak.verdict import HELD, PER_WORK, judge, judge_times

MINUTES = 30


def sample(at_s: float, **numbers: float) -> Sample:
    """Return a sample of constant load; only the given numbers differ."""
    values = dict.fromkeys(HELD, 100.0) | {name: 0.01 * at_s for name in PER_WORK}
    return Sample(at_s, int(at_s), values | numbers)


def verdicts(**slopes: float) -> dict[str, str]:
    """Return the verdicts for values that grow by the given amounts per hour."""
    samples = [
        sample(at_s, **{name: 100 + slope * at_s / 3600 for name, slope in slopes.items()})
        for at_s in range(0, MINUTES * 60, 5)
    ]
    return {line.what: line.verdict for line in judge(samples[0], samples, samples[-1])}


def test_constant_values_are_flat_and_proportional_ones_steady():
    assert set(verdicts().values()) == {"flat", "steady"}


def test_growth_is_reported():
    by_name = verdicts(memory=200, tasks=10)

    assert [name for name, verdict in by_name.items() if verdict == "grew"] == ["memory"]


def test_line_has_slope_and_first_and_last_values():
    samples = [sample(at_s, memory=100 + at_s) for at_s in range(0, 300, 5)]

    (line,) = [line for line in judge(sample(0), samples, sample(300)) if line.what == "memory"]

    assert (line.before, line.first, line.last, round(line.per_hour or 0), line.after) == (
        100,
        147.5,
        347.5,
        3600,
        100,
    )


def test_growing_work_is_reported():
    samples = [sample(at_s, CPU=0.01 * at_s + 0.0001 * at_s**2) for at_s in range(0, 300, 5)]

    (line,) = [line for line in judge(samples[0], samples, samples[-1]) if line.what.startswith("CPU")]

    assert line.verdict == "grew"
    assert line.last > 2 * line.first


def test_times_are_shown_without_verdict():
    requests = [Timed("chat", at_s, 10 if at_s < 50 else 1000) for at_s in range(100)]

    (line,) = judge_times(requests, 100)

    assert (line.what, line.first, line.last, line.verdict) == (
        "chat, p50 of 100",
        10,
        1000,
        "for information",
    )


def test_page_has_a_row_per_line():
    samples = [sample(at_s) for at_s in range(0, 300, 5)]
    lines = judge(samples[0], samples, samples[-1])

    text = page(lines, {"cores": "2"}, 30, Counter({"chat": 7}), failures=1)

    assert "7 chat; failed: 1." in text
    assert [row.split(" | ")[0] for row in text.splitlines() if row.startswith("|")][2:] == [
        f"| {line.what}" for line in lines
    ]


def test_most_frequent_items_come_first():
    assert grown({"a": 1, "b": 5}, {"a": 3, "b": 5, "c": 10}) == "c +10, a +2"
