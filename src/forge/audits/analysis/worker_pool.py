"""A pool of worker processes that survives files which crash or stall a worker."""

import contextlib
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import BinaryIO, Self, cast

from forge.audits.analysis.worker_process import read_frame, write_frame

LIMIT_S = 20.0
LIMIT_S_PER_MB = 20.0
"""Time limits per chunk and per megabyte, a hundred times what ordinary code takes."""
ISOLATED = ("-I", "-X", "utf8", "-m", "forge.audits.analysis.worker_process")
"""Isolated mode: neither the working directory nor the environment affects imports."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file to analyze, with its content."""

    suffix: str
    blob: str
    path: str
    data: bytes


Chunk = list[SourceFile]
Answer = tuple[SourceFile, bytes | None]
"""The result is None if the analysis crashed or timed out."""


class WorkerDied(RuntimeError):
    pass


class Worker:
    def __init__(self) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own interpreter and module
            (sys.executable, *ISOLATED),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
        )

    def ask(self, analyzer: bytes, chunk: Chunk) -> list[bytes]:
        limit_s = LIMIT_S + LIMIT_S_PER_MB * sum(len(piece.data) for piece in chunk) / (1 << 20)
        timer = threading.Timer(limit_s, self._process.kill)
        timer.daemon = True
        timer.start()
        try:
            write_frame(
                cast("BinaryIO", self._process.stdin), (analyzer, [(p.suffix, p.data) for p in chunk])
            )
            return read_frame(cast("BinaryIO", self._process.stdout))
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise WorkerDied from error
        finally:
            timer.cancel()

    def stop(self) -> None:
        self._process.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                cast("BinaryIO", pipe).close()
        self._process.wait()


class WorkerPool:
    """Workers are started on demand, reused, and stopped when the pool is closed."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._idle: queue.SimpleQueue[Worker] = queue.SimpleQueue()
        self._all: set[Worker] = set()
        self._lock = threading.Lock()
        self._is_closed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
        self._stop_all()

    def can(self, analyzer: bytes) -> bool:
        """Return whether a worker can be started and can load the analyzer."""
        try:
            worker = self._take()
        except (OSError, WorkerDied):
            return False
        try:
            worker.ask(analyzer, [])
        except WorkerDied:
            self._drop(worker)
            return False
        self._give_back(worker)
        return True

    def run(self, analyzer: bytes, chunks: Iterable[Chunk]) -> Generator[Answer]:
        """Yield results in any order. Chunks are read lazily on the calling thread.

        A caller that stops early must close the generator before the next run.
        """
        is_over = threading.Event()
        with ThreadPoolExecutor(self._size, "analysis") as threads:
            waiting: set[Future[list[Answer]]] = set()
            try:
                for chunk in chunks:
                    waiting.add(threads.submit(self._solve, analyzer, chunk, is_over))
                    if len(waiting) > 2 * self._size:
                        done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                        for future in done:
                            yield from future.result()
                for future in waiting:
                    yield from future.result()
            except BaseException:
                is_over.set()
                self._stop_all()  # unblocks threads that wait for a worker
                threads.shutdown(wait=True, cancel_futures=True)
                raise

    def _solve(self, analyzer: bytes, chunk: Chunk, is_over: threading.Event) -> list[Answer]:
        worker = self._take(is_over)
        try:
            answers = worker.ask(analyzer, chunk)
        except WorkerDied:
            self._drop(worker)
            if self._is_closed or is_over.is_set():
                raise
            if len(chunk) == 1:
                return [(chunk[0], None)]
            return [answer for piece in chunk for answer in self._solve(analyzer, [piece], is_over)]
        self._give_back(worker)
        return list(zip(chunk, answers, strict=True))

    def _take(self, is_over: threading.Event | None = None) -> Worker:
        with self._lock:
            if self._is_closed or (is_over is not None and is_over.is_set()):
                raise WorkerDied
            with contextlib.suppress(queue.Empty):
                return self._idle.get_nowait()
            worker = Worker()
            self._all.add(worker)
            return worker

    def _give_back(self, worker: Worker) -> None:
        with self._lock:
            if worker in self._all:
                self._idle.put(worker)

    def _drop(self, worker: Worker) -> None:
        with self._lock:
            self._all.discard(worker)
        worker.stop()

    def _stop_all(self) -> None:
        with self._lock:
            workers, self._all = self._all, set()
            self._idle = queue.SimpleQueue()
        for worker in workers:
            worker.stop()
