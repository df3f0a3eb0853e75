"""Whatever is written and whatever it is given, an expression ends soon, with a value or with an ExpressionError."""

import contextlib
import gc
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from forge.workflows.expressions import ExpressionError, check_expression, evaluate, fill
from forge.workflows.expressions.bounds import MAX_WORK_S, Bounds

SOON_S = 4.0
"""Of processor time: the bound is half a second, and what is done between two looks at the clock."""

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
def test_garbage_is_an_expression_error_and_nothing_else(text: str):
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
def test_no_expression_runs_away(text: str):
    began = time.thread_time()
    with contextlib.suppress(ExpressionError):
        evaluate(text, {"n": NUMBERS, "s": "a" * 200_000, "records": RECORDS})
    assert time.thread_time() - began < SOON_S


def test_work_that_was_stopped_stays_stopped_even_in_an_alternative():
    with pytest.raises(ExpressionError, match="too much work"):
        evaluate("n.all(a, n.all(b, true)) || true", {"n": NUMBERS})


def test_the_time_of_the_garbage_collector_is_not_that_of_the_expression():
    bounds = Bounds()
    with bounds.without_collector():
        _spend(2 * MAX_WORK_S, gc.collect)
        assert bounds.tick()
        _spend(2 * MAX_WORK_S, lambda: None)
        with pytest.raises(ExpressionError, match="too much work"):
            bounds.tick()
    assert not [one for one in gc.callbacks if "give_back" in repr(one)]


def _spend(seconds: float, doing: Callable[[], object]) -> None:
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        doing()


def test_a_list_of_thousands_is_nothing_special():
    variables: dict[str, JsonValue] = {"records": RECORDS[:10_000]}
    found = evaluate("records.filter(r, r.id >= 9998).map(r, r.name)", variables)
    assert found == ["name 9998", "name 9999"]


def test_thousands_of_items_may_come_out_as_well():
    some: JsonValue = RECORDS[:2500]
    assert evaluate("records.filter(r, r.id >= 0).map(r, r)", {"records": some}) == some


def test_a_list_that_came_to_nothing_leaves_nothing_in_another_one():
    inner = "n.map(y, 10 / (y - 2)) == [] || true"
    assert evaluate(f"n.map(x, ({inner}) ? x : 0)", {"n": [1, 2, 3]}) == [1, 2, 3]


def test_only_what_is_referred_to_is_handed_over():
    huge: JsonValue = ["x" for _ in range(1_000_000)]
    variables: dict[str, JsonValue] = {"steps": {"a": {"output": {"huge": huge, "count": 2}}}}
    assert evaluate("steps.a.output.count + 1", variables) == 3
    with pytest.raises(ExpressionError, match=r"steps\.a\.output\.huge is more than an expression takes"):
        evaluate("steps.a.output.huge.length()", variables)


def test_data_that_is_nested_without_end_is_refused():
    value: JsonValue = 1
    for _ in range(500):
        value = [value]
    assert evaluate("x", {"x": value}) == value
    with pytest.raises(ExpressionError, match="more than an expression takes"):
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
    with pytest.raises(ExpressionError, match=r"at most|times in all"):
        check_expression(text)


@pytest.mark.parametrize(
    "text",
    ["-" * 3000 + "1", "!" * 3000 + "true", "'a'" + "|lower" * 600, "a" + "[0]" * 1000, "a" + ".b" * 1900],
)
def test_long_chains_are_no_problem(text: str):
    check_expression(text)
    with contextlib.suppress(ExpressionError):
        evaluate(text, {"a": 1})
