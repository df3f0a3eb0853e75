"""Interrupts WebAssembly when its time is up: a thread that waits beside it and turns the engine's epoch."""

import threading
import time
from collections.abc import Callable


class Alarm:
    def __init__(self, ring: Callable[[], None]) -> None:
        self._ring = ring
        self._changed = threading.Condition()
        self._at: float | None = None
        self.has_rung = False
        threading.Thread(target=self._watch, name="alarm", daemon=True).start()

    def set(self, seconds: float) -> None:
        with self._changed:
            self._at = time.monotonic() + seconds
            self.has_rung = False
            self._changed.notify()

    def clear(self) -> None:
        with self._changed:
            self._at = None

    def _watch(self) -> None:
        with self._changed:
            while True:
                left = None if self._at is None else self._at - time.monotonic()
                if left is not None and left <= 0:
                    self._at = None
                    self.has_rung = True
                    self._ring()
                else:
                    self._changed.wait(left)
