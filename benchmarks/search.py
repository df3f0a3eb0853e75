"""Searching 5,000 files, compared with ripgrep, and reading one file, compared with a plain `open()`."""

import random
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Numbers, pairs
from benchmarks.report import Result, compare, missing
from forge.workspace.filesystem.files import Files
from forge.workspace.filesystem.search import MAX_MATCHES, search

ROUNDS = 7
READS = 2000
ROOTS = [
    "get",
    "set",
    "load",
    "save",
    "make",
    "find",
    "parse",
    "check",
    "open",
    "close",
    "read",
    "write",
    "order",
    "user",
    "shop",
    "cart",
    "item",
    "price",
]
PATTERNS = {
    "nothing is found": "zebra_crossing_nowhere",
    "a rare expression": r"def \w+_zebra\(",
    "a slow expression": r"(\w+_)+\w+\(self, (\w+, )*zebra",
    "50 lines of many": "return",
}


def measure(bench: Bench) -> Iterator[Result]:
    root = bench.new_folder() / "project"
    count = bench.size(5000, 500)
    _create_files(root, count)
    with Files(root) as files, Files(root, kernel=False) as walking:
        yield from _searches(bench, files, count)
        yield from _reads(bench, {"openat2": files, "component walk": walking}, root)


def _searches(bench: Bench, files: Files, count: int) -> Iterator[Result]:
    ripgrep = shutil.which("rg")
    for what, pattern in PATTERNS.items():
        title = f"search {count:,} files, {what}"
        if ripgrep is None:
            yield missing("search", title, "ms", "ripgrep", "ripgrep is not installed")
            continue
        limit = 50 if what.startswith("50") else MAX_MATCHES
        command = [ripgrep, "--no-config", "--ignore-case", "--line-number", "--color=never", pattern, "."]
        contenders = {
            "ours": _best(lambda p=pattern, n=limit: search(files, p, limit=n)),
            "ripgrep": _best(
                lambda c=command: subprocess.run(c, cwd=files.root, env={}, capture_output=True, check=False)
            ),
        }
        rounds = bench.in_turns(contenders, rounds=ROUNDS)
        yield compare("search", title, "ms", "less", "ripgrep", pairs(rounds, "ours", "ripgrep", "ms"))


def _reads(bench: Bench, ways: dict[str, Files], root: Path) -> Iterator[Result]:
    path = next(entry.path for entry in ways["openat2"].walk() if entry.path.endswith(".py"))
    whole = root / path
    contenders: dict[str, Callable[[], Numbers]] = {
        way: _each(lambda files=files: files.read(path, limit=50_000)) for way, files in ways.items()
    }
    contenders["open"] = _each(whole.read_bytes)
    rounds = bench.in_turns(contenders, rounds=ROUNDS)
    for way in ways:
        yield compare(
            "search", f"read a file ({way})", "µs", "less", "open()", pairs(rounds, way, "open", "us")
        )


def _best(act: Callable[[], object], tries: int = 3) -> Callable[[], Numbers]:
    """Return the fastest of a few measurements; the others were disturbed by other processes."""

    def run() -> Numbers:
        return {"ms": min(_timed(act) for _ in range(tries)) * 1e3}

    return run


def _each(act: Callable[[], object]) -> Callable[[], Numbers]:
    def run() -> Numbers:
        return {"us": _timed(lambda: [act() for _ in range(READS)]) / READS * 1e6}

    return run


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _create_files(root: Path, count: int) -> None:
    """Create files that look like code, always the same: about 6 kB each, eleven per directory."""
    chance = random.Random(5)
    for number in range(count):
        folder = root / f"package_{number % 47}" / f"part_{number % 10}"
        folder.mkdir(parents=True, exist_ok=True)
        lines = "".join(_function(chance) for _ in range(chance.randint(10, 70)))
        (folder / f"module_{number}.py").write_text(lines)


def _function(chance: random.Random) -> str:
    one, two, three = chance.choices(ROOTS, k=3)
    ending = "zebra" if chance.random() < 0.0005 else two
    return (
        f"def {one}_{two}_{ending}(self, {three}: int) -> str:\n"
        f'    """{one.title()} the {three} of a {two}."""\n'
        f"    self.{two}_{three} = {chance.randint(0, 999)}\n"
        f"    return self.{one}_{three}({two})\n\n\n"
    )
