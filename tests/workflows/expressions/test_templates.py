"""Templates: types, inserted values, secret placeholders, references and syntax errors."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from forge.errors import NotFound
from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.secret_placeholders import SecretPlaceholders
from forge.workflows.expressions.templates import Reference, check_expression, check_template, fill

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
def test_inserted_values_are_not_evaluated(value: JsonValue, before: str):
    variables: dict[str, JsonValue] = {"trigger": {"value": value}}
    assert fill("{{ trigger.value }}", variables) == value
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert fill(f"{before}{{{{ trigger.value }}}} end", variables) == f"{before}{text} end"


@given(
    value=texts | nasty,
    secret=st.text(st.characters(codec="ascii", categories=["L", "N"]), min_size=12, max_size=20),
)
def test_secret_placeholders_cannot_be_forged(value: str, secret: str):
    template: JsonValue = {"url": "{{ trigger.value }}", "auth": "Bearer {{ secrets.KEY }}"}
    earlier = SecretPlaceholders()
    forged = value + str(fill("{{ secrets.KEY }}", {}, earlier))
    placeholders = SecretPlaceholders()
    filled = fill(template, {"trigger": {"value": forged}}, placeholders)
    assert placeholders.reveal(filled, {"KEY": secret}) == {"url": forged, "auth": f"Bearer {secret}"}
    assert placeholders.shown(filled) == {"url": forged, "auth": "Bearer {{ secrets.KEY }}"}


def test_secret_placeholders_only_know_names():
    placeholders = SecretPlaceholders()
    filled = fill(
        ["{{ secrets.A }}", "{{ secrets.b-c }} {{ secrets['d.e'] }} {{ secrets.A }}"], {}, placeholders
    )
    assert placeholders.names == ("A", "b-c", "d.e")
    assert placeholders.shown(filled) == [
        "{{ secrets.A }}",
        "{{ secrets.b-c }} {{ secrets['d.e'] }} {{ secrets.A }}",
    ]
    with pytest.raises(NotFound, match=r"d\.e"):
        placeholders.reveal(filled, {"A": "1", "b-c": "2"})


def test_returned_secrets_are_hidden_even_if_encoded():
    placeholders = SecretPlaceholders()
    found = {"KEY": "hunter2-and-more"}
    output: JsonValue = {
        "body": "you sent hunter2-and-more",
        "hunter2-and-more": ["aHVudGVyMi1hbmQtbW9yZQ==", 5],
    }
    assert "hunter2" not in json.dumps(placeholders.hide(output, found))
    assert "aHVudGVyMi" not in json.dumps(placeholders.hide(output, found))


def test_secret_is_rejected_where_not_allowed():
    with pytest.raises(ExpressionError, match="cannot be used here") as caught:
        fill("key: {{ secrets.KEY }}", {})
    assert caught.value.column == 8


def test_unresolved_reference_is_named_in_error():
    with pytest.raises(ExpressionError, match=r"steps\.nope\.output does not exist") as caught:
        fill("Say: {{ steps.nope.output }}", {"steps": {}})
    assert caught.value.column == 9


def test_templates_have_limits():
    with pytest.raises(ExpressionError, match="maximum is 200,000"):
        fill("{{ 1 }}" + " " * 200_000, {})
    with pytest.raises(ExpressionError, match="1,000 placeholders"):
        fill("{{ 1 }}" * 1001, {})
    with pytest.raises(ExpressionError, match="maximum is 4,000"):
        fill("{{ 1" + " + 1" * 1000 + " }}", {})
    with pytest.raises(ExpressionError, match="8,000,000 characters"):
        fill(["{{ x }}" for _ in range(9)], {"x": "a" * 1_000_000})


def test_static_part_of_references_is_returned():
    text = "steps.gather-news.output.items[0].name == trigger[inputs.key] && has(inputs.x) && loop.index > 0"
    assert set(check_expression(text)) == {
        Reference(("steps", "gather-news", "output", "items", "0", "name")),
        Reference(("trigger",)),
        Reference(("inputs", "key")),
        Reference(("inputs", "x")),
        Reference(("loop", "index")),
    }


def test_methods_and_macro_variables_are_not_references():
    assert set(check_expression("steps.a.output.lower() + inputs.l.map(steps, steps.b).join()")) == {
        Reference(("steps", "a", "output")),
        Reference(("inputs", "l")),
    }
    assert check_expression("[1].map(x, x) == x | default([])") == (Reference(("x",)),)


def test_reference_has_column():
    first, second = check_template("Dear {{ inputs.who }},\n{{ 1 + trigger.n | default(2) }}")
    assert (first.column, second.column) == (9, 31)


def test_secrets_are_references_of_templates():
    assert check_template("Bearer {{ secrets.API-KEY }}{{secrets['a.b']}}") == (
        Reference(("secrets", "API-KEY")),
        Reference(("secrets", "a.b")),
    )


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "The expression is empty."),
        ("a b", 3, "Unexpected 'b'"),
        ("1 +", 4, "Expected a value at the end."),
        ("a && || b", 6, "Expected a value before '||'."),
        ("(a", 3, "Expected ')', found the end."),
        ("a ? b", 6, "Expected ':'"),
        ("x == 'abc", 6, "A string is not closed"),
        ("x = 1", 3, "Unexpected character '='."),
        ("a.lowr()", 3, "There is no function lowr."),
        ("a | lower(1)", 5, "Wrong number of arguments for lower."),
        ("a | map(x, x)", 5, "map is called with a dot"),
        ("a.map(1, x)", 7, "Expected a name."),
        ("a.filter(x)", 3, "filter takes a variable and an expression"),
        ("default(a, 1)", 1, "default is called on a value"),
        ("has(a)", 1, "has expects a field or item"),
        ("a // b", 3, "Comments are not supported in expressions."),
        ("1 + 99999999999999999999", 5, "This number is too large"),
        ("{{ a }} && {{ b }}", 8, "Unexpected text after the closing braces."),
        ("a && {{ b }}", 6, "Unexpected double braces."),
        ("{{ a", 1, "A placeholder is not closed"),
        ("'\\q'", 1, "Invalid expression."),
        ("Message{a: 1}", 8, "Unexpected '{'"),
        ("1 + secrets.X", 5, "secrets.X cannot be part of an expression."),
    ],
)
def test_syntax_error_of_expression_has_column(text: str, column: int, message: str):
    with pytest.raises(ExpressionError) as caught:
        check_expression(text)
    assert caught.value.message.startswith(message)
    assert caught.value.column == column


@pytest.mark.parametrize(
    ("text", "column"),
    [
        ("Hello {{ a b }}", 12),
        ("{{ a }} {{ b", 9),
        ("{{ }}", 4),
        ("x {{ 'a' + secrets.X }}", 12),
        ("{{ {{ a }} }}", 4),
    ],
)
def test_syntax_error_of_template_has_column(text: str, column: int):
    with pytest.raises(ExpressionError) as caught:
        check_template(text)
    assert caught.value.column == column


def test_plain_text_has_no_references():
    assert check_template("{ not } a \\{{ placeholder }}") == ()
