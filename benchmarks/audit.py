"""A full audit of Django's source, cold and warm, compared with `git status` and `ruff check`."""

import itertools
import os
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks.bench import Bench, Numbers, pairs
from benchmarks.contender import ROOT, Contender, module, started
from benchmarks.report import Result, compare, missing

ROUNDS = 5
PATIENCE_S = 180
PACKAGE = "django==5.2.8"
CACHE = ROOT / "benchmarks/.cache"
FLOOR = "git status + ruff check"
CHANGED = "django/shortcuts.py"


class NotThere(Exception):
    """The message is one line with the reason."""


def measure(bench: Bench) -> Iterator[Result]:
    try:
        project = _create_files(bench.new_folder())
    except NotThere as error:
        yield missing("audit", "an audit of Django", "ms", FLOOR, str(error))
        return
    with started(bench.new_folder(), module("auditor"), project) as auditor:
        yield from _compared(bench, project, auditor)


def _compared(bench: Bench, project: Path, auditor: Contender) -> Iterator[Result]:
    warm, numbers = bench.new_folder(), itertools.count()
    auditor.ask(str(warm))

    def changed() -> Numbers:
        _change(project, next(numbers))
        return auditor.ask(str(warm))

    contenders: dict[str, Callable[[], Numbers]] = {
        "floor": _timed(lambda: _status_and_lint(project)),
        "cold": lambda: auditor.ask(str(bench.new_folder())),
        "warm": lambda: auditor.ask(str(warm)),
        "changed": changed,
        "command": _timed(lambda: _audit(project, warm)),
    }
    rounds = bench.in_turns(contenders, rounds=ROUNDS)
    files = f"{_count(project):,} files"
    titles = {
        "cold": f"{files}, for the first time",
        "warm": f"{files}, again",
        "changed": f"{files}, one changed",
        "command": f"{files}, one changed, as a command, including its start",
    }
    for name, title in titles.items():
        yield compare("audit", title, "ms", "less", FLOOR, pairs(rounds, name, "floor", "ms"))
    yield compare(
        "audit", titles["changed"], "ms", "less", "the first audit", pairs(rounds, "changed", "cold", "ms")
    )


def _create_files(folder: Path) -> Path:
    archive = _download()
    with tarfile.open(archive) as opened:
        opened.extractall(folder, filter="data")
    (project,) = folder.iterdir()
    for path in (project, *project.rglob("*")):
        os.chown(path, os.getuid(), os.getgid())
    (project / "Forge/Contracts").mkdir(parents=True)
    shutil.copy(
        Path(__file__).with_name("audit_boundaries.json"), project / "Forge/Contracts/boundaries.json"
    )
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "Django"]):
        _git(project, *words)
    return project


def _download() -> Path:
    name = PACKAGE.replace("==", "-")
    if not (found := list(CACHE.glob(f"{name}.tar.gz"))):
        command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", "django"]
        command += ["-d", str(CACHE), PACKAGE]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        except subprocess.TimeoutExpired as error:
            raise NotThere(f"{PACKAGE} did not arrive within {PATIENCE_S} s") from error
        if not (found := list(CACHE.glob(f"{name}.tar.gz"))):
            last = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            raise NotThere(f"{PACKAGE} could not be downloaded: {last[:200]}")
    return found[0]


def _audit(project: Path, data: Path) -> None:
    command = [sys.executable, "-m", "forge.audits", str(project), "--no-ledger", "--format", "json"]
    done = subprocess.run(command, env={"FORGE_DATA_DIR": str(data)}, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr


def _change(project: Path, number: int) -> None:
    path = project / CHANGED
    path.write_text(path.read_text().split("# round")[0] + f"# round {number}\n")


def _status_and_lint(project: Path) -> None:
    _git(project, "status", "--porcelain")
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--isolated", "--quiet", "."]
    subprocess.run(command, cwd=project, capture_output=True, check=False)


def _git(project: Path, *words: str) -> None:
    author = ["-c", "user.name=bench", "-c", "user.email=bench@localhost"]
    subprocess.run(["git", *author, *words], cwd=project, check=True, capture_output=True)


def _count(project: Path) -> int:
    said = subprocess.run(["git", "ls-files"], cwd=project, capture_output=True, check=True)
    return said.stdout.count(b"\n")


def _timed(act: Callable[[], None]) -> Callable[[], Numbers]:
    def run() -> Numbers:
        began = time.perf_counter()
        act()
        return {"ms": (time.perf_counter() - began) * 1e3}

    return run
