"""Compare two texts side by side in bounded time.

The common prefix and suffix are split off; the lines between them are compared with Myers' algorithm, which is fast for
similar texts. Its steps are limited, because texts with little in common would take too long; beyond the limit, the
lines between are shown as replaced, which is correct but not the shortest diff.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from forge.bots.versions.models import DiffRow, FileDiff

CONTEXT = 3
MAX_ROWS = 2000
MAX_STEPS = 300_000
"""A few tenths of a second; enough for about 700 changed lines."""


class Hunk(NamedTuple):
    """Lines `left` of one text correspond to lines `right` of the other."""

    is_same: bool
    left: range
    right: range


def diff(left: str, right: str, *, left_name: str, right_name: str) -> FileDiff:
    if left == right:
        return FileDiff(left=left_name, right=right_name, added=0, removed=0, rows=[])
    old, new = _lines(left, right)
    hunks = compare(old, new)
    rows = list(islice(_rows(old, new, hunks), MAX_ROWS + 1))
    return FileDiff(
        left=left_name,
        right=right_name,
        added=sum(len(hunk.right) for hunk in hunks if not hunk.is_same),
        removed=sum(len(hunk.left) for hunk in hunks if not hunk.is_same),
        rows=rows[:MAX_ROWS],
        is_cut=len(rows) > MAX_ROWS,
    )


def compare(old: Sequence[str], new: Sequence[str]) -> list[Hunk]:
    """Return alternating equal and different hunks from the first line to the last."""
    start = _common_prefix(old, new)
    end = _common_prefix(old[start:][::-1], new[start:][::-1])
    middle = _matching_lines(old[start : len(old) - end], new[start : len(new) - end])
    pairs = [(i, i) for i in range(start)]
    pairs += [(start + i, start + j) for i, j in middle]
    pairs += [(len(old) - i, len(new) - i) for i in range(end, 0, -1)]
    return list(_hunks(pairs, len(old), len(new)))


def _lines(left: str, right: str) -> tuple[list[str], list[str]]:
    """Split into lines. A trailing line break counts as a line only if the other text has none."""
    if left.endswith("\n") and right.endswith("\n"):
        left, right = left[:-1], right[:-1]
    return left.split("\n") if left else [], right.split("\n") if right else []


def _common_prefix(old: Sequence[str], new: Sequence[str]) -> int:
    """Return the number of equal lines at the beginning."""
    most = min(len(old), len(new))
    return next((i for i in range(most) if old[i] != new[i]), most)


def _matching_lines(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Return the longest list of pairs of equal lines, in order; an empty list if finding it takes too many steps.

    Myers, 1986: `reached[k]` is the furthest line of the old text on diagonal k (old minus new) after d changes.
    """
    history: list[dict[int, int]] = []
    reached, steps = {1: 0}, 0
    for d in range(len(old) + len(new) + 1):
        history.append(reached)
        reached = dict[int, int]()
        for k in range(-d, d + 1, 2):
            x = _diagonal_start(history[-1], k, d)
            begin = x
            while x < len(old) and 0 <= x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reached[k] = x
            steps += 1 + x - begin
            if x >= len(old) and x - k >= len(new):
                return _backtrack(history, len(old), len(new))
        if steps > MAX_STEPS:
            return []
    return []


def _is_addition(before: dict[int, int], k: int, d: int) -> bool:
    """Return whether adding a line reaches diagonal k further than removing one."""
    return k == -d or (k != d and before[k - 1] < before[k + 1])


def _diagonal_start(before: dict[int, int], k: int, d: int) -> int:
    return before[k + 1] if _is_addition(before, k, d) else before[k - 1] + 1


def _backtrack(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for d in range(len(history) - 1, -1, -1):
        before, k = history[d], x - y
        begin = _diagonal_start(before, k, d)
        while x > begin and y > begin - k:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if d > 0:
            x, y = (x, y - 1) if _is_addition(before, k, d) else (x - 1, y)
    return pairs[::-1]


def _hunks(pairs: list[tuple[int, int]], old: int, new: int) -> Iterator[Hunk]:
    i = j = at = 0
    while at < len(pairs):
        left, right = pairs[at]
        if (left, right) != (i, j):
            yield Hunk(False, range(i, left), range(j, right))
        length = 1
        while at + length < len(pairs) and pairs[at + length] == (left + length, right + length):
            length += 1
        i, j, at = left + length, right + length, at + length
        yield Hunk(True, range(left, i), range(right, j))
    if (i, j) != (old, new):
        yield Hunk(False, range(i, old), range(j, new))


def _rows(old: Sequence[str], new: Sequence[str], hunks: list[Hunk]) -> Iterator[DiffRow]:
    for at, hunk in enumerate(hunks):
        if not hunk.is_same:
            yield from _changed(old, new, hunk)
            continue
        first = 0 if at == 0 else CONTEXT
        last = 0 if at == len(hunks) - 1 else CONTEXT
        hidden = len(hunk.left) - first - last
        if hidden < 2:
            first, last, hidden = len(hunk.left), 0, 0
        yield from _same(old, hunk, 0, first)
        if hidden:
            yield DiffRow(kind="skipped", left=str(hidden))
        yield from _same(old, hunk, len(hunk.left) - last, len(hunk.left))


def _same(old: Sequence[str], hunk: Hunk, start: int, end: int) -> Iterator[DiffRow]:
    for i, j in zip(hunk.left[start:end], hunk.right[start:end], strict=True):
        yield DiffRow(kind="same", left_line=i + 1, left=old[i], right_line=j + 1, right=old[i])


def _changed(old: Sequence[str], new: Sequence[str], hunk: Hunk) -> Iterator[DiffRow]:
    both = min(len(hunk.left), len(hunk.right))
    for i, j in zip(hunk.left[:both], hunk.right[:both], strict=True):
        yield DiffRow(kind="changed", left_line=i + 1, left=old[i], right_line=j + 1, right=new[j])
    for i in hunk.left[both:]:
        yield DiffRow(kind="removed", left_line=i + 1, left=old[i])
    for j in hunk.right[both:]:
        yield DiffRow(kind="added", right_line=j + 1, right=new[j])
