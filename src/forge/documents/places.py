"""Where something is in a text, as an editor shows it."""

import re
from bisect import bisect_right

LINE_END = re.compile(r"\r\n|\n|\r")


class Places:
    """Lines and columns of a text, both from 1. Only what every editor takes for the end of a line counts as one."""

    def __init__(self, text: str) -> None:
        self._starts = [0, *(end.end() for end in LINE_END.finditer(text))]

    def at(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1
