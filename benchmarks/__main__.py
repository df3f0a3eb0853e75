"""`python -m benchmarks [NAMES] [--quick] [--results FOLDER]`: measure, print the table, store the results."""

import argparse
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from benchmarks import (
    audit,
    cancel,
    chats,
    events,
    fanout,
    interviews,
    memory,
    recall,
    report,
    runs,
    sandbox,
    search,
    skills,
    startup,
    tokens,
    workflows,
)
from benchmarks.bench import Bench
from benchmarks.contender import ROOT
from benchmarks.machine import Facts, machine_facts
from benchmarks.quoting import quote
from benchmarks.report import Result

RESULTS = ROOT / "benchmarks/results"
Measure = Callable[[Bench], Iterable[Result]]

BENCHMARKS: dict[str, tuple[Measure, int]] = {
    "runs": (runs.measure, 100),
    "events": (events.measure, 50),
    "fanout": (fanout.measure, 60),
    "startup": (startup.measure, 30),
    "memory": (memory.measure, 80),
    "sandbox": (sandbox.measure, 30),
    "search": (search.measure, 30),
    "tokens": (tokens.measure, 20),
    "cancel": (cancel.measure, 30),
    "audit": (audit.measure, 60),
    "chats": (chats.measure, 50),
    "interviews": (interviews.measure, 40),
    "recall": (recall.measure, 30),
    "skills": (skills.measure, 50),
    "workflows": (workflows.measure, 150),
}
"""With the number of seconds after which no further round starts; together less than 15 minutes."""


def main() -> None:
    given = _arguments()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="forge-bench-", ignore_cleanup_errors=True) as folder:
        facts = machine_facts(Path(folder))
        print("; ".join(f"{name}: {value}" for name, value in facts.items()), flush=True)
        bench = Bench(Path(folder), quick=given.quick)
        try:
            failed = [name for name in given.names or BENCHMARKS if not _measure(name, bench, results)]
        finally:
            bench.close()
    print(f"\n{report.table(results)}")
    if given.results:
        _keep(given.results, facts, results)
    if failed:
        sys.exit(f"Failed: {', '.join(failed)}")


def _keep(folder: Path, facts: Facts, results: Sequence[Result]) -> None:
    """Store the results; the README quotes those in the repository."""
    path = report.save(folder, facts, results)
    print(f"\nSaved as {path.name}")
    if folder == RESULTS:
        quote(ROOT / "README.md", report.load(path))


def _measure(name: str, bench: Bench, results: list[Result]) -> bool:
    """Run a benchmark and return whether it succeeded. Results before a failure count; a line has the reason for the
    rest."""
    print(f"{name} ... ", end="", flush=True)
    measure, seconds = BENCHMARKS[name]
    started = time.monotonic()
    bench.until = started + seconds
    try:
        results.extend(measure(bench))
    except Exception as error:  # noqa: BLE001  (if one benchmark fails, the others are still measured)
        traceback.print_exc()
        why = (str(error).strip().splitlines() or [type(error).__name__])[-1]
        results.append(report.missing(name, "the rest of it", "", "-", f"failed: {why[:200]}"))
        return False
    finally:
        print(f"{time.monotonic() - started:.0f} s", flush=True)
    return True


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all if none")
    parser.add_argument("--quick", action="store_true", help="one short round: a look, not a result")
    parser.add_argument("--results", type=Path, help="where results are kept (default benchmarks/results)")
    given = parser.parse_args()
    if unknown := set(given.names) - set(BENCHMARKS):
        parser.error(f"there is no benchmark called {', '.join(sorted(unknown))}")
    if given.results is None and not given.quick:
        given.results = RESULTS
    return given


if __name__ == "__main__":
    main()
