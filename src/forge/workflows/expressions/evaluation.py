"""Evaluate expressions within fixed limits of time and size."""

import gc
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import lru_cache, wraps
from threading import get_ident
from typing import Any, cast

import cel
from pydantic import JsonValue

from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.functions import HIDDEN, OWN, Function
from forge.workflows.expressions.parser import Parsed, Path, Slot, Use, own_name, parse, spelled
from forge.workflows.expressions.values import as_doubles, as_json, is_truthy, kind_of, reach, whole_again

MAX_WEIGHT = 16_000_000
"""For the values used by an expression: 32 for each value, and one for each character."""
MAX_KEPT = 8_000_000
"""For the results of macro bodies."""
MAX_BODIES = 50_000
MAX_WORK_S = 0.5
"""CPU time."""
MAX_DEPTH = 100
VALUE_WEIGHT = 32
_WHOLE = 1 << 63


def weigh(value: object, most: int, name: str) -> int:
    """Return the weight of a value. Raises if it exceeds `most` or the value is not supported."""
    weight = 0
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        one, depth = waiting.pop()
        weight += VALUE_WEIGHT
        if isinstance(one, str):
            weight += len(one)
        elif isinstance(one, list | dict):
            inner = cast("list[object] | dict[str, object]", one)
            if isinstance(inner, dict):
                weight += sum(map(len, inner))
            waiting += [(item, depth + 1) for item in (inner.values() if isinstance(inner, dict) else inner)]
        elif isinstance(one, int) and not -_WHOLE <= one < _WHOLE:
            raise ExpressionError(
                f"{name} contains an integer of more than 64 bits.",
                hint="Such a number can be the only value of a placeholder, but not be used in an expression.",
            )
        if weight + VALUE_WEIGHT * len(waiting) > most or depth > MAX_DEPTH:
            raise ExpressionError(
                f"{name} is too large for an expression.",
                hint="Refer only to the part you need, or use a code step.",
            )
    return weight


@dataclass
class Bounds:
    """The limits of one evaluation.

    CEL has no endless loops, but nested macros come close: a hundred items, three levels deep, are a million bodies. So
    every macro body calls `tick`, and its results are weighed. Once a limit is exceeded, every call raises.
    """

    problem: ExpressionError | None = None
    bodies: int = 0
    kept: int = 0
    until: float = field(default_factory=lambda: time.thread_time() + MAX_WORK_S)
    _lists: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])

    @contextmanager
    def without_collector(self) -> Generator[None]:
        """Do not count garbage collection as work of the expression: a full collection of the server takes half a second."""
        here = get_ident()
        began = 0.0

        def give_back(phase: str, _info: dict[str, int]) -> None:
            nonlocal began
            if get_ident() != here:
                return
            now = time.thread_time()
            if phase == "start":
                began = now
            elif began:
                self.until += now - began

        gc.callbacks.append(give_back)
        try:
            yield
        finally:
            gc.callbacks.remove(give_back)

    def tick(self) -> bool:
        """Count a macro body or function call. Raises if a limit is exceeded."""
        self.bodies += 1
        if self.problem is None and (self.bodies > MAX_BODIES or time.thread_time() > self.until):
            self.problem = ExpressionError(
                "The expression exceeded its limits and was stopped.",
                hint=f"Bodies of macros such as map and filter may run {MAX_BODIES:,} times and {MAX_WORK_S:g} s in total. "
                "Use a code step for more.",
            )
        if self.problem is not None:
            raise self.problem
        return True

    def collect(self, number: int) -> int:
        """Start an empty result list for a macro."""
        self._lists[number] = []
        return number

    def put(self, number: int, value: Any) -> bool:
        """Append an existing value to a result list; it was weighed before."""
        self._lists[number].append(value)
        return True

    def keep(self, number: int, value: Any) -> bool:
        """Append a new value to a result list, weighing it."""
        try:
            self.kept += weigh(value, MAX_KEPT - self.kept, "What the expression makes")
        except ExpressionError as problem:
            self.problem = problem
            raise
        return self.put(number, value)

    def collected(self, number: int, _went: bool) -> list[Any]:
        return self._lists.pop(number)


REMEMBERED = 2000
"""Compiled expressions in the cache."""
SECRETS = "secrets"

Variables = Mapping[str, JsonValue]


def evaluate(text: str, variables: Variables) -> JsonValue:
    """Evaluate an expression; braces around it are removed. Raises ExpressionError."""
    return value_of(read(text), variables)


def is_true(text: str, variables: Variables) -> bool:
    return is_truthy(evaluate(text, variables))


@lru_cache(maxsize=REMEMBERED)
def read(text: str) -> "Ready":
    """Parse and compile an expression. Raises ExpressionError."""
    start, closed = _braces(text)
    parsed, end = parse(text, start, closed=closed)
    if closed and text[end + 2 :].strip():
        raise ExpressionError(
            "Unexpected text after the closing braces.",
            column=end + 3,
            hint="Write the whole expression without braces.",
        )
    for slot in parsed.slots:
        if slot.path[0] == SECRETS:
            raise ExpressionError(
                f"{spelled(slot.path)} cannot be part of an expression.",
                column=slot.column,
                hint="Use a secret alone in a placeholder, {{ secrets.NAME }}, in an http step.",
            )
    return Ready(text[start:end], parsed, start)


class Ready:
    """A compiled expression."""

    def __init__(self, text: str, parsed: Parsed, start: int) -> None:
        self.text = text
        self.parsed = parsed
        self.start = start
        """The offset of the expression in the text it was read from."""
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
    """The operation is not defined for values of these types."""


def _mix_numbers(ready: Ready, variables: Variables, error: _NotDefined) -> JsonValue:
    """Evaluate again with all numbers as doubles.

    JSON has one number type, but CEL has two that do not mix: `amount * 1.2` must work for 10 as well as for 10.5.
    """
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
    """Wrap a function to store its error, because the CEL engine does not pass exceptions through."""

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
                "The operation is not defined for values of these types.",
                hint="Convert with double(x) to mix the results of size() and int() with fractions, with string(x) to get "
                "a string; x | not tests whether a value is empty.",
            )
        case KeyError():
            return ExpressionError(f"The map has no key {error.args[0]!r}.")
        case IndexError():
            return ExpressionError("The list index is out of range.", hint="Items are counted from 0.")
        case ZeroDivisionError():
            return ExpressionError("Division by zero.")
        case OverflowError():
            return ExpressionError("A number is too large: integers have 64 bits.")
        case RuntimeError() if asked:
            return describe_missing(asked[-1], variables)
        case _:
            return ExpressionError(f"The expression cannot be evaluated: {' '.join(str(error).split())}")


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
            "Invalid expression.",
            column=column,
            hint="Check for invalid escapes such as \\q in strings, and for numbers that are too large.",
        ) from None


def _braces(text: str) -> tuple[int, bool]:
    """Return the start of the expression, and whether it is enclosed in braces."""
    stripped = text.lstrip()
    start = len(text) - len(stripped)
    return (start + 2, True) if stripped.startswith("{{") else (start, False)


def _as_it_is(value: Any) -> Any:
    return value


SHOWN = 12
"""The maximum number of names listed in a hint."""


def describe_missing(slot: Slot, variables: Mapping[str, JsonValue]) -> ExpressionError:
    path = slot.path
    length = next(size for size in range(1, len(path) + 1) if not reach(variables, list(path[:size]))[1])
    parent = reach(variables, list(path[: length - 1]))[0]
    message = f"{spelled(path)} does not exist: {_reason(path[:length], parent)}."
    return ExpressionError(message, column=slot.column, hint=_hint(path[:length], parent))


def _reason(path: Path, parent: object) -> str:
    *before, name = path
    if not before:
        return f"{name} is not defined"
    where = spelled(tuple(before))
    match parent:
        case dict():
            return f"{where} has no {name!r}"
        case list() if isinstance(name, int):
            return f"{where} has {len(cast('list[object]', parent))} items, counted from 0"
        case _:
            return f"{where} is {kind_of(parent)}"


def _hint(path: Path, parent: object) -> str | None:
    if not isinstance(parent, Mapping) or not parent:
        return None
    names = [str(name) for name in cast("Mapping[str, object]", parent)]
    close = get_close_matches(str(path[-1]), names, n=1)
    listed = ", ".join(names[:SHOWN]) + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")
    meant = f"Did you mean {close[0]}? " if close else ""
    return f"{meant}Available: {listed}. Use `| default(…)` for values that may be missing."
