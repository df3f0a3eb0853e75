"""Templates: types are kept, values are never read again, secrets are marks."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from forge.errors import NotFound
from forge.workflows.expressions import ExpressionError, SecretMarks, fill

VARIABLES: dict[str, JsonValue] = {
    "trigger": {"n": 3, "list": [1, {"a": None}], "text": "x", "none": None, "yes": True}
}

texts = st.text(st.characters(exclude_categories=["Cs"]))
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
nasty = st.sampled_from(
    ["{{ trigger.value }}", "{{ secrets.KEY }}", "\\{{", "}}", "{{", "[secret 0 0]", "{{ 1 + }}"]
)


@pytest.mark.parametrize(
    ("template", "filled"),
    [
        ("{{ trigger.n }}", 3),
        ("{{trigger.list}}", [1, {"a": None}]),
        (" {{ trigger.n }}", " 3"),
        ("{{ trigger.list }}!", '[1,{"a":null}]!'),
        ("{{ trigger.yes }}/{{ trigger.none }}/{{ trigger.text }}", "true/null/x"),
        ("{{ {'a': {'b': trigger.n}} }}", {"a": {"b": 3}}),
        ("{{ {'a': {'b': trigger.n}}}}", {"a": {"b": 3}}),
        ("{{ '}}' + trigger.text }}", "}}x"),
        ("\\{{ trigger.n }} {{ trigger.n }}", "{{ trigger.n }} 3"),
        ("\\{{", "{{"),
        ("a } b {c} }} d", "a } b {c} }} d"),
        ({"{{ key }}": ["{{ trigger.n + 1 }}", 5, None]}, {"{{ key }}": [4, 5, None]}),
        ("", ""),
    ],
)
def test_placeholders_are_filled_in(template: JsonValue, filled: JsonValue):
    assert fill(template, VARIABLES) == filled


@given(value=json_values | nasty | st.dictionaries(nasty, nasty), before=st.sampled_from(["", "a ", "}} "]))
def test_what_is_filled_in_is_never_looked_at_again(value: JsonValue, before: str):
    variables: dict[str, JsonValue] = {"trigger": {"value": value}}
    assert fill("{{ trigger.value }}", variables) == value
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert fill(f"{before}{{{{ trigger.value }}}} end", variables) == f"{before}{said} end"


@given(
    value=texts | nasty,
    secret=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12, max_size=20),
)
def test_marks_of_secrets_cannot_be_forged_by_data(value: str, secret: str):
    template: JsonValue = {"url": "{{ trigger.value }}", "auth": "Bearer {{ secrets.KEY }}"}
    earlier = SecretMarks()
    forged = value + str(fill("{{ secrets.KEY }}", {}, earlier))
    marks = SecretMarks()
    filled = fill(template, {"trigger": {"value": forged}}, marks)
    assert marks.reveal(filled, {"KEY": secret}) == {"url": forged, "auth": f"Bearer {secret}"}
    assert marks.shown(filled) == {"url": forged, "auth": "Bearer {{ secrets.KEY }}"}


def test_marks_say_which_secrets_are_wanted_and_never_what_they_are():
    marks = SecretMarks()
    filled = fill(["{{ secrets.A }}", "{{ secrets.b-c }} {{ secrets['d.e'] }} {{ secrets.A }}"], {}, marks)
    assert marks.names == ("A", "b-c", "d.e")
    assert marks.shown(filled) == [
        "{{ secrets.A }}",
        "{{ secrets.b-c }} {{ secrets['d.e'] }} {{ secrets.A }}",
    ]
    with pytest.raises(NotFound, match=r"d\.e"):
        marks.reveal(filled, {"A": "1", "b-c": "2"})


def test_secrets_that_come_back_are_hidden_also_where_they_were_packed():
    marks = SecretMarks()
    found = {"KEY": "hunter2-and-more"}
    output: JsonValue = {
        "body": "you sent hunter2-and-more",
        "hunter2-and-more": ["aHVudGVyMi1hbmQtbW9yZQ==", 5],
    }
    assert "hunter2" not in json.dumps(marks.hide(output, found))
    assert "aHVudGVyMi" not in json.dumps(marks.hide(output, found))


def test_a_secret_is_refused_where_nobody_takes_it():
    with pytest.raises(ExpressionError, match="cannot be used here") as caught:
        fill("key: {{ secrets.KEY }}", {})
    assert caught.value.column == 8


def test_an_unresolved_reference_fails_at_once_and_is_named():
    with pytest.raises(ExpressionError, match=r"steps\.nope\.output does not exist") as caught:
        fill("Say: {{ steps.nope.output }}", {"steps": {}})
    assert caught.value.column == 9


def test_templates_have_limits():
    with pytest.raises(ExpressionError, match="200,000 characters"):
        fill("{{ 1 }}" + " " * 200_000, {})
    with pytest.raises(ExpressionError, match="1,000 placeholders"):
        fill("{{ 1 }}" * 1001, {})
    with pytest.raises(ExpressionError, match="4,000 characters"):
        fill("{{ 1" + " + 1" * 1000 + " }}", {})
    with pytest.raises(ExpressionError, match="8,000,000 characters"):
        fill(["{{ x }}" for _ in range(9)], {"x": "a" * 1_000_000})
