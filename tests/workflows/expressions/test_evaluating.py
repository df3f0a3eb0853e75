"""Expressions: what they come to, and what a person is told when they come to nothing."""

import pytest
from pydantic import JsonValue

from forge.workflows.expressions import ExpressionError, evaluate, is_true

VARIABLES: dict[str, JsonValue] = {
    "steps": {
        "gather": {
            "output": {
                "count": 4,
                "title": "  Été  ",
                "items": [{"name": "pear", "price": 2.5}, {"name": "fig", "price": 1, "ripe": True}],
                "z": {"b": 1, "a": 2},
            },
            "status": "completed",
        },
        "gather-news": {"output": 5},
        "skipped": {"output": None, "status": "skipped"},
    },
    "trigger": {"amount": 10, "rate": 1.5, "note": None, "huge": 2**70},
    "loop": {"index": 1, "item": "q"},
    "inputs": {"who": "Ada"},
}


def problem(text: str) -> ExpressionError:
    with pytest.raises(ExpressionError) as caught:
        evaluate(text, VARIABLES)
    return caught.value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("steps.gather.output.count > 3 && inputs.who == 'Ada'", True),
        ("trigger.amount > 100 ? 'much' : 'little'", "little"),
        ("'pear' in steps.gather.output.items.map(i, i.name)", True),
        ("steps.gather.output.items.filter(i, i.price > 2)[0].name", "pear"),
        ("steps['gather'].output.items[1].name", "fig"),
        ("{'who': inputs.who, 'list': [1, 2.5, null]}", {"list": [1, 2.5, None], "who": "Ada"}),
        ("loop.index % 2 == 1", True),
        ("[1, 2].map(loop, loop * 2)", [2, 4]),
        ("-5 + - 1", -6),
        ("'a' + \"b\" + r'\\c'", "ab\\c"),
        ("'abc'.matches('^a.c$')", True),
        ("timestamp('2026-11-16T09:00:00Z') > timestamp('2026-01-01T00:00:00Z')", True),
        ("timestamp('2026-11-16T09:00:00Z')", "2026-11-16T09:00:00Z"),
        ("'at ' + string(timestamp('2026-11-16T10:00:00+01:00'))", "at 2026-11-16T10:00:00+01:00"),
        ("duration('1h30m')", "5400s"),
        ("type(trigger.amount) == int", True),
        ("{{ steps.gather.output.count }}", 4),
    ],
)
def test_cel_is_worked_out(text: str, value: JsonValue):
    assert evaluate(text, VARIABLES) == value


@pytest.mark.parametrize(
    ("operand", "transform", "value"),
    [
        ("'AbC'", "lower", "abc"),
        ("'AbC'", "upper", "ABC"),
        ("steps.gather.output.title", "trim", "Été"),
        ("'a,b'", "split", ["a", "b"]),
        ("'a;b|c'", "split(';')", ["a", "b|c"]),
        ("''", "not", True),
        ("[]", "not", False),
        ("trigger.note", "not", True),
        ("'abc'", "contains('b')", True),
        ("[1, 2]", "contains(3)", False),
        ("steps.gather.output.z", "contains('a')", True),
        ("'abc'", "startsWith('a')", True),
        ("'abc'", "endsWith('b')", False),
        ("'a.c'", "match('.')", True),
        ("'abc'", "match('^a')", False),
        ("'Été'", "length", 3),
        ("[1, 2]", "size", 2),
        ("steps.gather.output.z", "json", '{"a":2,"b":1}'),
        ("[1, 'b']", "join", "1,b"),
        ("['a', 'b']", "join(' and ')", "a and b"),
        ("[3, 4]", "first", 3),
        ("'xyz'", "last", "z"),
        ("[]", "first", None),
        ("steps.gather.output.z", "keys", ["a", "b"]),
        ("'aXbX'", "replace('X', '--')", "a--b--"),
        ("' 12 '", "number", 12),
        ("'1.5'", "number", 1.5),
        ("[true, null]", "string", "[true,null]"),
        ("5", "string", "5"),
        ("trigger.note", "default('none')", "none"),
    ],
)
def test_a_transform_is_a_pipe_and_a_method(operand: str, transform: str, value: JsonValue):
    method = transform if transform.endswith(")") else f"{transform}()"
    assert evaluate(f"{operand} | {transform}", VARIABLES) == value
    assert evaluate(f"{operand}|{transform}", VARIABLES) == value
    assert evaluate(f"({operand}).{method}", VARIABLES) == value


def test_a_pipe_binds_closer_than_any_operator_and_is_no_or():
    assert evaluate("'A' == 'a' | upper", {}) is True
    assert evaluate("'x' + 'A' | lower | upper + 'b'|upper", {}) == "xAB"
    assert evaluate("false || '||' | length == 2", {}) is True


def test_names_of_steps_have_hyphens():
    assert evaluate("steps.gather-news.output", VARIABLES) == 5
    assert evaluate("steps.gather-news.output-1", VARIABLES) == 4
    assert evaluate("steps['gather-news'].output - steps.gather.output.count", VARIABLES) == 1
    assert evaluate("trigger.amount-loop.index", VARIABLES) == 9


def test_what_is_missing_may_have_a_default():
    assert evaluate("trigger.nope.deeper[3] | default('y')", VARIABLES) == "y"
    assert evaluate("trigger.amount | default('y')", VARIABLES) == 10
    assert evaluate("trigger.nope | default(inputs.nope | default('z')) | upper", VARIABLES) == "Z"
    assert evaluate("steps.gather.output.items.map(i, i.ripe | default(false))", VARIABLES) == [False, True]
    assert evaluate("steps[inputs.who].output | default(0)", VARIABLES) == 0


def test_a_default_that_is_not_needed_is_not_worked_out():
    assert evaluate("trigger.amount | default(inputs.nope)", VARIABLES) == 10


def test_has_asks_all_the_way():
    assert evaluate("has(trigger.note)", VARIABLES) is True
    assert evaluate("has(steps.nope.output.x)", VARIABLES) is False
    assert evaluate("steps.gather.output.items.map(i, has(i.ripe))", VARIABLES) == [False, True]


def test_a_branch_that_is_not_taken_may_refer_to_nothing():
    assert evaluate("true ? 1 : steps.nope.output", VARIABLES) == 1
    assert evaluate("true || steps.nope.output", VARIABLES) is True


def test_a_reference_alone_gives_the_very_value():
    assert evaluate("trigger.huge", VARIABLES) == 2**70
    z = evaluate("steps.gather.output.z", VARIABLES)
    assert isinstance(z, dict)
    assert list(z) == ["b", "a"]


def test_maps_are_gone_through_in_their_order():
    assert evaluate("steps.gather.output.z.map(k, k)", VARIABLES) == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("trigger.amount * 1.5", 15), ("trigger.amount / trigger.rate > 6", True), ("trigger.rate * 2 + 1", 4)],
)
def test_whole_numbers_and_fractions_mix_as_in_json(text: str, value: JsonValue):
    assert evaluate(text, VARIABLES) == value


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("''", False),
        ("0", False),
        ("0.0", False),
        ("null", False),
        ("false", False),
        ("[]", True),
        ("{}", True),
        ("'0'", True),
    ],
)
def test_truth_is_that_of_javascript(text: str, truth: bool):
    assert is_true(text, {}) is truth
    assert is_true(f" {{{{ {text} }}}} ", {}) is truth


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "steps.nope.output",
            "steps.nope.output does not exist: steps has no 'nope'.",
            "gather, gather-news, skipped",
        ),
        (
            "1 + steps.gathr.output",
            "steps.gathr.output does not exist: steps has no 'gathr'.",
            "Did you mean gather?",
        ),
        (
            "steps.skipped.output.x",
            "steps.skipped.output.x does not exist: steps.skipped.output is null.",
            None,
        ),
        ("steps.gather.output.items[2]", "steps.gather.output.items[2] does not exist: ", None),
        (
            "variables.x",
            "variables.x does not exist: nothing is called variables.",
            "steps, trigger, loop, inputs",
        ),
        ("steps[inputs.who].output", "There is no 'Ada' in the map that is looked into.", None),
        ("[1][loop.index]", "The list that is looked into has no item at this place.", "from 0"),
        ("'a' + 1", "The operation does not exist for values of these types.", "string(x)"),
        (
            "size([1]) * 1.5 + trigger.rate",
            "The operation does not exist for values of these types.",
            "double(x)",
        ),
        ("1 / 0", "The expression divides by zero.", None),
        ("9223372036854775807 + 1", "A number is too large: whole numbers have 64 bits.", None),
        (
            "trigger.huge > 1",
            "trigger.huge holds a whole number of more than 64 bits.",
            "alone in a placeholder",
        ),
        ("1.0 / 0.0", "The result is no number that JSON knows", None),
        ("{1: 2}", "The result is no JSON: the keys of a map have to be texts.", None),
        ("trigger.amount | lower", "lower works on a text, and this is a number.", "string(x)"),
        ("'x' | number", "number cannot make a number of this text.", None),
        ("'a' | split('')", "split needs something to split at.", None),
        ("secrets.TOKEN", "secrets.TOKEN cannot be part of an expression.", "{{ secrets.NAME }}"),
        ("'a'.matches('(')", "The expression cannot be worked out: Function 'matches' error", None),
    ],
)
def test_what_cannot_be_worked_out_is_said(text: str, message: str, hint: str | None):
    told = problem(text)
    assert told.message.startswith(message)
    assert hint is None or hint in (told.hint or "")


def test_an_error_of_a_function_in_an_alternative_is_an_error_all_the_same():
    assert problem("1 | lower == 'a' || true").message == "lower works on a text, and this is a number."


def test_text_that_is_no_unicode_is_refused():
    with pytest.raises(ExpressionError):
        evaluate("x + 'a'", {"x": "\ud800"})
