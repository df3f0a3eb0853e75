"""Ctrl-C at any instant: it is raised where the walk stands, and held back while a process is started or put away."""

import signal
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Interrupts:
    """For the main thread. The first signal is a KeyboardInterrupt; more are counted, and say that it hurries."""

    def __init__(self) -> None:
        self._count = 0
        self._is_held = False
        self._is_raised = False

    @property
    def hurries(self) -> bool:
        return self._count > 1

    @contextmanager
    def caught(self) -> Generator[None]:
        before = {number: signal.signal(number, self._take) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    @contextmanager
    def held(self) -> Generator[None]:
        """What comes meanwhile is raised afterwards."""
        was_held, self._is_held = self._is_held, True
        try:
            yield
        finally:
            self._is_held = was_held
        self._raise_once()

    def _take(self, number: int, frame: FrameType | None) -> None:
        self._count += 1
        self._raise_once()

    def _raise_once(self) -> None:
        if self._count and not self._is_held and not self._is_raised:
            self._is_raised = True
            raise KeyboardInterrupt
