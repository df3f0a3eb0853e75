"""Expressions without values: what they refer to, and where they are wrong."""

import pytest

from forge.workflows.expressions import ExpressionError, Reference, check_expression, check_template


def test_references_are_named_as_far_as_they_are_written_out():
    text = "steps.gather-news.output.items[0].name == trigger[inputs.key] && has(inputs.x) && loop.index > 0"
    assert set(check_expression(text)) == {
        Reference(("steps", "gather-news", "output", "items", "0", "name")),
        Reference(("trigger",)),
        Reference(("inputs", "key")),
        Reference(("inputs", "x")),
        Reference(("loop", "index")),
    }


def test_methods_and_variables_of_loops_are_no_references():
    assert set(check_expression("steps.a.output.lower() + inputs.l.map(steps, steps.b).join()")) == {
        Reference(("steps", "a", "output")),
        Reference(("inputs", "l")),
    }
    assert check_expression("[1].map(x, x) == x | default([])") == (Reference(("x",)),)


def test_a_reference_knows_its_place():
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
        ("", 1, "There is no expression here."),
        ("a b", 3, "'b' cannot follow here"),
        ("1 +", 4, "A value is missing at the end."),
        ("a && || b", 6, "A value is missing before '||'."),
        ("(a", 3, "')' is missing: here is the end instead."),
        ("a ? b", 6, "':' is missing"),
        ("x == 'abc", 6, "A text is not closed"),
        ("x = 1", 3, "'=' means nothing in an expression."),
        ("a.lowr()", 3, "There is no function lowr."),
        ("a | lower(1)", 5, "lower does not take this many arguments."),
        ("a | map(x, x)", 5, "map goes behind a dot"),
        ("a.map(1, x)", 7, "A name is missing here."),
        ("a.filter(x)", 3, "filter takes a name and what becomes of it"),
        ("default(a, 1)", 1, "default goes behind a value"),
        ("has(a)", 1, "has asks for something that is picked"),
        ("a // b", 3, "An expression has no room for comments."),
        ("1 + 99999999999999999999", 5, "This number is too large"),
        ("{{ a }} && {{ b }}", 8, "Something follows the closing braces."),
        ("a && {{ b }}", 6, "Double braces do not belong here."),
        ("{{ a", 1, "A placeholder is not closed"),
        ("'\\q'", 1, "This cannot be read as an expression."),
        ("Message{a: 1}", 8, "'{' cannot follow here"),
        ("1 + secrets.X", 5, "secrets.X cannot be part of an expression."),
    ],
)
def test_what_is_wrong_with_an_expression_has_a_place(text: str, column: int, message: str):
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
def test_what_is_wrong_with_a_template_has_a_place(text: str, column: int):
    with pytest.raises(ExpressionError) as caught:
        check_template(text)
    assert caught.value.column == column


def test_text_without_placeholders_refers_to_nothing():
    assert check_template("{ not } a \\{{ placeholder }}") == ()
