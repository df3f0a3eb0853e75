"""Analyses give the same result with or without cache and workers, and failures of either are not errors."""

import os
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest
from tests.support.timeouts import PATIENCE_S

from forge.audits.analysis import result_cache, worker_pool
from forge.audits.analysis.analyses import AnalysisFailed, open_analyses
from forge.audits.boundaries.pattern_search import PatternSearch
from forge.audits.dependencies.manifests.discovery import Format, ManifestAnalyzer
from forge.audits.facts import analyzer
from forge.audits.facts.analyzer import FACTS, version
from forge.audits.facts.models import FileFacts
from forge.audits.memory import MemoryTree
from forge.audits.snapshot import Entry

FILES = {
    "a.py": b"import os\nfrom .b import c\n",
    "b.py": b"try:\n    import d\nexcept ImportError:\n    pass\n",
    "same.py": b"import os\nfrom .b import c\n",
    "same.pyi": b"import os\nfrom .b import c\n",
    "e.ts": b"import type { F } from './f'\n",
    "broken.py": b"import = =\n\xff\n",
    "large.py": b"import large\n" + b"x = 1\n" * 10_000,
    "empty.py": b"",
}


@dataclass(frozen=True)
class Tree(MemoryTree):
    """A tree that counts reads."""

    read_paths: list[str] = field(default_factory=list[str])

    def read(self, path: str) -> bytes:
        self.read_paths.append(path)
        return super().read(path)


def tree(files: Mapping[str, bytes] = FILES) -> Tree:
    return Tree(files)


def entries(of: Tree) -> list[Entry]:
    return list(of.entries.values())


def facts(path: Path | None, of: Tree, workers: int | None = None) -> Mapping[str, FileFacts]:
    with open_analyses(path, workers=workers) as analyses:
        return analyses.analyze(FACTS, entries(of), of)


EXPECTED = {path: FACTS(path[path.index(".") :], data) for path, data in FILES.items()}


@pytest.fixture
def crowded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Send even small inputs to worker processes."""
    monkeypatch.setattr("forge.audits.analysis.analyses.MIN_POOL_BYTES", 0)


@pytest.mark.parametrize("workers", [None, 0, 1, 3])
def test_results_do_not_depend_on_workers_or_memory(
    tmp_path: Path, workers: int | None, crowded: None
) -> None:
    of = tree()
    path = tmp_path / "new" / "facts.db"
    assert facts(None, of, workers) == EXPECTED
    assert facts(path, of, workers) == EXPECTED
    of.read_paths.clear()
    assert facts(path, of, workers) == EXPECTED
    assert of.read_paths == []


def test_equal_content_is_read_once(tmp_path: Path) -> None:
    of = tree({"a.py": b"import a", "b.py": b"import a"})
    facts(tmp_path / "facts.db", of)
    assert len(of.read_paths) == 1


def test_only_changed_files_are_read_again(tmp_path: Path) -> None:
    facts(tmp_path / "facts.db", tree())
    changed = tree({**FILES, "a.py": b"import sys\n"})
    assert facts(tmp_path / "facts.db", changed) == {**EXPECTED, "a.py": FACTS(".py", b"import sys\n")}
    assert changed.read_paths == ["a.py"]


def test_repeated_analysis_reads_nothing_without_cache_file() -> None:
    of = tree()
    with open_analyses(None, workers=0) as analyses:
        first = analyses.analyze(FACTS, entries(of), of)
        of.read_paths.clear()
        assert analyses.analyze(FACTS, entries(of), of) == first
    assert of.read_paths == []


def test_cache_file_is_private_to_owner(tmp_path: Path) -> None:
    facts(tmp_path / "facts.db", tree())
    assert (tmp_path / "facts.db").stat().st_mode & 0o077 == 0


# Failures of the result cache.


def _garbage(path: Path) -> None:
    path.write_bytes(b"no database at all" * 1000)


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:5000])


def _flipped(path: Path) -> None:
    data = bytearray(path.read_bytes())
    for place in range(4096, len(data), 97):
        data[place] ^= 0x55
    path.write_bytes(bytes(data))


def _newer(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    db.close()


def _other_tables(path: Path) -> None:
    path.unlink()
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE facts (a)")
        db.execute("PRAGMA user_version = 1")
    db.close()


def _wrong_values(path: Path) -> None:
    with sqlite3.connect(path) as db:
        rows = db.execute("SELECT value FROM facts ORDER BY blob").fetchall()
        db.execute("UPDATE facts SET value = ?", rows[0])
    db.close()


def _odd_values(path: Path) -> None:
    with sqlite3.connect(path) as db:
        db.execute("UPDATE facts SET value = 'text', day = 'never'")
    db.close()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _link(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "elsewhere")


@pytest.mark.parametrize(
    "harm", [_garbage, _cut, _flipped, _newer, _other_tables, _wrong_values, _odd_values, _folder, _link]
)
def test_damaged_cache_file_is_neither_error_nor_wrong_result(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "facts.db"
    facts(path, tree(), 0)
    harm(path)
    assert facts(path, tree(), 0) == EXPECTED
    assert facts(path, tree(), 0) == EXPECTED
    assert not (tmp_path / "elsewhere").exists()


def test_locked_cache_file_is_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_cache, "BUSY_S", 0.01)
    path = tmp_path / "facts.db"
    facts(path, tree({"z.py": b""}), 0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    assert facts(path, tree(), 0) == EXPECTED
    other.execute("ROLLBACK")
    other.close()


def test_unwritable_cache_folder_is_skipped(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert facts(tmp_path / "file" / "facts.db", tree(), 0) == EXPECTED


def test_least_recently_used_results_are_evicted_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "facts.db"
    monkeypatch.setattr(result_cache.time, "time", lambda: 10.0 * result_cache.DAY_S)
    facts(path, tree({"old.py": b"import old"}), 0)
    monkeypatch.setattr(result_cache.time, "time", lambda: 100.0 * result_cache.DAY_S)
    size = len(msgspec.msgpack.encode(FACTS(".py", b"import new")))
    monkeypatch.setattr(result_cache, "MAX_BYTES", 3 * size)
    facts(path, tree({"new.py": b"import new"}), 0)
    old, new = tree({"old.py": b"import old"}), tree({"new.py": b"import new"})
    facts(path, new, 0)
    facts(path, old, 0)
    assert (new.read_paths, old.read_paths) == ([], ["old.py"])


def test_threads_and_instances_can_work_concurrently(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    with (
        open_analyses(path, workers=0) as one,
        open_analyses(path, workers=0) as two,
        ThreadPoolExecutor(6) as threads,
    ):
        of = tree()
        asked = [threads.submit(analyses.analyze, FACTS, entries(of), of) for analyses in (one, two) * 6]
        assert all(each.result() == EXPECTED for each in asked)


def test_version_covers_modules_in_sub_packages() -> None:
    names = {name for name, _ in analyzer._sources(files("forge.audits.facts"))}
    assert {"models.py", "python/imports.py", "script/routes.py", "sql/words.py"} <= names


def test_parser_change_invalidates_cached_results(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analyzers = [FACTS, PatternSearch(("asyncpg",)), ManifestAnalyzer(Format.SETUP_PY)]
    before = {analyzer.key for analyzer in analyzers}
    monkeypatch.setattr("forge.audits.facts.analyzer.grammars", lambda: "others")
    version.cache_clear()
    after = {analyzer.key for analyzer in analyzers}
    version.cache_clear()
    assert before & after == set()


# Failures of the worker processes.


@dataclass(frozen=True)
class Deadly:
    """In a worker this is the function in this source; here it is never called."""

    source: str
    key: str = "deadly"
    result: type[int] = int

    def __call__(self, suffix: str, data: bytes) -> int:
        raise AssertionError(suffix, data)

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return (eval, (f"lambda suffix, data: {self.source}",))


@dataclass(frozen=True)
class Forgiven(Deadly):
    def unreadable(self) -> int:
        return -1

    def __reduce__(self) -> tuple[Callable[[str], object], tuple[str]]:
        return super().__reduce__()


DIES = "__import__('os')._exit(1) if b'poison' in data else len(data)"
HANGS = "__import__('time').sleep(600) if b'poison' in data else len(data)"
RAISES = "1 / 0 if b'poison' in data else len(data)"
POISONED = {"a.x": b"a", "b.x": b"poison", "c.x": b"ccc"}


@pytest.mark.parametrize("source", [DIES, HANGS, RAISES])
def test_file_that_crashes_or_stalls_worker_has_fallback_result(
    source: str, crowded: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_pool, "LIMIT_S", 2.0)
    of = tree(POISONED)
    with open_analyses(None, workers=2) as analyses:
        assert analyses.analyze(Forgiven(source), entries(of), of) == {"a.x": 1, "b.x": -1, "c.x": 3}


def test_crash_of_analyzer_without_fallback_is_an_error_naming_file(crowded: None) -> None:
    of = tree(POISONED)
    with open_analyses(None, workers=2) as analyses, pytest.raises(AnalysisFailed, match=r"b\.x"):
        analyses.analyze(Deadly(DIES), entries(of), of)


def test_analyses_continue_after_worker_crash(crowded: None) -> None:
    of = tree({**POISONED, **{f"{n}.x": b"x" * n for n in range(300)}})
    with open_analyses(None, workers=2) as analyses:
        with pytest.raises(AnalysisFailed) as raised:
            analyses.analyze(Deadly(DIES), entries(of), of)
        answers = analyses.analyze(Forgiven(DIES, key="other"), entries(of), of)
    assert "b.x" in raised.value.message
    assert answers == {e.path: -1 if e.path == "b.x" else e.size for e in entries(of)}


@dataclass(frozen=True)
class Local:
    """Worker processes cannot import this module."""

    key: str = "local"
    result: type[int] = int

    def __call__(self, suffix: str, data: bytes) -> int:
        return len(data)


def test_unpicklable_analyzer_runs_in_this_process(crowded: None) -> None:
    of = tree()
    with open_analyses(None, workers=2) as analyses:
        assert analyses.analyze(Local(), entries(of), of) == {path: len(data) for path, data in FILES.items()}


class Vanishing(Tree):
    def read(self, path: str) -> bytes:
        if path == "c.x":
            raise KeyError(path)
        return super().read(path)


def _children() -> Iterator[int]:
    for task in Path("/proc/self/task").iterdir():
        with suppress(FileNotFoundError):  # a thread that has ended since then
            yield from map(int, (task / "children").read_text().split())


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs /proc")
def test_failed_analysis_leaves_no_processes(crowded: None) -> None:
    before = set(_children())
    of = Vanishing(POISONED)
    with open_analyses(None, workers=2) as analyses, pytest.raises(KeyError):
        analyses.analyze(Forgiven("len(data)"), entries(of), of)
    threads = [thread for thread in threading.enumerate() if thread.name.startswith("analyses")]
    assert (set(_children()) - before, threads) == (set(), [])


def test_worker_exits_when_stdin_is_closed() -> None:
    worker = worker_pool.Worker()
    process = worker._process  # pyright: ignore[reportPrivateUsage]
    assert process.stdin is not None
    process.stdin.close()
    assert process.wait(timeout=PATIENCE_S) == 0
    worker.stop()


def test_workers_do_not_import_from_audited_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, crowded: None
) -> None:
    (tmp_path / "msgspec.py").write_text("raise SystemExit(1)")
    (tmp_path / "forge.py").write_text("raise SystemExit(1)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.fspath(tmp_path))
    of = tree()
    with open_analyses(None, workers=1) as analyses:
        assert analyses.analyze(FACTS, entries(of), of) == EXPECTED
