"""On which line of a file something stands that a parser gave us without its place."""

from bisect import bisect_right

MAX_LOOKUPS = 5000


class Lines:
    """Asked in the order of the file it is quick: each search begins where the last one ended."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        self._last = 0
        self._asked = 0

    def of(self, needle: str) -> int | None:
        """The line of its next occurrence, else of its first one; None when there is none."""
        self._asked += 1
        if not needle or self._asked > MAX_LOOKUPS:
            return None
        at = self._text.find(needle, self._last)
        if at < 0:
            at = self._text.find(needle)
        if at < 0:
            return None
        self._last = at
        return self.at(at)

    def at(self, offset: int) -> int:
        while self._starts[-1] <= offset:
            following = self._text.find("\n", self._starts[-1])
            if following < 0:
                break
            self._starts.append(following + 1)
        return bisect_right(self._starts, offset)
