"""Looks that may take long, taken in slices, so that nobody who makes them long makes anything else wait."""

import time
from collections.abc import Callable, Iterator

from forge.sandbox.models import End

SLICE_S = 0.03
PAUSE_S = 0.05
AGAIN_AFTER_S = 0.5
"""After a look for which there was a reason; without one it costs nothing and is repeated soon."""

Steps = Iterator[End | None]
"""Small ones. The first that is something is the verdict."""


class Scan:
    def __init__(self, begin: Callable[[], Steps]) -> None:
        self._begin = begin
        self._steps: Steps | None = None
        self._not_before = 0.0

    def go_on(self) -> End | None:
        began = time.monotonic()
        if began < self._not_before:
            return None
        goes_on = self._steps is not None
        steps = self._steps = self._steps or self._begin()
        for verdict in steps:
            goes_on = True
            if verdict:
                return verdict
            if time.monotonic() - began > SLICE_S:
                self._not_before = time.monotonic() + PAUSE_S
                return None
        self._steps = None
        self._not_before = time.monotonic() + (AGAIN_AFTER_S if goes_on else PAUSE_S)
        return None
