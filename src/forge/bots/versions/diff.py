"""Two texts side by side, in time that no text can make long.

The common beginning and end go first; what is between them is compared by Myers' algorithm, which is quick where texts
are alike. Texts that have little in common would take it for ever, so it may only take so many steps; beyond them, what
is between is shown as replaced as a whole. That is always true, if not always the shortest thing to say.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from forge.bots.versions.models import DiffRow, FileDiff

CONTEXT = 3
MAX_ROWS = 2000
MAX_STEPS = 300_000
"""Some tenths of a second; enough for about 700 changed lines."""


class Stretch(NamedTuple):
    """Lines `left` of one text stand where lines `right` of the other do; the same lines or not."""

    is_same: bool
    left: range
    right: range


def diff(left: str, right: str, *, left_name: str, right_name: str) -> FileDiff:
    if left == right:
        return FileDiff(left=left_name, right=right_name, added=0, removed=0, rows=[])
    old, new = _lines(left, right)
    stretches = compare(old, new)
    rows = list(islice(_rows(old, new, stretches), MAX_ROWS + 1))
    return FileDiff(
        left=left_name,
        right=right_name,
        added=sum(len(stretch.right) for stretch in stretches if not stretch.is_same),
        removed=sum(len(stretch.left) for stretch in stretches if not stretch.is_same),
        rows=rows[:MAX_ROWS],
        is_cut=len(rows) > MAX_ROWS,
    )


def compare(old: Sequence[str], new: Sequence[str]) -> list[Stretch]:
    """Same and different stretches by turns, from the first line to the last."""
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    middle = _shortest(old[start : len(old) - end], new[start : len(new) - end])
    pairs = [(i, i) for i in range(start)]
    pairs += [(start + i, start + j) for i, j in middle]
    pairs += [(len(old) - i, len(new) - i) for i in range(end, 0, -1)]
    return list(_stretches(pairs, len(old), len(new)))


def _lines(left: str, right: str) -> tuple[list[str], list[str]]:
    """A line break at the end is a line of its own only where the other text has none."""
    if left.endswith("\n") and right.endswith("\n"):
        left, right = left[:-1], right[:-1]
    return left.split("\n") if left else [], right.split("\n") if right else []


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines at the beginning are the same."""
    most = min(len(old), len(new))
    return next((i for i in range(most) if old[i] != new[i]), most)


def _shortest(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of lines that stay, in order: as many as there can be, or none when finding them takes too long.

    Myers, 1986: `reached[k]` is how far into the old text one gets on diagonal k (old minus new) with d changes.
    """
    history: list[dict[int, int]] = []
    reached, steps = {1: 0}, 0
    for d in range(len(old) + len(new) + 1):
        history.append(reached)
        reached = dict[int, int]()
        for k in range(-d, d + 1, 2):
            x = _start(history[-1], k, d)
            begin = x
            while x < len(old) and 0 <= x - k < len(new) and old[x] == new[x - k]:
                x += 1
            reached[k] = x
            steps += 1 + x - begin
            if x >= len(old) and x - k >= len(new):
                return _walk_back(history, len(old), len(new))
        if steps > MAX_STEPS:
            return []
    return []


def _is_addition(before: dict[int, int], k: int, d: int) -> bool:
    """The change that leads to diagonal k: a line added or one removed, whichever gets further."""
    return k == -d or (k != d and before[k - 1] < before[k + 1])


def _start(before: dict[int, int], k: int, d: int) -> int:
    return before[k + 1] if _is_addition(before, k, d) else before[k - 1] + 1


def _walk_back(history: list[dict[int, int]], x: int, y: int) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    for d in range(len(history) - 1, -1, -1):
        before, k = history[d], x - y
        begin = _start(before, k, d)
        while x > begin and y > begin - k:
            x, y = x - 1, y - 1
            pairs.append((x, y))
        if d > 0:
            x, y = (x, y - 1) if _is_addition(before, k, d) else (x - 1, y)
    return pairs[::-1]


def _stretches(pairs: list[tuple[int, int]], old: int, new: int) -> Iterator[Stretch]:
    i = j = at = 0
    while at < len(pairs):
        left, right = pairs[at]
        if (left, right) != (i, j):
            yield Stretch(False, range(i, left), range(j, right))
        length = 1
        while at + length < len(pairs) and pairs[at + length] == (left + length, right + length):
            length += 1
        i, j, at = left + length, right + length, at + length
        yield Stretch(True, range(left, i), range(right, j))
    if (i, j) != (old, new):
        yield Stretch(False, range(i, old), range(j, new))


def _rows(old: Sequence[str], new: Sequence[str], stretches: list[Stretch]) -> Iterator[DiffRow]:
    for at, stretch in enumerate(stretches):
        if not stretch.is_same:
            yield from _changed(old, new, stretch)
            continue
        first = 0 if at == 0 else CONTEXT
        last = 0 if at == len(stretches) - 1 else CONTEXT
        hidden = len(stretch.left) - first - last
        if hidden < 2:
            first, last, hidden = len(stretch.left), 0, 0
        yield from _same(old, stretch, 0, first)
        if hidden:
            yield DiffRow(kind="skipped", left=str(hidden))
        yield from _same(old, stretch, len(stretch.left) - last, len(stretch.left))


def _same(old: Sequence[str], stretch: Stretch, start: int, end: int) -> Iterator[DiffRow]:
    for i, j in zip(stretch.left[start:end], stretch.right[start:end], strict=True):
        yield DiffRow(kind="same", left_line=i + 1, left=old[i], right_line=j + 1, right=old[i])


def _changed(old: Sequence[str], new: Sequence[str], stretch: Stretch) -> Iterator[DiffRow]:
    both = min(len(stretch.left), len(stretch.right))
    for i, j in zip(stretch.left[:both], stretch.right[:both], strict=True):
        yield DiffRow(kind="changed", left_line=i + 1, left=old[i], right_line=j + 1, right=new[j])
    for i in stretch.left[both:]:
        yield DiffRow(kind="removed", left_line=i + 1, left=old[i])
    for j in stretch.right[both:]:
        yield DiffRow(kind="added", right_line=j + 1, right=new[j])
