"""Continue an answer where it stops. Models often begin again: what they repeat of the existing text is dropped."""

MIN_OVERLAP = 12
"""Characters. A shorter overlap may be a coincidence, such as the end and the beginning of a word."""


def without_overlap(said: str, text: str) -> str:
    """Return the text without its beginning, if that repeats the end of what was said, or all of it."""
    stripped = text.lstrip()
    longest = min(len(said), len(stripped))
    for length in range(longest, MIN_OVERLAP - 1, -1):
        if said.endswith(stripped[:length]):
            return stripped[length:]
    return text


class OverlapFilter:
    """Holds back the beginning of a continuation as long as it repeats a part of what was said."""

    def __init__(self, said: str) -> None:
        self._said = said
        self._held = ""
        self._is_open = len(said) >= MIN_OVERLAP

    def add(self, piece: str) -> str:
        """Return the text that is certainly new."""
        if not self._is_open:
            return piece
        self._held += piece
        return "" if self._held.lstrip() in self._said else self.rest()

    def rest(self) -> str:
        """Return what was held back, without the overlap, at the end of the continuation."""
        held, self._held, self._is_open = self._held, "", False
        return without_overlap(self._said, held)
