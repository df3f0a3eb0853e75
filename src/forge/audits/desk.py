"""Where analyses are made and remembered: by content, so that a second audit reads only what changed.

What is small is analysed here. What is large, and everything when there is much of it, is analysed by other processes:
side by side, and so that a file made to kill or to stall a parser takes nothing with it.
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

from forge.audits.analysis import Analyzer, Forgiving
from forge.audits.desk_cache import Cache, open_cache, scope_name
from forge.audits.desk_crew import Chunk, Crew, Piece
from forge.audits.snapshot import Entry, Tree
from forge.errors import Internal

T = TypeVar("T")
Content = tuple[str, str]
"""Suffix and blob: what a result depends on."""

MAX_WORKERS = 8
WORTH_A_CREW = 2 << 20
"""Bytes that are analysed faster by several processes, their start included."""
HARMLESS = 32 << 10
"""Bytes of a file that is analysed here: even if it is made for it, it takes some seconds and no deep stack."""
PATIENCE_S = 2.0
"""After so long with small files the rest goes to processes that can be ended, however small it is."""
CHUNK_BYTES = 256 << 10
CHUNK_FILES = 100


class AnalysisFailed(Internal):
    """An analyzer died of a file and has nothing to say about files it dies of."""


class LocalDesk:
    """Several threads may use it; they wait for each other, as the second mostly wants what the first makes."""

    def __init__(self, cache: Cache | None, crew: Crew | None, workers: int) -> None:
        self._cache = cache
        self._crew = crew
        self._workers = workers
        self._lock = Lock()
        self._known: dict[str, dict[Content, Any]] = {}

    def analyse(self, analyzer: Analyzer[T], entries: Iterable[Entry], tree: Tree) -> Mapping[str, T]:
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
        """Moves what the cache has from the missing to the known."""
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
            with closing(self._analysed(analyzer, list(missing.values()), tree)) as analysed:
                for (suffix, blob), value in analysed:
                    known[suffix, blob] = decode(value)
                    made[scope_name(analyzer.key, suffix), blob] = value
        finally:
            if self._cache is not None and made:
                self._cache.store(made)

    def _analysed(
        self, analyzer: Analyzer[T], entries: Sequence[Entry], tree: Tree
    ) -> Generator[tuple[Content, bytes]]:
        encode = msgspec.msgpack.Encoder().encode
        here, there = self._divide(entries)
        pickled = _pickled(analyzer) if there else None
        if there and (self._crew is None or pickled is None or not self._crew.can(pickled)):
            here, there = entries, ()
        slow_at = time.monotonic() + PATIENCE_S
        for number, entry in enumerate(here):
            yield (entry.suffix, entry.blob), encode(analyzer(entry.suffix, tree.read(entry.path)))
            if self._crew is not None and time.monotonic() > slow_at and number + 1 < len(here):
                pickled = _pickled(analyzer)
                if pickled is not None and self._crew.can(pickled):
                    there = [*here[number + 1 :], *there]
                    break
        if there and self._crew is not None and pickled is not None:
            with closing(self._crew.run(pickled, _chunks(there, tree))) as answers:
                for piece, value in answers:
                    made = value if value is not None else encode(_unreadable(analyzer, piece))
                    yield (piece.suffix, piece.blob), made

    def _divide(self, entries: Sequence[Entry]) -> tuple[Sequence[Entry], Sequence[Entry]]:
        """What is analysed here, and what in other processes."""
        if self._crew is None:
            return entries, ()
        if self._workers > 1 and sum(entry.size for entry in entries) > WORTH_A_CREW:
            return (), entries
        return [e for e in entries if e.size <= HARMLESS], [e for e in entries if e.size > HARMLESS]


@contextmanager
def open_desk(path: Path | None, *, workers: int | None = None) -> Generator[LocalDesk]:
    """`path` is the file of its memory, None for none; `workers` 0 means no other process, whatever the files are."""
    size = min(_cpus(), MAX_WORKERS) if workers is None else workers
    with ExitStack() as stack:
        cache = open_cache(path) if path is not None else None
        if cache is not None:
            stack.enter_context(cache)
        crew = stack.enter_context(Crew(size)) if size > 0 else None
        yield LocalDesk(cache, crew, size)


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
        chunk.append(Piece(entry.suffix, entry.blob, entry.path, data))
        size += len(data)
        if size >= CHUNK_BYTES or len(chunk) >= CHUNK_FILES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _unreadable(analyzer: Analyzer[Any], piece: Piece) -> object:
    """What the analyzer says of a file that it dies of."""
    if isinstance(analyzer, Forgiving):
        return cast("Forgiving[object]", analyzer).unreadable()
    raise AnalysisFailed(f"{piece.path} cannot be analysed: {analyzer.key} died of it.")
