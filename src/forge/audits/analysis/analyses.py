"""Run analyzers on files and cache the results by content, so that a second audit only reads changed files.

Small files are analyzed in this process. Large files, and all files if there are many, go to worker processes, in parallel
and so that a file that crashes or stalls a parser does no harm.
"""

import os
import pickle
import time
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar, cast

import msgspec

from forge.audits.analysis.result_cache import ResultCache, open_cache, scope_name
from forge.audits.analysis.worker_pool import Chunk, SourceFile, WorkerPool
from forge.audits.snapshot import Analyzer, Entry, FallbackAnalyzer, Tree
from forge.errors import Internal

T = TypeVar("T")
Content = tuple[str, str]
"""Suffix and blob id, which determine a result."""

MAX_WORKERS = 8
MIN_POOL_BYTES = 2 << 20
"""Total bytes above which worker processes are faster, including their start."""
MAX_INLINE_BYTES = 32 << 10
"""The largest file analyzed in this process. Even a hostile one takes only seconds and no deep stack."""
INLINE_LIMIT_S = 2.0
"""After this time the remaining small files go to worker processes, which can be killed."""
CHUNK_BYTES = 256 << 10
CHUNK_FILES = 100


class AnalysisFailed(Internal):
    """An analyzer crashed on a file and has no fallback result."""


class CachedAnalyses:
    """Thread-safe. Threads wait for each other, as they usually need the same results."""

    def __init__(self, cache: ResultCache | None, pool: WorkerPool | None, workers: int) -> None:
        self._cache = cache
        self._pool = pool
        self._workers = workers
        self._lock = Lock()
        self._known: dict[str, dict[Content, Any]] = {}

    def analyze(self, analyzer: Analyzer[T], entries: Iterable[Entry], tree: Tree) -> Mapping[str, T]:
        asked = [(entry, (entry.suffix, entry.blob)) for entry in entries]
        with self._lock:
            known: dict[Content, T] = self._known.setdefault(analyzer.key, {})
            missing = {content: entry for entry, content in asked if content not in known}
            if missing:
                self._recall(analyzer, missing, known)
            if missing:
                self._make(analyzer, missing, tree, known)
        return {entry.path: known[content] for entry, content in asked}

    def _recall(self, analyzer: Analyzer[T], missing: dict[Content, Entry], known: dict[Content, T]) -> None:
        """Move results that are in the cache from `missing` to `known`."""
        if self._cache is None:
            return
        decode = msgspec.msgpack.Decoder(analyzer.result).decode
        by_suffix: dict[str, list[str]] = {}
        for suffix, blob in missing:
            by_suffix.setdefault(suffix, []).append(blob)
        for suffix, blobs in by_suffix.items():
            for blob, value in self._cache.load(scope_name(analyzer.key, suffix), blobs).items():
                try:
                    known[suffix, blob] = decode(value)
                except msgspec.MsgspecError:
                    continue
                del missing[suffix, blob]

    def _make(
        self, analyzer: Analyzer[T], missing: Mapping[Content, Entry], tree: Tree, known: dict[Content, T]
    ) -> None:
        decode = msgspec.msgpack.Decoder(analyzer.result).decode
        made: dict[tuple[str, str], bytes] = {}
        try:
            with closing(self._analyzed(analyzer, list(missing.values()), tree)) as analyzed:
                for (suffix, blob), value in analyzed:
                    known[suffix, blob] = decode(value)
                    made[scope_name(analyzer.key, suffix), blob] = value
        finally:
            if self._cache is not None and made:
                self._cache.store(made)

    def _analyzed(
        self, analyzer: Analyzer[T], entries: Sequence[Entry], tree: Tree
    ) -> Generator[tuple[Content, bytes]]:
        encode = msgspec.msgpack.Encoder().encode
        here, there = self._divide(entries)
        pickled = _pickled(analyzer) if there else None
        if there and (self._pool is None or pickled is None or not self._pool.can(pickled)):
            here, there = entries, ()
        slow_at = time.monotonic() + INLINE_LIMIT_S
        for number, entry in enumerate(here):
            yield (entry.suffix, entry.blob), encode(analyzer(entry.suffix, tree.read(entry.path)))
            if self._pool is not None and time.monotonic() > slow_at and number + 1 < len(here):
                pickled = _pickled(analyzer)
                if pickled is not None and self._pool.can(pickled):
                    there = [*here[number + 1 :], *there]
                    break
        if there and self._pool is not None and pickled is not None:
            with closing(self._pool.run(pickled, _chunks(there, tree))) as answers:
                for piece, value in answers:
                    made = value if value is not None else encode(_unreadable(analyzer, piece))
                    yield (piece.suffix, piece.blob), made

    def _divide(self, entries: Sequence[Entry]) -> tuple[Sequence[Entry], Sequence[Entry]]:
        """Divide files into those analyzed in this process and those for worker processes."""
        if self._pool is None:
            return entries, ()
        if self._workers > 1 and sum(entry.size for entry in entries) > MIN_POOL_BYTES:
            return (), entries
        return [e for e in entries if e.size <= MAX_INLINE_BYTES], [
            e for e in entries if e.size > MAX_INLINE_BYTES
        ]


@contextmanager
def open_analyses(path: Path | None, *, workers: int | None = None) -> Generator[CachedAnalyses]:
    """Open analyses with a cache file (None for no cache). With `workers=0` no worker process is used."""
    size = min(_cpus(), MAX_WORKERS) if workers is None else workers
    with ExitStack() as stack:
        cache = open_cache(path) if path is not None else None
        if cache is not None:
            stack.enter_context(cache)
        pool = stack.enter_context(WorkerPool(size)) if size > 0 else None
        yield CachedAnalyses(cache, pool, size)


def _cpus() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _pickled(analyzer: Analyzer[Any]) -> bytes | None:
    try:
        return pickle.dumps(analyzer)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None


def _chunks(entries: Sequence[Entry], tree: Tree) -> Iterator[Chunk]:
    chunk: Chunk = []
    size = 0
    for entry in entries:
        data = tree.read(entry.path)
        chunk.append(SourceFile(entry.suffix, entry.blob, entry.path, data))
        size += len(data)
        if size >= CHUNK_BYTES or len(chunk) >= CHUNK_FILES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _unreadable(analyzer: Analyzer[Any], piece: SourceFile) -> object:
    """Return the fallback result for a file that crashed the analyzer."""
    if isinstance(analyzer, FallbackAnalyzer):
        return cast("FallbackAnalyzer[object]", analyzer).unreadable()
    raise AnalysisFailed(f"{piece.path} cannot be analyzed: {analyzer.key} crashed.")
