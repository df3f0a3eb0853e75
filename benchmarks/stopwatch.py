"""Wall time and CPU time. On a shared machine, CPU time is more stable."""

import time


class Stopwatch:
    def __init__(self) -> None:
        self._began = time.perf_counter(), time.process_time()

    def read(self) -> tuple[float, float]:
        """Return seconds, and CPU seconds of this process."""
        return time.perf_counter() - self._began[0], time.process_time() - self._began[1]
