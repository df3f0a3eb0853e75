"""Remembers which providers just failed, so that a chain does not ask a dead one first, again and again.

It lives in this process and forgets with it: it saves time, it decides nothing that must be true later.
"""

import time
from dataclasses import dataclass

OPENS_AFTER = 3
"""Faults in a row."""
REST_S = 30.0


@dataclass
class _State:
    faults: int = 0
    rests_until: float = 0.0


class Breaker:
    def __init__(self) -> None:
        self._states: dict[str, _State] = {}

    def rests(self, target: str) -> bool:
        """Whether it is better not to ask it now. After the rest one call may try; its end decides."""
        state = self._states.get(target)
        return state is not None and time.monotonic() < state.rests_until

    def failed(self, target: str, retry_after_s: float | None = None) -> None:
        state = self._states.setdefault(target, _State())
        state.faults += 1
        if state.faults >= OPENS_AFTER or (retry_after_s or 0) > REST_S:
            state.rests_until = time.monotonic() + max(REST_S, min(retry_after_s or 0, 600.0))

    def worked(self, target: str) -> None:
        self._states.pop(target, None)
