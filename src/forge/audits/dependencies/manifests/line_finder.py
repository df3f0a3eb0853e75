"""Find the line of a value that a parser returned without a position."""

from bisect import bisect_right

MAX_LOOKUPS = 5000


class LineFinder:
    """Finds lines of text; fast if called in file order, as each search starts at the last match."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        self._last = 0
        self._asked = 0

    def of(self, needle: str) -> int | None:
        """Return the line of the next occurrence, else of the first one, or None."""
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
