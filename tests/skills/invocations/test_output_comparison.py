"""Comparison of the output of a skill with the expected output."""

from typing import Any

import pytest

from forge.skills.invocations.skill_tests import difference


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        ({}, {"more": 1}),
        ({"a": {"b": 1}}, {"a": {"b": 1, "c": 2}, "d": 3}),
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 2, "c": 3}]}),
        ({"a": 0.3}, {"a": 0.1 + 0.2}),
        ({"a": 1}, {"a": 1.0}),
        ({"a": None}, {"a": None}),
    ],
)
def test_extra_values_are_accepted(expected: Any, found: Any):
    assert difference(expected, found) is None


@pytest.mark.parametrize(
    ("expected", "found", "message"),
    [
        ({"a": 1}, {}, "`a` is missing; expected 1."),
        ({"a": 1}, {"a": True}, "`a` is true; expected 1."),
        ({"a": True}, {"a": 1}, "`a` is 1; expected true."),
        ({"a": "1"}, {"a": 1}, '`a` is 1; expected "1".'),
        ({"a": None}, {"a": 0}, "`a` is 0; expected null."),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "`a.b[1]` is 3; expected 2."),
        ({"a": [1]}, {"a": [1, 2]}, "`a` has 2 items; expected 1."),
        ({"a": [1]}, {"a": "x" * 200}, '`a` is "' + "x" * 78 + "…; expected [1]."),
        ({"a": 1}, [1], 'The result is [1]; expected {"a": 1}.'),
    ],
)
def test_first_difference_is_described(expected: Any, found: Any, message: str):
    assert difference(expected, found) == message
