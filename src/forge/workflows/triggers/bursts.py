"""Many notices of one change to a file become one: told when the file has been left alone for a moment. Pure."""

from dataclasses import dataclass, field
from enum import StrEnum

QUIET_S = 0.5
LONGEST_S = 10.0
"""A file that is written to all the time is told of this often."""


class Change(StrEnum):
    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


@dataclass
class Bursts:
    """What there was before decides what a change is: programs that save a file often put a new one in its place."""

    known: set[str]
    """All files there are, as far as they were told of."""
    _first: dict[str, float] = field(default_factory=dict[str, float], init=False)
    _last: dict[str, float] = field(default_factory=dict[str, float], init=False)

    def note(self, path: str, at: float) -> None:
        """Something happened to it, at that second."""
        self._first.setdefault(path, at)
        self._last[path] = at

    def settled(self, at: float) -> list[str]:
        """Those that are told now, in the order they were first noted."""
        found = [
            path
            for path, first in self._first.items()
            if at - self._last[path] >= QUIET_S or at - first >= LONGEST_S
        ]
        for path in found:
            del self._first[path], self._last[path]
        return found

    def tell(self, path: str, *, exists: bool) -> Change | None:
        """None when it came and went."""
        was_known = path in self.known
        if not exists:
            self.known.discard(path)
            return Change.DELETED if was_known else None
        self.known.add(path)
        return Change.MODIFIED if was_known else Change.ADDED
