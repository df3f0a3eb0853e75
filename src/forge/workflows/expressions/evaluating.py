"""Works out what an expression comes to, within bounds of time and size that its author cannot move."""

from collections.abc import Callable, Mapping
from functools import lru_cache, wraps
from typing import Any, cast

import cel
from pydantic import JsonValue

from forge.workflows.expressions.bounds import MAX_WEIGHT, Bounds, weigh
from forge.workflows.expressions.functions import HIDDEN, OWN, Function, is_truthy, reach
from forge.workflows.expressions.missing import describe_missing
from forge.workflows.expressions.parsing import own_name, parse
from forge.workflows.expressions.problem import ExpressionError
from forge.workflows.expressions.results import as_doubles, as_json, whole_again
from forge.workflows.expressions.slots import Parsed, Slot, Use, spelled

REMEMBERED = 2000
"""Expressions that are kept ready."""
SECRETS = "secrets"

Variables = Mapping[str, JsonValue]


def evaluate(text: str, variables: Variables) -> JsonValue:
    """Raises ExpressionError. Braces around the whole are taken off."""
    return value_of(read(text), variables)


def is_true(text: str, variables: Variables) -> bool:
    return is_truthy(evaluate(text, variables))


@lru_cache(maxsize=REMEMBERED)
def read(text: str) -> "Ready":
    """Raises ExpressionError if it is no expression."""
    start, closed = _braces(text)
    parsed, end = parse(text, start, closed=closed)
    if closed and text[end + 2 :].strip():
        raise ExpressionError(
            "Something follows the closing braces.",
            column=end + 3,
            hint="Write the whole expression without braces.",
        )
    for slot in parsed.slots:
        if slot.path[0] == SECRETS:
            raise ExpressionError(
                f"{spelled(slot.path)} cannot be part of an expression.",
                column=slot.column,
                hint="A secret stands alone in a placeholder, {{ secrets.NAME }}, of a step that takes secrets.",
            )
    return Ready(text[start:end], parsed, start)


class Ready:
    """An expression that was read."""

    def __init__(self, text: str, parsed: Parsed, start: int) -> None:
        self.text = text
        self.parsed = parsed
        self.start = start
        """Where it starts in what it was read from."""
        self.program = _compile(parsed, start + 1)

    def with_doubles(self) -> "Ready":
        return _with_doubles(self.text)


@lru_cache(maxsize=REMEMBERED)
def _with_doubles(text: str) -> Ready:
    return Ready(text, parse(text, doubles=True)[0], 0)


def value_of(ready: Ready, variables: Variables) -> JsonValue:
    if only := ready.parsed.only:
        return cast("JsonValue", _look_up(only, variables))
    try:
        return as_json(_run(ready, variables, _as_it_is))
    except _NotDefined as error:
        return _mix_numbers(ready, variables, error)


class _NotDefined(ExpressionError):
    """The operation does not exist for values of these types."""


def _mix_numbers(ready: Ready, variables: Variables, error: _NotDefined) -> JsonValue:
    """JSON has one kind of number, CEL two that do not mix: `amount * 1.2` has to work for 10 as it does for 10.5."""
    try:
        return whole_again(as_json(_run(ready.with_doubles(), variables, as_doubles)))
    except ExpressionError:
        raise error from None


def _run(ready: Ready, variables: Variables, handed_over: Callable[[Any], Any]) -> object:
    missing: list[Slot] = []
    values = _values(ready.parsed, variables, handed_over, missing)
    asked: list[Slot] = []
    bounds = Bounds()
    try:
        with bounds.without_collector():
            context = cel.Context(values, _functions(ready.parsed, bounds))
            if missing:
                context.set_variable_resolver(_note_asked(missing, asked))
            result = ready.program.execute(context)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise bounds.problem or _explain(error, asked, variables) from None
    if bounds.problem:
        raise bounds.problem
    return result


def _values(
    parsed: Parsed, variables: Variables, handed_over: Callable[[Any], Any], missing: list[Slot]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    left = MAX_WEIGHT
    for slot in parsed.slots:
        value, is_there = reach(variables, list(slot.path))
        match slot.use:
            case Use.IS_THERE:
                values[slot.name] = is_there
                continue
            case Use.RANGE if isinstance(value, dict):
                value = list(cast("dict[str, object]", value))
            case Use.VALUE | Use.RANGE if not is_there:
                missing.append(slot)
                continue
            case _:
                pass
        left -= weigh(value, left // slot.count, spelled(slot.path)) * slot.count
        values[slot.name] = handed_over(value)
    return values


def _note_asked(missing: list[Slot], asked: list[Slot]) -> Callable[[str], None]:
    by_name = {slot.name: slot for slot in missing}

    def note(name: str) -> None:
        if name in by_name:
            asked.append(by_name[name])

    return note


def _functions(parsed: Parsed, bounds: Bounds) -> dict[str, Function]:
    own: dict[str, Function] = {**OWN, **HIDDEN}
    found: dict[str, Function] = {
        "tick": bounds.tick,
        "collect": bounds.collect,
        "put": bounds.put,
        "keep": bounds.keep,
        "collected": bounds.collected,
    }
    return {
        own_name(name): found[name] if name in found else _watched(own[name], bounds)
        for name in parsed.functions
    }


def _watched(function: Function, bounds: Bounds) -> Function:
    """What it raises is lost on its way through the engine, so it is noted."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        bounds.tick()
        try:
            return function(*arguments)
        except ExpressionError as problem:
            bounds.problem = problem
            raise

    return call


def _explain(error: Exception, asked: list[Slot], variables: Variables) -> ExpressionError:
    match error:
        case TypeError():
            return _NotDefined(
                "The operation does not exist for values of these types.",
                hint="Whole numbers and fractions do not mix with what size() and int() give: double(x) converts. "
                "string(x) makes a text, and x | not asks whether something is empty.",
            )
        case KeyError():
            return ExpressionError(f"There is no {error.args[0]!r} in the map that is looked into.")
        case IndexError():
            return ExpressionError(
                "The list that is looked into has no item at this place.", hint="Items are counted from 0."
            )
        case ZeroDivisionError():
            return ExpressionError("The expression divides by zero.")
        case OverflowError():
            return ExpressionError("A number is too large: whole numbers have 64 bits.")
        case RuntimeError() if asked:
            return describe_missing(asked[-1], variables)
        case _:
            return ExpressionError(f"The expression cannot be worked out: {' '.join(str(error).split())}")


def _look_up(slot: Slot, variables: Variables) -> object:
    value, is_there = reach(variables, list(slot.path))
    if not is_there:
        raise describe_missing(slot, variables)
    return value


def _compile(parsed: Parsed, column: int) -> cel.Program:
    try:
        return cel.compile(parsed.source)
    except (ValueError, RuntimeError):
        raise ExpressionError(
            "This cannot be read as an expression.",
            column=column,
            hint="Look for escapes such as \\q in a text, and for numbers that are too large.",
        ) from None


def _braces(text: str) -> tuple[int, bool]:
    """Where the expression starts, and whether braces end it."""
    stripped = text.lstrip()
    start = len(text) - len(stripped)
    return (start + 2, True) if stripped.startswith("{{") else (start, False)


def _as_it_is(value: Any) -> Any:
    return value
