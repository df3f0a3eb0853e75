"""Counting the values in JSON without parsing it."""

import json
from typing import Any

import pytest

from forge.skills.wasm.strict_json import has_more_values

TEXT = 'a, [b] {c} "d" \\ \\" ' * 50


@pytest.mark.parametrize(
    "value",
    [TEXT, {TEXT: TEXT}, [TEXT, TEXT], {"a": {"b": [1, 2, "\\"]}, "\\": '"'}],
)
def test_content_of_strings_does_not_count(value: Any):
    assert not has_more_values(json.dumps(value), 10)


@pytest.mark.parametrize(
    "value",
    [
        [0] * 20,
        [[]] * 20,
        [{}] * 20,
        [""] * 20,
        ["\\"] * 20,
        ['"'] * 20,
        {str(n): n for n in range(20)},
        {TEXT: [[TEXT]] * 20},
    ],
)
def test_every_kind_of_value_counts(value: Any):
    assert has_more_values(json.dumps(value, separators=(",", ":")), 10)
