"""How much an expression may take in, make and do.

CEL has no endless loop, but lists in lists in lists come close: a hundred items gone through three deep are a million
bodies. So each body reports here first. What it makes is weighed, and so is all that is handed over, as often as it is
named; between two reports only so much is left to do.
"""

import gc
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any, cast

from forge.workflows.expressions.problem import ExpressionError

MAX_WEIGHT = 16_000_000
"""Of the values that go into an expression: 32 for each, and one for each character."""
MAX_KEPT = 8_000_000
"""Of what bodies make."""
MAX_BODIES = 50_000
MAX_WORK_S = 0.5
"""Of processor time."""
MAX_DEPTH = 100
EACH = 32
_WHOLE = 1 << 63


def weigh(value: object, most: int, name: str) -> int:
    """Raises when it is heavier than `most`, or holds what an expression cannot."""
    weight = 0
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        weight += EACH
        if isinstance(one, str):
            weight += len(one)
        elif isinstance(one, list | dict):
            inner = cast("list[object] | dict[str, object]", one)
            if isinstance(inner, dict):
                weight += sum(map(len, inner))
            waiting += [(item, depth + 1) for item in (inner.values() if isinstance(inner, dict) else inner)]
        elif isinstance(one, int) and not -_WHOLE <= one < _WHOLE:
            raise ExpressionError(
                f"{name} holds a whole number of more than 64 bits.",
                hint="Such a number can be passed on, alone in a placeholder, but not used in an expression.",
            )
        if weight + EACH * len(waiting) > most or depth > MAX_DEPTH:
            raise ExpressionError(
                f"{name} is more than an expression takes.",
                hint="Name the part you need, or use a step of code.",
            )
    return weight


@dataclass
class Bounds:
    """Of one evaluation. Once they were met, nothing goes on."""

    problem: ExpressionError | None = None
    bodies: int = 0
    kept: int = 0
    until: float = field(default_factory=lambda: time.thread_time() + MAX_WORK_S)
    _lists: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])

    @contextmanager
    def without_collector(self) -> Generator[None]:
        """Python's garbage collector goes through the memory of the whole server when its turn comes: half a second
        is nothing special, and not the work of the expression that happens to be there."""
        here = get_ident()
        began = 0.0

        def give_back(phase: str, _info: dict[str, int]) -> None:
            nonlocal began
            if get_ident() != here:
                return
            now = time.thread_time()
            if phase == "start":
                began = now
            elif began:
                self.until += now - began

        gc.callbacks.append(give_back)
        try:
            yield
        finally:
            gc.callbacks.remove(give_back)

    def tick(self) -> bool:
        """Before each body, and each call of a function."""
        self.bodies += 1
        if self.problem is None and (self.bodies > MAX_BODIES or time.thread_time() > self.until):
            self.problem = ExpressionError(
                "The expression was stopped: it is too much work.",
                hint=f"Bodies of map, filter and the like run at most {MAX_BODIES:,} times and {MAX_WORK_S:g} s in all. "
                "A step of code can do more.",
            )
        if self.problem is not None:
            raise self.problem
        return True

    def collect(self, number: int) -> int:
        """The list of this number begins anew."""
        self._lists[number] = []
        return number

    def put(self, number: int, value: Any) -> bool:
        """What was there already."""
        self._lists[number].append(value)
        return True

    def keep(self, number: int, value: Any) -> bool:
        """What a body made."""
        try:
            self.kept += weigh(value, MAX_KEPT - self.kept, "What the expression makes")
        except ExpressionError as problem:
            self.problem = problem
            raise
        return self.put(number, value)

    def collected(self, number: int, _went: bool) -> list[Any]:
        return self._lists.pop(number)
