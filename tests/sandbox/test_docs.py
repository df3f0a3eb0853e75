"""docs/sandbox.md matches the results of the tests."""

from pathlib import Path

from tests.sandbox import known_limits
from tests.sandbox.test_hostile import ATTACKS

PAGE = (Path(__file__).parent.parent.parent / "docs/sandbox.md").read_text()


def test_known_limits_are_documented():
    listed = known_limits.LANDLOCK | known_limits.LANDLOCK_AS_USER | known_limits.LANDLOCK_BEFORE_6
    assert [name for name in sorted(listed | known_limits.BUBBLEWRAP) if f"`{name}`" not in PAGE] == []


def test_documented_number_of_cases_is_correct():
    assert f"with {len(ATTACKS)} cases" in PAGE
