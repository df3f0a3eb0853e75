"""Sections of a soul, and unified diffs."""

import difflib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.interview.assembly.file_changes import unified_diff
from forge.interview.assembly.soul_text import add_to_section, read_section, replace_section

TEXT = "Before.\n\n# Purpose:\n\nTo sail.\n\n## Where\n\n```\n# Boundaries\n```\n\n# Boundaries\n\n- None.\n"


def test_section_ends_at_next_heading_outside_code():
    assert read_section(TEXT, "Purpose") == "To sail.\n\n## Where\n\n```\n# Boundaries\n```"
    assert read_section(TEXT, "boundaries") == "- None."
    assert read_section(TEXT, "Where") == "```\n# Boundaries\n```"
    assert read_section(TEXT, "Nowhere") is None
    assert read_section("# Purpose", "Purpose") == ""


def test_section_is_replaced():
    assert (
        replace_section(TEXT, "Purpose", "To row.")
        == "Before.\n\n# Purpose:\n\nTo row.\n\n# Boundaries\n\n- None.\n"
    )
    assert replace_section(TEXT, "Boundaries", "- Some.") == TEXT.replace("None", "Some")
    assert add_to_section(TEXT, "Boundaries", "More.") == TEXT + "\nMore.\n"


@pytest.mark.parametrize(("text", "begin"), [("", ""), ("Words.\n", "Words.\n\n")])
def test_missing_section_is_appended(text: str, begin: str):
    assert replace_section(text, "Purpose", "To row.") == f"{begin}# Purpose\n\nTo row.\n"


LINES = st.lists(st.sampled_from(["a", "b", "c", ""]), max_size=30)


@given(LINES, LINES)
def test_unified_diff_can_be_applied(before: list[str], after: list[str]):
    old, new = "".join(f"{line}\n" for line in before), "".join(f"{line}\n" for line in after)
    diff = unified_diff(old, new, "ada/SOUL.md")
    assert (diff == "") == (old == new)
    assert _apply(before, diff) == after


def test_unified_diff_format():
    old = "".join(f"{number}\n" for number in range(30))
    new = old.replace("4\n", "four\n", 1).replace("20\n", "")
    expected = difflib.unified_diff(old.splitlines(), new.splitlines(), "a/x", "b/x", lineterm="")
    assert unified_diff(old, new, "x") == "\n".join(expected) + "\n"


def _apply(before: list[str], diff: str) -> list[str]:
    """Apply a unified diff."""
    result, position = list[str](), 0
    for row in diff.split("\n")[2:-1]:
        if row.startswith("@@"):
            start, count = (int(part) for part in row.split()[1][1:].split(","))
            start -= 1 if count else 0
            result += before[position:start]
            position = start
        elif row[0] == "+":
            result.append(row[1:])
        else:
            assert before[position] == row[1:]
            result += [row[1:]] if row[0] == " " else []
            position += 1
    return result + before[position:]
