"""Check the references in expressions and templates: whether the target exists and has ended by then."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property

from pydantic import JsonValue

from forge.workflows.definition.graph import Graph
from forge.workflows.definition.models import (
    ConditionalConfig,
    CronTrigger,
    Definition,
    HttpConfig,
    LoopConfig,
    ManualTrigger,
    Step,
)
from forge.workflows.definition.source import Fault, Path
from forge.workflows.expressions.errors import ExpressionError
from forge.workflows.expressions.templates import Reference, check_expression, check_template


@dataclass(frozen=True)
class _Location:
    scope: Graph
    loop: str | None
    """The loop whose body the scope is."""
    is_final: bool


@dataclass(frozen=True)
class Order:
    locations: dict[str, _Location]

    @classmethod
    def of(cls, graph: Graph) -> "Order":
        return cls(dict(_locations(graph, None, is_final=False)))

    def find_problem(self, used: str, user: str, *, is_repeated: bool) -> tuple[str, str | None] | None:
        """Return why `user` cannot use the output of `used`, or None if it can.

        `is_repeated`: the user is a loop condition, which is evaluated before each iteration.
        """
        if is_repeated and user in self._around(used):
            return None
        before, after = self._in_one_scope(used, user)
        if self.locations[before].scope is not self.locations[after].scope:
            if self.locations[after].is_final:
                return None
            return f"The step `{used}` runs last, in `finally`.", None
        if self._is_before(before, after):
            return None
        return _order_problem(used, user, before, after, is_later=self._is_before(after, before))

    def _is_before(self, one: str, other: str) -> bool:
        return bool(self._upstream[other] & self._bits[one])

    @cached_property
    def _bits(self) -> dict[str, int]:
        return {step_id: 1 << index for index, step_id in enumerate(self.locations)}

    @cached_property
    def _upstream(self) -> dict[str, int]:
        """All steps before each step in its scope, as bit sets. Plain sets would need memory quadratic in the steps."""
        found: dict[str, int] = {}
        pending = list(self.locations)
        while pending:
            step_id = pending.pop()
            if step_id in found:
                continue
            sources = self.locations[step_id].scope.nodes[step_id].sources
            if missing := [source for source in sources if source not in found]:
                pending += [step_id, *missing]
                continue
            found[step_id] = 0
            for source in sources:
                found[step_id] |= found[source] | self._bits[source]
        return found

    def _around(self, step_id: str) -> list[str]:
        """Return the step and the loops around it, innermost first."""
        found = [step_id]
        while (loop := self.locations[found[-1]].loop) is not None:
            found.append(loop)
        return found

    def _in_one_scope(self, used: str, user: str) -> tuple[str, str]:
        """Return the two steps, or the loops around them that are in the same scope, or else the outermost loops."""
        ours, theirs = self._around(used), self._around(user)
        for after in theirs:
            for before in ours:
                if self.locations[before].scope is self.locations[after].scope:
                    return before, after
        return ours[-1], theirs[-1]


def _order_problem(
    used: str, user: str, before: str, after: str, *, is_later: bool
) -> tuple[str, str | None]:
    if used == user:
        return "A step cannot use its own output.", None
    if before == after:
        return (
            f"The output of `{used}` is available outside the loop `{after}` only after it has ended.",
            None,
        )
    message = f"The step `{used}` may not have ended when `{user}` starts."
    if is_later:
        return message, f"`{before}` depends on `{after}`, so it runs later."
    where = "its `depends_on`" if after == user else f"the `depends_on` of `{after}`"
    return message, f"Add `{before}` to {where}."


def _locations(graph: Graph, loop: str | None, *, is_final: bool) -> Iterator[tuple[str, _Location]]:
    for step_id in graph.nodes:
        yield step_id, _Location(graph, loop, is_final)
    for inner, body in graph.bodies.items():
        yield from _locations(body, inner, is_final=is_final)
    if graph.final:
        yield from _locations(graph.final, None, is_final=True)


_STEP_FIELDS = ("output", "status", "error", "iterations")
_WORKFLOW_FIELDS = ("id", "name", "run_id", "trigger", "status", "error")
_LOOP_FIELDS = ("index", "item")
_TRIGGER_FIELDS = ("type", "source", "fired_at", "workflow_id")
_ALIASES = {"input": "inputs", "variables": "inputs", "context": "steps", "step": "steps", "event": "trigger"}


@dataclass(frozen=True)
class Text:
    """An expression or template, and what it may refer to."""

    path: Path
    text: str
    is_expression: bool
    step: Step | None = None
    loop: Step | None = None
    """The loop that `loop.index` refers to."""
    may_use_secrets: bool = False
    is_repeated: bool = False
    """A loop condition: evaluated before each iteration, so it may use the outputs of the body."""


def check_references(definition: Definition, graph: Graph | None) -> list[Fault]:
    """Check all references. Without a graph, the order of steps is not checked."""
    checker = _Checker(definition, Order.of(graph) if graph else None)
    faults = [fault for text in _texts(definition) for fault in checker.check(text)]
    faults += _check_filters(definition)
    unused = (
        [] if checker.uses_all_inputs else [name for name in definition.inputs if name not in checker.used]
    )
    return faults + [
        Fault(("inputs", name), f"The input `{name}` is not used.", is_warning=True, is_key=True)
        for name in unused
    ]


def secrets_named(definition: Definition) -> Iterator[tuple[Path, str]]:
    """Yield the secrets used in templates, with their paths. Invalid templates are skipped."""
    for text in _texts(definition):
        if text.may_use_secrets:
            with suppress(ExpressionError):  # reported by `check_references`
                for reference in check_template(text.text):
                    if reference.path[0] == "secrets" and len(reference.path) > 1:
                        yield text.path, reference.path[1]


def _texts(definition: Definition) -> Iterator[Text]:
    loops = {
        inner: step
        for step in definition.steps
        if isinstance(step.config, LoopConfig)
        for inner in step.config.body_steps
    }
    for index, step in enumerate(definition.steps):
        here: Path = ("steps", index)
        loop = loops.get(step.id)
        if step.condition is not None:
            yield Text((*here, "condition"), step.condition, True, step, loop)
        if isinstance(step.config, ConditionalConfig):
            yield Text((*here, "config", "condition"), step.config.condition, True, step, loop)
        if isinstance(step.config, LoopConfig) and step.config.condition is not None:
            path = (*here, "config", "condition")
            yield Text(path, step.config.condition, True, step, step, is_repeated=True)
        is_http = isinstance(step.config, HttpConfig)
        for name in step.config.templated:
            for path, text in _strings(getattr(step.config, name), (*here, "config", name)):
                yield Text(path, text, False, step, loop, may_use_secrets=is_http)
    for path, text in _strings(definition.outputs, ("outputs",)):
        yield Text(path, text, False)


def _strings(value: JsonValue | Mapping[str, JsonValue], path: Path) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        if "{{" in value:
            yield path, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(inner, (*path, key))
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _strings(inner, (*path, index))


@dataclass
class _Checker:
    definition: Definition
    order: Order | None
    used: set[str] = field(default_factory=set[str])
    uses_all_inputs: bool = False
    ids: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.ids = frozenset(step.id for step in self.definition.steps)

    def check(self, text: Text) -> Iterator[Fault]:
        try:
            references = (check_expression if text.is_expression else check_template)(text.text)
        except ExpressionError as error:
            yield Fault(text.path, error.message, error.hint, within=(text.text, error.column - 1))
            return
        for reference in references:
            if problem := self._problem(text, reference):
                message, hint = problem
                yield Fault(text.path, message, hint, within=(text.text, reference.column - 1))

    def _problem(self, text: Text, reference: Reference) -> tuple[str, str | None] | None:
        root, *rest = reference.path
        match root:
            case "steps":
                return self._step_problem(text, rest)
            case "inputs":
                return self._input_problem(rest)
            case "trigger":
                self.used.update(rest[:1])
                return None
            case "workflow":
                return _field_problem("workflow", rest, _WORKFLOW_FIELDS)
            case "loop":
                return _loop_problem(text, rest)
            case "secrets":
                if text.may_use_secrets:
                    return None
                return (
                    "A secret cannot be used here.",
                    "Secrets are for the url, headers and body of `http` steps.",
                )
            case _:
                return _unknown_name(root, ("steps", "inputs", "trigger", "workflow"))

    def _step_problem(self, text: Text, path: list[str]) -> tuple[str, str | None] | None:
        if not path:
            return None
        name, *rest = path
        if name not in self.ids:
            close = get_close_matches(name, self.ids, n=1)
            hint = f"Did you mean `steps.{close[0]}`?" if close else "Write the id of a step."
            return f"There is no step `{name}`.", hint
        if problem := _field_problem(f"steps.{name}", rest, _STEP_FIELDS):
            return problem
        if text.step is None or self.order is None:
            return None
        return self.order.find_problem(name, text.step.id, is_repeated=text.is_repeated)

    def _input_problem(self, path: list[str]) -> tuple[str, str | None] | None:
        if not path:
            self.uses_all_inputs = True
            return None
        name = path[0]
        self.used.add(name)
        if name in self.definition.inputs:
            return None
        close = get_close_matches(name, self.definition.inputs, n=1)
        hint = f"Did you mean `inputs.{close[0]}`?" if close else "Declare it under `inputs`."
        return f"The workflow has no input `{name}`.", hint


def _field_problem(owner: str, path: list[str], known: Iterable[str]) -> tuple[str, str | None] | None:
    if not path or path[0] in known:
        return None
    listed = ", ".join(f"`{owner}.{name}`" for name in known)
    return f"There is no `{owner}.{path[0]}`.", f"Available: {listed}."


def _loop_problem(text: Text, path: list[str]) -> tuple[str, str | None] | None:
    if text.loop is None:
        return (
            "`loop` is only available in the body of a loop.",
            "Add this step to the `body_steps` of a loop.",
        )
    is_while = isinstance(text.loop.config, LoopConfig) and text.loop.config.condition is not None
    if path[:1] == ["item"] and is_while:
        return f"The loop `{text.loop.id}` has no items.", "It repeats while its condition is true."
    return _field_problem("loop", path, _LOOP_FIELDS)


def _unknown_name(root: str, known: tuple[str, ...]) -> tuple[str, str | None]:
    meant = _ALIASES.get(root) or next(iter(get_close_matches(root, known, n=1)), None)
    hint = (
        f"Did you mean `{meant}`?"
        if meant in known
        else f"Available: {', '.join(f'`{one}`' for one in known)}."
    )
    return f"`{root}` is not defined here.", hint


def _check_filters(definition: Definition) -> Iterator[Fault]:
    """Check the conditions of triggers, which are evaluated before there is a run."""
    for index, trigger in enumerate(definition.triggers):
        if isinstance(trigger, (ManualTrigger, CronTrigger)) or trigger.when is None:
            continue
        path: Path = ("triggers", index, "when")
        try:
            references = check_expression(trigger.when)
        except ExpressionError as error:
            yield Fault(path, error.message, error.hint, within=(trigger.when, error.column - 1))
            continue
        for reference in references:
            root, *rest = reference.path
            problem = _unknown_name(root, ("event", "trigger")) if root not in ("event", "trigger") else None
            if root == "trigger":
                problem = _field_problem("trigger", rest, _TRIGGER_FIELDS)
            if problem:
                yield Fault(path, *problem, within=(trigger.when, reference.column - 1))
