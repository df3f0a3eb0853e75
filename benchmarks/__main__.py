"""`python -m benchmarks [NAMES] [--quick] [--results FOLDER]`: measure, print the table, keep the results."""

import argparse
import tempfile
import time
from collections.abc import Callable, Iterable
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
from benchmarks.machine import machine_facts
from benchmarks.report import Result

BENCHMARKS: dict[str, Callable[[Bench], Iterable[Result]]] = {
    "runs": runs.measure,
    "events": events.measure,
    "fanout": fanout.measure,
    "startup": startup.measure,
    "memory": memory.measure,
    "sandbox": sandbox.measure,
    "search": search.measure,
    "tokens": tokens.measure,
    "cancel": cancel.measure,
    "audit": audit.measure,
    "chats": chats.measure,
    "interviews": interviews.measure,
    "recall": recall.measure,
    "skills": skills.measure,
    "workflows": workflows.measure,
}


def main() -> None:
    given = _arguments()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="forge-bench-", ignore_cleanup_errors=True) as folder:
        facts = machine_facts(Path(folder))
        print("; ".join(f"{name}: {value}" for name, value in facts.items()), flush=True)
        bench = Bench(Path(folder), quick=given.quick)
        try:
            for name in given.names or BENCHMARKS:
                results += _timed(name, bench)
        finally:
            bench.close()
    print(f"\n{report.table(results)}")
    if given.results:
        print(f"\nSaved as {report.save(given.results, facts, results).name}")


def _timed(name: str, bench: Bench) -> list[Result]:
    print(f"{name} ... ", end="", flush=True)
    started = time.monotonic()
    results = list(BENCHMARKS[name](bench))
    print(f"{time.monotonic() - started:.0f} s", flush=True)
    return results


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all if none")
    parser.add_argument("--quick", action="store_true", help="one short round: a look, not a result")
    parser.add_argument("--results", type=Path, help="where results are kept (default benchmarks/results)")
    given = parser.parse_args()
    if unknown := set(given.names) - set(BENCHMARKS):
        parser.error(f"there is no benchmark called {', '.join(sorted(unknown))}")
    if given.results is None and not given.quick:
        given.results = ROOT / "benchmarks/results"
    return given


if __name__ == "__main__":
    main()
