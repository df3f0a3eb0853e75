"""Diffs of two texts, side by side."""

import difflib
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from forge.bots.versions import diff as diffing
from forge.bots.versions.diff import MAX_ROWS, compare, diff
from forge.bots.versions.models import DiffRow, FileDiff

LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30)


def compared(left: str, right: str) -> FileDiff:
    return diff(left, right, left_name="version 1", right_name="version 2")


def shown(found: FileDiff) -> list[tuple[str, int | None, str, int | None, str]]:
    return [(row.kind, row.left_line, row.left, row.right_line, row.right) for row in found.rows]


def test_equal_texts_have_no_rows():
    assert compared("a\nb\n", "a\nb\n") == FileDiff(
        left="version 1", right="version 2", added=0, removed=0, rows=[]
    )


def test_changed_lines_are_aligned():
    found = compared("one\ntwo\nthree\n", "one\nTWO\n2.5\nthree\n")
    assert (found.added, found.removed) == (2, 1)
    assert shown(found) == snapshot(
        [
            ("same", 1, "one", 1, "one"),
            ("changed", 2, "two", 2, "TWO"),
            ("added", None, "", 3, "2.5"),
            ("same", 3, "three", 4, "three"),
        ]
    )


def test_long_equal_stretches_are_skipped():
    lines = [str(number) for number in range(1, 31)]
    found = compared("\n".join(lines), "\n".join([*lines[:14], "new", *lines[15:]]))
    assert [(row.kind, row.left) for row in found.rows] == snapshot(
        [
            ("skipped", "11"),
            ("same", "12"),
            ("same", "13"),
            ("same", "14"),
            ("changed", "15"),
            ("same", "16"),
            ("same", "17"),
            ("same", "18"),
            ("skipped", "12"),
        ]
    )


def test_single_equal_line_is_not_skipped():
    found = compared("1\n2\n3\n4\n5", "1\n2\n3\n4\nfive")
    assert [row.kind for row in found.rows] == ["same", "same", "same", "same", "changed"]


def test_added_or_removed_final_newline_is_shown():
    assert shown(compared("a", "a\n")) == [("same", 1, "a", 1, "a"), ("added", None, "", 2, "")]
    assert compared("a\n", "a").removed == 1
    assert shown(compared("", "a\n"))[0] == ("added", None, "", 1, "a")
    assert compared("a\r\n", "a\n").rows == [
        DiffRow(kind="changed", left_line=1, left="a\r", right_line=1, right="a")
    ]


@given(LINES, LINES)
def test_stretches_contain_both_texts(old: list[str], new: list[str]):
    stretches = compare(old, new)
    assert [old[i] for one in stretches for i in one.left] == old
    assert [new[j] for one in stretches for j in one.right] == new
    for one in stretches:
        left, right = [old[i] for i in one.left], [new[j] for j in one.right]
        assert (left == right) == one.is_same
        assert left or right


@given(LINES, LINES)
def test_number_of_kept_lines_is_maximal(old: list[str], new: list[str]):
    kept = sum(len(one.left) for one in compare(old, new) if one.is_same)
    assert kept == _longest_common(old, new)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    assert kept >= sum(block.size for block in matcher.get_matching_blocks())


def test_large_diff_is_cut():
    left, right = ("\n".join(f"{side}{number}" for number in range(3000)) for side in "ab")
    found = compared(left, right)
    assert (len(found.rows), found.is_cut, found.added, found.removed) == (MAX_ROWS, True, 3000, 3000)


@pytest.mark.parametrize("letters", ["ab", "abcdefghij"])
def test_hostile_texts_take_a_bounded_number_of_steps(letters: str, monkeypatch: pytest.MonkeyPatch):
    """A complete diff of 200 kB of one-letter lines would take billions of steps."""
    rng = random.Random(5)
    left, right = ("\n".join(rng.choice(letters) for _ in range(100_000)) for _ in range(2))
    steps = 0
    original = diffing._diagonal_start

    def counted(before: dict[int, int], k: int, d: int) -> int:
        nonlocal steps
        steps += 1
        return original(before, k, d)

    monkeypatch.setattr(diffing, "_diagonal_start", counted)
    found = compared(left, right)
    assert found.is_cut
    assert steps < 2 * diffing.MAX_STEPS


def _longest_common(old: list[str], new: list[str]) -> int:
    table = [0] * (len(new) + 1)
    for one in old:
        above = 0
        for j, other in enumerate(new, 1):
            above, table[j] = table[j], above + 1 if one == other else max(table[j], table[j - 1])
    return table[-1]
