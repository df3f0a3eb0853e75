"""Versions and ranges: semver order and intersections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.skills.relations.semver import ANY, Range, Version, parse_range, parse_version


def version(text: str) -> Version:
    found = parse_version(text)
    assert found is not None, text
    return found


def version_range(text: str) -> Range:
    found = parse_range(text)
    assert found is not None, text
    return found


def test_versions_are_ordered_as_in_semver():
    ordered = [
        *(
            "0.0.1",
            "0.1",
            "1.0.0-0",
            "1.0.0-2",
            "1.0.0-11",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
        ),
        *(
            "1.0.0-beta",
            "1.0.0-beta.2",
            "1.0.0-beta.11",
            "1.0.0-rc.1",
            "1",
            "1.0.1-a",
            "1.0.1",
            "1.2",
            "1.10",
            "2",
        ),
    ]
    versions = [version(text) for text in ordered]
    assert sorted(versions[::-1]) == versions
    assert len(set(versions)) == len(versions)


@pytest.mark.parametrize(
    "text", ["", "one", "1.2.3.4", "1.", "-1", "1.2-beta..1", "1.2.3 beta", "9" * 10, "\u0661.\u0662"]
)
def test_invalid_version_is_none(text: str):
    assert parse_version(text) is None


@pytest.mark.parametrize(
    ("wanted", "inside", "outside"),
    [
        ("*", "0.0.0 1.2.3 9.9.9-beta", ""),
        ("1.2.3", "1.2.3 1.2.3+build", "1.2.2 1.2.4 1.2.3-beta"),
        ("=1.2", "1.2.0 1.2.9", "1.1.9 1.3.0 1.3.0-a"),
        ("1", "1.0.0 1.9.9", "0.9.9 2.0.0"),
        ("1.x", "1.0.0 1.9.9", "0.9.9 2.0.0"),
        ("1.2.*", "1.2.0 1.2.7", "1.3.0"),
        ("^1.2", "1.2.0 1.99.0", "1.1.9 2.0.0 2.0.0-a 1.3.0-beta"),
        ("^0.2.3", "0.2.3 0.2.9", "0.2.2 0.3.0"),
        ("^0.0.3", "0.0.3", "0.0.2 0.0.4"),
        ("^0.0", "0.0.0 0.0.9", "0.1.0"),
        ("^0", "0.0.0 0.9.9", "1.0.0"),
        ("^1.2.3-beta.2", "1.2.3-beta.2 1.2.3-beta.10 1.2.3 1.5.0", "1.2.3-beta.1 1.5.0-beta 2.0.0"),
        ("~1.2", "1.2.0 1.2.99", "1.3.0 1.1.0"),
        ("~1.2.3", "1.2.3 1.2.99", "1.2.2 1.3.0"),
        ("~1", "1.0.0 1.99.0", "2.0.0"),
        (">=1.0,<2", "1.0.0 1.9.9", "0.9.9 2.0.0 2.0.0-a"),
        (">= 1.0 < 2", "1.0.0 1.9.9", "0.9.9 2.0.0"),
        (">1.2", "1.3.0", "1.2.0 1.2.9"),
        (">1.2.3", "1.2.4", "1.2.3 1.2.4-beta"),
        (">1.2.3-beta", "1.2.3-beta.0 1.2.3", "1.2.3-beta 1.2.3-alpha"),
        ("<=1.2", "1.2.9 0.0.1", "1.3.0"),
        ("<=1.2.3", "1.2.3", "1.2.4"),
        ("<1.2.3", "1.2.2", "1.2.3 1.2.3-beta"),
        ("^1 || ^3", "1.5.0 3.0.0", "2.0.0 4.0.0"),
        ("*,>=1.0", "1.0.0", "0.9.0 2.0.0-beta"),
    ],
)
def test_range_contains_matching_versions(wanted: str, inside: str, outside: str):
    found = version_range(wanted)
    assert [one for one in inside.split() if version(one) not in found] == []
    assert [one for one in outside.split() if version(one) in found] == []
    assert not found.is_empty


@pytest.mark.parametrize(
    "text", ["", "latest", "^", "1 - 2", "1 ||", ">*", "1.x-beta", "=>1", "1,,2", "1" * 300, ">=1 <"]
)
def test_invalid_range_is_none(text: str):
    assert parse_range(text) is None


@pytest.mark.parametrize(
    ("text", "is_empty"),
    [
        (">=2,<1", True),
        (">1.2.3,<1.2.4", True),
        (">=1.2.3,<=1.2.3", False),
        (">1.2.3,<1.2.4-beta", False),
        (">1.2.4-beta,<1.2.4-beta.0", True),
        (">=1.2.4-beta,<1.2.4-beta.0", False),
        ("<0.0.0", True),
        ("<0.0.0 || 3", False),
    ],
)
def test_empty_range_is_detected(text: str, is_empty: bool):
    assert version_range(text).is_empty is is_empty


@pytest.mark.parametrize(
    ("one", "two", "has_common"),
    [
        ("^1.2", ">=1.5,<3", True),
        ("^1", "^2", False),
        ("^1 || ^4", "^2 || ~4.1", True),
        (">=2.0.0-beta,<2.0.0", "*", True),
        (">=2.0.0-beta,<2.0.0", "<2", False),
        (">=2.0.0-beta,<2.0.0", "<=2.0.0-gamma", True),
        ("1.2.3", "~1.2", True),
    ],
)
def test_ranges_are_intersected(one: str, two: str, has_common: bool):
    assert version_range(one).intersection(version_range(two)).is_empty is not has_common
    assert version_range(two).intersection(version_range(one)).is_empty is not has_common


small = st.integers(0, 3)
labels = st.lists(st.sampled_from(["0", "1", "a", "b"]), max_size=2).map(tuple)
versions = st.builds(Version, st.tuples(small, small, small), labels)
terms = st.builds(
    lambda sign, one: f"{sign}{one}", st.sampled_from(["", "^", "~", ">", ">=", "<", "<=", "="]), versions
) | st.sampled_from(["*", "1", "1.2", "^0", "~2", ">1", "<=0.1", "<2"])
ranges = st.lists(st.lists(terms, min_size=1, max_size=3).map(",".join), min_size=1, max_size=3).map(
    "||".join
)


@given(versions)
def test_version_round_trips(one: Version):
    assert parse_version(str(one)) == one


@given(versions, versions, versions)
def test_order_is_total_and_transitive(one: Version, two: Version, three: Version):
    assert (one < two) + (one == two) + (one > two) == 1
    assert not (one < two and two < three) or one < three


@given(ranges, ranges, versions)
def test_intersection_contains_exactly_the_common_versions(one: str, two: str, candidate: Version):
    first, second = version_range(one), version_range(two)
    common = first.intersection(second)
    assert (candidate in common) == (candidate in first and candidate in second)
    assert not (common.is_empty and candidate in common)


@given(ranges, versions)
def test_range_is_empty_exactly_if_it_contains_no_version(text: str, candidate: Version):
    found = version_range(text)
    assert not (found.is_empty and candidate in found)
    assert found.is_empty or _contains_a_nearby_version(found)
    assert candidate in ANY


def _contains_a_nearby_version(found: Range) -> bool:
    """Try all versions with small numbers, and one just above each bound."""
    numbers = range(6)
    tails = [(), ("0",), *((a,) for a in "1ab"), *((a, b) for a in "01ab" for b in "01ab")]
    tails += [(*tail, "0") for tail in tails if tail]
    every = (Version((a, b, c), tail) for a in numbers for b in numbers for c in numbers for tail in tails)
    return any(one in found for one in every)


@given(st.text(alphabet="0123456789.^~<>=*x|-, abv+", max_size=40))
def test_any_text_is_parsed_or_none(text: str):
    found = parse_range(text)
    assert found is None or found.text == text
