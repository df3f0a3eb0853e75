"""Evaluation of expressions: results, errors and limits."""

import contextlib
import gc
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.evaluation import MAX_WORK_S, Limits, evaluate, is_true
from forge.workflows.expressions.templates import check_expression, fill

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
def test_cel_is_evaluated(text: str, value: JsonValue):
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
def test_function_is_callable_as_pipe_and_method(operand: str, transform: str, value: JsonValue):
    method = transform if transform.endswith(")") else f"{transform}()"
    assert evaluate(f"{operand} | {transform}", VARIABLES) == value
    assert evaluate(f"{operand}|{transform}", VARIABLES) == value
    assert evaluate(f"({operand}).{method}", VARIABLES) == value


def test_pipe_binds_tighter_than_operators():
    assert evaluate("'A' == 'a' | upper", {}) is True
    assert evaluate("'x' + 'A' | lower | upper + 'b'|upper", {}) == "xAB"
    assert evaluate("false || '||' | length == 2", {}) is True


def test_step_ids_may_contain_hyphens():
    assert evaluate("steps.gather-news.output", VARIABLES) == 5
    assert evaluate("steps.gather-news.output-1", VARIABLES) == 4
    assert evaluate("steps['gather-news'].output - steps.gather.output.count", VARIABLES) == 1
    assert evaluate("trigger.amount-loop.index", VARIABLES) == 9


def test_default_replaces_missing_value():
    assert evaluate("trigger.nope.deeper[3] | default('y')", VARIABLES) == "y"
    assert evaluate("trigger.amount | default('y')", VARIABLES) == 10
    assert evaluate("trigger.nope | default(inputs.nope | default('z')) | upper", VARIABLES) == "Z"
    assert evaluate("steps.gather.output.items.map(i, i.ripe | default(false))", VARIABLES) == [False, True]
    assert evaluate("steps[inputs.who].output | default(0)", VARIABLES) == 0


def test_unused_default_is_not_evaluated():
    assert evaluate("trigger.amount | default(inputs.nope)", VARIABLES) == 10


def test_has_checks_whole_path():
    assert evaluate("has(trigger.note)", VARIABLES) is True
    assert evaluate("has(steps.nope.output.x)", VARIABLES) is False
    assert evaluate("steps.gather.output.items.map(i, has(i.ripe))", VARIABLES) == [False, True]


def test_branch_not_taken_is_not_evaluated():
    assert evaluate("true ? 1 : steps.nope.output", VARIABLES) == 1
    assert evaluate("true || steps.nope.output", VARIABLES) is True


def test_lone_reference_returns_value_unchanged():
    assert evaluate("trigger.huge", VARIABLES) == 2**70
    z = evaluate("steps.gather.output.z", VARIABLES)
    assert isinstance(z, dict)
    assert list(z) == ["b", "a"]


def test_maps_are_iterated_in_order():
    assert evaluate("steps.gather.output.z.map(k, k)", VARIABLES) == ["b", "a"]


@pytest.mark.parametrize(
    ("text", "value"),
    [("trigger.amount * 1.5", 15), ("trigger.amount / trigger.rate > 6", True), ("trigger.rate * 2 + 1", 4)],
)
def test_integers_and_fractions_can_be_mixed(text: str, value: JsonValue):
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
def test_truth_values_are_those_of_javascript(text: str, truth: bool):
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
            "variables.x does not exist: variables is not defined",
            "steps, trigger, loop, inputs",
        ),
        ("steps[inputs.who].output", "The map has no key 'Ada'.", None),
        ("[1][loop.index]", "The list index is out of range.", "from 0"),
        ("'a' + 1", "The operation is not defined for values of these types.", "string(x)"),
        (
            "size([1]) * 1.5 + trigger.rate",
            "The operation is not defined for values of these types.",
            "double(x)",
        ),
        ("1 / 0", "Division by zero.", None),
        ("9223372036854775807 + 1", "A number is too large: integers have 64 bits.", None),
        (
            "trigger.huge > 1",
            "trigger.huge contains an integer of more than 64 bits.",
            "only value of a placeholder",
        ),
        ("1.0 / 0.0", "The result is infinite or not a number", None),
        ("{1: 2}", "The result cannot be represented as JSON: map keys must be strings.", None),
        ("trigger.amount | lower", "lower expects a string, got a number.", "string(x)"),
        ("'x' | number", "number cannot convert this string to a number.", None),
        ("'a' | split('')", "split needs a separator that is not empty.", None),
        ("secrets.TOKEN", "secrets.TOKEN cannot be part of an expression.", "{{ secrets.NAME }}"),
        ("'a'.matches('(')", "The expression cannot be evaluated: Function 'matches' error", None),
    ],
)
def test_evaluation_errors(text: str, message: str, hint: str | None):
    error = problem(text)
    assert error.message.startswith(message)
    assert hint is None or hint in (error.hint or "")


def test_function_error_is_not_hidden_by_or():
    assert problem("1 | lower == 'a' || true").message == "lower expects a string, got a number."


def test_invalid_unicode_is_rejected():
    with pytest.raises(ExpressionError):
        evaluate("x + 'a'", {"x": "\ud800"})


SOON_S = 4.0
"""CPU time: the limit of half a second, plus the work between two checks of the clock."""

WORDS = st.sampled_from(
    [
        "a",
        "a.b",
        "steps.x-y.output",
        "x",
        "1",
        "2.5",
        "'q'",
        '""',
        "null",
        "true",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        "{{",
        "}}",
        ",",
        ".",
        ":",
        "?",
        "|",
        "||",
        "&&",
        "!",
        "-",
        "+",
        "*",
        "/",
        "%",
        "==",
        "<",
        "in",
        "|",
        "map(",
        ".map(x,",
        ".filter(x,",
        ".all(x,",
        "has(",
        ".lower()",
        "|default(",
        "|split",
        "string(",
        "json(",
        "'unclosed",
        "\\",
        "\n",
        "//",
        "0x1F",
        "1e9",
        "é",
        "'",
        '"',
        "'''",
        "size(",
        "[0]",
        "['b']",
    ]
)


@settings(max_examples=300)
@given(
    st.lists(WORDS, max_size=12).map(" ".join)
    | st.lists(WORDS, max_size=12).map("".join)
    | st.text(max_size=40)
)
def test_garbage_raises_only_expression_errors(text: str):
    variables: dict[str, JsonValue] = {
        "a": {"b": [1, "two", {"b": None}]},
        "x": "text",
        "steps": {"x-y": {"output": 1.5}},
    }
    with contextlib.suppress(ExpressionError):
        check_expression(text)
    with contextlib.suppress(ExpressionError):
        evaluate(text, variables)
    with contextlib.suppress(ExpressionError):
        fill(f"{text} {{{{ {text} }}}}", variables)


NUMBERS: list[JsonValue] = list(range(1000))
RECORDS: list[JsonValue] = [{"id": number, "name": f"name {number}"} for number in range(20_000)]


@pytest.mark.parametrize(
    "text",
    [
        "n.map(a, n.map(b, n.map(c, a + b + c)))",
        "n.all(a, n.all(b, n.all(c, n.all(d, true))))",
        "n.filter(a, n.exists(b, n.exists(c, b + c < 0)) || true)",
        "[s].map(a, a + a + a + a)" + ".map(a, a + a + a + a)" * 13,
        "[[1, 1]].map(a, [a, a])" + ".map(a, [a, a])" * 15,
        "[1].map(a, " * 15 + "n.map(b, n)" + ")" * 15,
        "n.map(a, s.replace('a', s))",
        "n.map(a, records)",
        "n.all(a, records == records)",
        "[records].all(a, " + " && ".join(["a == a"] * 30) + ")",
        " + ".join(["s"] * 1300),
        "n.map(a, s.split('a').join('bb').length())",
        "n.all(a, s.matches('(a|aa|aaa)+[ab]{50}c') || true)",
        "records.map(r, r.name).join(s)",
    ],
)
def test_expensive_expression_is_stopped(text: str):
    started = time.thread_time()
    with contextlib.suppress(ExpressionError):
        evaluate(text, {"n": NUMBERS, "s": "a" * 200_000, "records": RECORDS})
    assert time.thread_time() - started < SOON_S


def test_stopped_expression_cannot_be_rescued_by_default():
    with pytest.raises(ExpressionError, match="exceeded its limits"):
        evaluate("n.all(a, n.all(b, true)) || true", {"n": NUMBERS})


def test_garbage_collection_does_not_count_as_work():
    bounds = Limits()
    with bounds.without_collector():
        _spend(2 * MAX_WORK_S, gc.collect)
        assert bounds.tick()
        _spend(2 * MAX_WORK_S, lambda: None)
        with pytest.raises(ExpressionError, match="exceeded its limits"):
            bounds.tick()
    assert not [one for one in gc.callbacks if "extend_deadline" in repr(one)]


def _spend(seconds: float, function: Callable[[], object]) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        function()


def test_large_list_can_be_processed():
    variables: dict[str, JsonValue] = {"records": RECORDS[:10_000]}
    found = evaluate("records.filter(r, r.id >= 9998).map(r, r.name)", variables)
    assert found == ["name 9998", "name 9999"]


def test_large_list_can_be_returned():
    some: JsonValue = RECORDS[:2500]
    assert evaluate("records.filter(r, r.id >= 0).map(r, r)", {"records": some}) == some


def test_failed_macro_does_not_affect_other_macros():
    inner = "n.map(y, 10 / (y - 2)) == [] || true"
    assert evaluate(f"n.map(x, ({inner}) ? x : 0)", {"n": [1, 2, 3]}) == [1, 2, 3]


def test_only_referenced_values_are_passed():
    huge: JsonValue = ["x" for _ in range(1_000_000)]
    variables: dict[str, JsonValue] = {"steps": {"a": {"output": {"huge": huge, "count": 2}}}}
    assert evaluate("steps.a.output.count + 1", variables) == 3
    with pytest.raises(ExpressionError, match=r"steps\.a\.output\.huge is too large for an expression"):
        evaluate("steps.a.output.huge.length()", variables)


def test_too_deeply_nested_data_is_rejected():
    value: JsonValue = 1
    for _ in range(500):
        value = [value]
    assert evaluate("x", {"x": value}) == value
    with pytest.raises(ExpressionError, match="too large for an expression"):
        evaluate("x == [1]", {"x": value})


@pytest.mark.parametrize(
    "text",
    [
        "(" * 33 + "1" + ")" * 33,
        "true ? 1 : " * 40 + "1",
        "[1]" + ".map(x, x)" * 17,
        "[1].map(x, " + "x + " * 64 + "x)",
        "1" + " + 1" * 1000,
    ],
)
def test_expressions_have_limits(text: str):
    with pytest.raises(ExpressionError, match=r"maximum|more than|at most"):
        check_expression(text)


@pytest.mark.parametrize(
    "text",
    ["-" * 3000 + "1", "!" * 3000 + "true", "'a'" + "|lower" * 600, "a" + "[0]" * 1000, "a" + ".b" * 1900],
)
def test_long_chains_are_supported(text: str):
    check_expression(text)
    with contextlib.suppress(ExpressionError):
        evaluate(text, {"a": 1})
