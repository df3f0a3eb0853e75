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
from forge.workflows.expressions.parser import Parsed, Path, Slot, Use, format_path, own_name, parse
from forge.workflows.expressions.values import (
    as_doubles,
    as_json,
    is_truthy,
    kind_of,
    reach,
    restore_integers,
)

MAX_WEIGHT = 16_000_000
"""Limit of the values used by an expression: 32 for each value, and one for each character."""
MAX_KEPT = 8_000_000
"""Limit of the weight of the results of macro bodies."""
MAX_BODIES = 50_000
MAX_WORK_S = 0.5
"""CPU time."""
MAX_DEPTH = 100
VALUE_WEIGHT = 32
_WHOLE = 1 << 63


def weigh(value: object, limit: int, name: str) -> int:
    """Return the weight of a value. Raises if it exceeds `limit` or the value is not supported."""
    weight = 0
    pending: list[tuple[object, int]] = [(value, 0)]
    while pending:
        one, depth = pending.pop()
        weight += VALUE_WEIGHT
        if isinstance(one, str):
            weight += len(one)
        elif isinstance(one, list | dict):
            inner = cast("list[object] | dict[str, object]", one)
            if isinstance(inner, dict):
                weight += sum(map(len, inner))
            pending += [(item, depth + 1) for item in (inner.values() if isinstance(inner, dict) else inner)]
        elif isinstance(one, int) and not -_WHOLE <= one < _WHOLE:
            raise ExpressionError(
                f"{name} contains an integer of more than 64 bits.",
                hint="Such a number can be the only value of a placeholder, but not be used in an expression.",
            )
        if weight + VALUE_WEIGHT * len(pending) > limit or depth > MAX_DEPTH:
            raise ExpressionError(
                f"{name} is too large for an expression.",
                hint="Refer only to the part you need, or use a code step.",
            )
    return weight


@dataclass
class Limits:
    """The limits of one evaluation.

    CEL has no endless loops, but nested macros come close: a hundred items, three levels deep, are a million bodies. So
    every macro body calls `tick`, and its results are weighed. Once a limit is exceeded, every call raises.
    """

    problem: ExpressionError | None = None
    bodies: int = 0
    kept: int = 0
    deadline: float = field(default_factory=lambda: time.thread_time() + MAX_WORK_S)
    _lists: dict[int, list[Any]] = field(default_factory=dict[int, list[Any]])

    @contextmanager
    def without_collector(self) -> Generator[None]:
        """Do not count garbage collection as work of the expression: a full collection of the server takes half a second."""
        thread_id = get_ident()
        began = 0.0

        def extend_deadline(phase: str, _info: dict[str, int]) -> None:
            nonlocal began
            if get_ident() != thread_id:
                return
            now = time.thread_time()
            if phase == "start":
                began = now
            elif began:
                self.deadline += now - began

        gc.callbacks.append(extend_deadline)
        try:
            yield
        finally:
            gc.callbacks.remove(extend_deadline)

    def tick(self) -> bool:
        """Count a macro body or function call. Raises if a limit is exceeded."""
        self.bodies += 1
        if self.problem is None and (self.bodies > MAX_BODIES or time.thread_time() > self.deadline):
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
            self.kept += weigh(value, MAX_KEPT - self.kept, "An intermediate result")
        except ExpressionError as problem:
            self.problem = problem
            raise
        return self.put(number, value)

    def collected(self, number: int, _finished: bool) -> list[Any]:
        return self._lists.pop(number)


MAX_CACHED = 2000
"""Compiled expressions in the cache."""
SECRETS = "secrets"

Variables = Mapping[str, JsonValue]


def evaluate(text: str, variables: Variables) -> JsonValue:
    """Evaluate an expression; braces around it are removed. Raises ExpressionError."""
    return value_of(read(text), variables)


def is_true(text: str, variables: Variables) -> bool:
    return is_truthy(evaluate(text, variables))


@lru_cache(maxsize=MAX_CACHED)
def read(text: str) -> "Compiled":
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
                f"{format_path(slot.path)} cannot be part of an expression.",
                column=slot.column,
                hint="Use a secret alone in a placeholder, {{ secrets.NAME }}, in an http step.",
            )
    return Compiled(text[start:end], parsed, start)


class Compiled:
    """A compiled expression."""

    def __init__(self, text: str, parsed: Parsed, start: int) -> None:
        self.text = text
        self.parsed = parsed
        self.start = start
        """The offset of the expression in the text it was read from."""
        self.program = _compile(parsed, start + 1)

    def with_doubles(self) -> "Compiled":
        return _with_doubles(self.text)


@lru_cache(maxsize=MAX_CACHED)
def _with_doubles(text: str) -> Compiled:
    return Compiled(text, parse(text, doubles=True)[0], 0)


def value_of(compiled: Compiled, variables: Variables) -> JsonValue:
    if only := compiled.parsed.only:
        return cast("JsonValue", _look_up(only, variables))
    try:
        return as_json(_run(compiled, variables, _unchanged))
    except _NotDefined as error:
        return _mix_numbers(compiled, variables, error)


class _NotDefined(ExpressionError):
    """The operation is not defined for values of these types."""


def _mix_numbers(compiled: Compiled, variables: Variables, error: _NotDefined) -> JsonValue:
    """Evaluate again with all numbers as doubles.

    JSON has one number type, but CEL has two that do not mix: `amount * 1.2` must work for 10 as well as for 10.5.
    """
    try:
        return restore_integers(as_json(_run(compiled.with_doubles(), variables, as_doubles)))
    except ExpressionError:
        raise error from None


def _run(compiled: Compiled, variables: Variables, convert: Callable[[Any], Any]) -> object:
    missing: list[Slot] = []
    values = _values(compiled.parsed, variables, convert, missing)
    looked_up: list[Slot] = []
    limits = Limits()
    try:
        with limits.without_collector():
            context = cel.Context(values, _functions(compiled.parsed, limits))
            if missing:
                context.set_variable_resolver(_record_lookups(missing, looked_up))
            result = compiled.program.execute(context)
    except (ArithmeticError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise limits.problem or _explain(error, looked_up, variables) from None
    if limits.problem:
        raise limits.problem
    return result


def _values(
    parsed: Parsed, variables: Variables, convert: Callable[[Any], Any], missing: list[Slot]
) -> dict[str, Any]:
    values: dict[str, Any] = {}
    left = MAX_WEIGHT
    for slot in parsed.slots:
        value, exists = reach(variables, list(slot.path))
        match slot.use:
            case Use.EXISTS:
                values[slot.name] = exists
                continue
            case Use.RANGE if isinstance(value, dict):
                value = list(cast("dict[str, object]", value))
            case Use.VALUE | Use.RANGE if not exists:
                missing.append(slot)
                continue
            case _:
                pass
        left -= weigh(value, left // slot.count, format_path(slot.path)) * slot.count
        values[slot.name] = convert(value)
    return values


def _record_lookups(missing: list[Slot], looked_up: list[Slot]) -> Callable[[str], None]:
    by_name = {slot.name: slot for slot in missing}

    def note(name: str) -> None:
        if name in by_name:
            looked_up.append(by_name[name])

    return note


def _functions(parsed: Parsed, limits: Limits) -> dict[str, Function]:
    own: dict[str, Function] = {**OWN, **HIDDEN}
    found: dict[str, Function] = {
        "tick": limits.tick,
        "collect": limits.collect,
        "put": limits.put,
        "keep": limits.keep,
        "collected": limits.collected,
    }
    return {
        own_name(name): found[name] if name in found else _with_limits(own[name], limits)
        for name in parsed.functions
    }


def _with_limits(function: Function, limits: Limits) -> Function:
    """Wrap a function to store its error, because the CEL engine does not pass exceptions through."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        limits.tick()
        try:
            return function(*arguments)
        except ExpressionError as problem:
            limits.problem = problem
            raise

    return call


def _explain(error: Exception, looked_up: list[Slot], variables: Variables) -> ExpressionError:
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
        case RuntimeError() if looked_up:
            return describe_missing(looked_up[-1], variables)
        case _:
            return ExpressionError(f"The expression cannot be evaluated: {' '.join(str(error).split())}")


def _look_up(slot: Slot, variables: Variables) -> object:
    value, exists = reach(variables, list(slot.path))
    if not exists:
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


def _unchanged(value: Any) -> Any:
    return value


MAX_NAMES = 12
"""The maximum number of names listed in a hint."""


def describe_missing(slot: Slot, variables: Mapping[str, JsonValue]) -> ExpressionError:
    path = slot.path
    length = next(size for size in range(1, len(path) + 1) if not reach(variables, list(path[:size]))[1])
    parent = reach(variables, list(path[: length - 1]))[0]
    message = f"{format_path(path)} does not exist: {_reason(path[:length], parent)}."
    return ExpressionError(message, column=slot.column, hint=_hint(path[:length], parent))


def _reason(path: Path, parent: object) -> str:
    *before, name = path
    if not before:
        return f"{name} is not defined"
    where = format_path(tuple(before))
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
    listed = ", ".join(names[:MAX_NAMES]) + (
        f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    )
    meant = f"Did you mean {close[0]}? " if close else ""
    return f"{meant}Available: {listed}. Use `| default(…)` for values that may be missing."
