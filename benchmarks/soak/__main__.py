"""`python -m benchmarks.soak [--minutes 30] [--results FOLDER]`: keep a server busy, watch it, report what grew."""

import argparse
import asyncio
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.contender import ROOT
from benchmarks.machine import Facts, machine_facts
from benchmarks.soak import soak_report
from benchmarks.soak.activities import Activities
from benchmarks.soak.load import SHOWN_FAILURES, Load
from benchmarks.soak.server_monitor import Sample, ServerMonitor
from benchmarks.soak.server_under_test import ServerUnderTest, open_server
from benchmarks.soak.verdict import Line, judge, judge_times

EVERY_S = 5.0
WARM_UP_S = 45
"""Until everything is imported and every pool has opened its connections."""
QUIET_S = 20


@dataclass(frozen=True)
class Soaked:
    load: Load
    lines: list[Line]
    counts: tuple[Mapping[str, Any], Mapping[str, Any]]
    """The counts reported by the server, before and after."""

    @property
    def is_dry(self) -> bool:
        """Nothing grew, and nothing failed."""
        return not self.load.failures and all(line.verdict != "grew" for line in self.lines)


def main() -> None:
    given = _arguments()
    with tempfile.TemporaryDirectory(prefix="forge-soak-", ignore_cleanup_errors=True) as folder:
        facts = machine_facts(Path(folder))
        soaked = asyncio.run(_soak(Path(folder), given.minutes * 60))
    _print_results(soaked)
    if given.results:
        _save(given.results, soaked, facts, given.minutes)
    sys.exit(0 if soaked.is_dry else 1)


async def _soak(folder: Path, seconds: float) -> Soaked:
    async with open_server(folder) as server:
        activities = Activities(server).by_name()
        await Load(activities).run(server, min(WARM_UP_S, seconds / 4))
        await asyncio.sleep(QUIET_S)
        monitor, load = ServerMonitor(server.pid, folder), Load(activities)
        counted, before = await monitor.collected(), monitor.sample(0)
        during = await _watch(server, monitor, load, seconds)
        await asyncio.sleep(QUIET_S)
        collected, after = await monitor.collected(), monitor.sample(load.done)
        lines = [*judge(before, during, after), *judge_times(load.timed, seconds)]
        return Soaked(load, lines, (counted, collected))


async def _watch(server: ServerUnderTest, monitor: ServerMonitor, load: Load, seconds: float) -> list[Sample]:
    samples: list[Sample] = []
    working = asyncio.create_task(load.run(server, seconds))
    while not working.done():
        await asyncio.wait([working], timeout=EVERY_S)
        samples.append(monitor.sample(load.done))
        if len(samples) % 12 == 0:
            _print_progress(samples[-1], load)
    await working
    return samples


def _print_progress(sample: Sample, load: Load) -> None:
    seen = ", ".join(f"{name} {value:.4g}" for name, value in sample.numbers.items())
    print(f"{sample.at_s:.0f} s, {load.done} done, {len(load.failures)} failed: {seen}", flush=True)


def _print_results(soaked: Soaked) -> None:
    print(f"\n{soak_report.table(soaked.lines)}")
    for failure in soaked.load.failures[:SHOWN_FAILURES]:
        print(f"failed: {failure}")
    before, after = soaked.counts
    for kind in ("tasks", "types"):
        print(f"{kind}: {soak_report.grown(before[kind], after[kind]) or 'nothing increased'}")


def _save(folder: Path, soaked: Soaked, facts: Facts, minutes: float) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    load = soaked.load
    page = soak_report.page(soaked.lines, facts, minutes, load.counts(), len(load.failures))
    (folder / "soak.md").write_text(page)
    print("\nSaved as soak.md")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument(
        "--results",
        type=Path,
        default=ROOT / "benchmarks/results",
        help="where the table is kept (default benchmarks/results)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    main()
