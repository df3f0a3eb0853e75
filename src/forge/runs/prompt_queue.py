"""Starts a run when it is committed, instead of when the queue is looked into next.

DBOS sleeps between two looks into a queue. It is told to sleep hardly at all, and waits here instead, where whoever puts a run
into the queue can wake it. Only on SQLite, where there is one process: of several, the one that is asked to start a run would
always be the first to see it, and do all the work. It stands before a private method: `test_engine_contract.py` fails when a new
DBOS release no longer calls it.
"""

from threading import Event
from typing import Any

LOOK_S = 0.5
"""From one look to the next while nobody wakes it: for what was put back into the queue without a word."""
PAUSE_S = 0.01
"""Between two looks in any case: what many put into the queue at once is taken out together."""


class PromptQueue:
    def __init__(self, database: Any, name: str) -> None:
        self._dequeue, self._name = database.start_queued_workflows, name
        self._woken = Event()
        self._is_open = True
        database.start_queued_workflows = self.dequeue

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        """Nothing is taken out any more, and nobody waits."""
        self._is_open = False
        self._woken.set()

    def dequeue(self, queue: Any, *args: Any, **more: Any) -> Any:
        if queue.name == self._name:
            self._woken.wait(LOOK_S)
            if not self._is_open:
                return [], None
            self._woken.clear()
        return self._dequeue(queue, *args, **more)
