"""What expressions and templates refer to: is it there, and is it done by then?"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches

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
from forge.workflows.definition.order import Order
from forge.workflows.definition.source import Fault, Path
from forge.workflows.expressions import ExpressionError, Reference, check_expression, check_template

_OF_STEPS = ("output", "status", "error", "iterations")
_OF_WORKFLOWS = ("id", "name", "run_id", "trigger", "status", "error")
_OF_LOOPS = ("index", "item")
_OF_FIRINGS = ("type", "source", "fired_at", "workflow_id")
_FORMER = {"input": "inputs", "variables": "inputs", "context": "steps", "step": "steps", "event": "trigger"}


@dataclass(frozen=True)
class Text:
    """A text that refers to something, and what can be referred to there."""

    path: Path
    text: str
    is_expression: bool
    step: Step | None = None
    loop: Step | None = None
    """Whose `loop.index` it would be."""
    may_use_secrets: bool = False
    is_repeated: bool = False
    """Evaluated before each iteration: what the body gave is there."""


def check_references(definition: Definition, graph: Graph | None) -> list[Fault]:
    """Without a graph, only what does not depend on the order of steps."""
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
    """What templates take from the vault, each with its place; of texts that can be read."""
    for text in _texts(definition):
        if text.may_use_secrets:
            with suppress(ExpressionError):  # told by `check_references`
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
            if found := self._wrong(text, reference):
                message, hint = found
                yield Fault(text.path, message, hint, within=(text.text, reference.column - 1))

    def _wrong(self, text: Text, reference: Reference) -> tuple[str, str | None] | None:
        root, *rest = reference.path
        match root:
            case "steps":
                return self._wrong_step(text, rest)
            case "inputs":
                return self._wrong_input(rest)
            case "trigger":
                self.used.update(rest[:1])
                return None
            case "workflow":
                return _wrong_field("workflow", rest, _OF_WORKFLOWS)
            case "loop":
                return _wrong_loop(text, rest)
            case "secrets":
                if text.may_use_secrets:
                    return None
                return (
                    "A secret cannot be used here.",
                    "Secrets are for the url, headers and body of `http` steps.",
                )
            case _:
                return _stranger(root, ("steps", "inputs", "trigger", "workflow"))

    def _wrong_step(self, text: Text, path: list[str]) -> tuple[str, str | None] | None:
        if not path:
            return None
        name, *rest = path
        if name not in self.ids:
            close = get_close_matches(name, self.ids, n=1)
            hint = f"Did you mean `steps.{close[0]}`?" if close else "Write the id of a step."
            return f"There is no step `{name}`.", hint
        if wrong := _wrong_field(f"steps.{name}", rest, _OF_STEPS):
            return wrong
        if text.step is None or self.order is None:
            return None
        return self.order.objection(name, text.step.id, is_repeated=text.is_repeated)

    def _wrong_input(self, path: list[str]) -> tuple[str, str | None] | None:
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


def _wrong_field(owner: str, path: list[str], known: Iterable[str]) -> tuple[str, str | None] | None:
    if not path or path[0] in known:
        return None
    listed = ", ".join(f"`{owner}.{name}`" for name in known)
    return f"There is no `{owner}.{path[0]}`.", f"There can be {listed}."


def _wrong_loop(text: Text, path: list[str]) -> tuple[str, str | None] | None:
    if text.loop is None:
        return "`loop` is only known in the body of a loop.", "Name this step in the `body_steps` of one."
    is_while = isinstance(text.loop.config, LoopConfig) and text.loop.config.condition is not None
    if path[:1] == ["item"] and is_while:
        return f"The loop `{text.loop.id}` has no items.", "It goes on while its condition is true."
    return _wrong_field("loop", path, _OF_LOOPS)


def _stranger(root: str, known: tuple[str, ...]) -> tuple[str, str | None]:
    meant = _FORMER.get(root) or next(iter(get_close_matches(root, known, n=1)), None)
    hint = (
        f"Did you mean `{meant}`?"
        if meant in known
        else f"There is {', '.join(f'`{one}`' for one in known)}."
    )
    return f"Nothing is called `{root}` here.", hint


def _check_filters(definition: Definition) -> Iterator[Fault]:
    """`when` knows what came, and nothing of a run: there is none yet."""
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
            wrong = _stranger(root, ("event", "trigger")) if root not in ("event", "trigger") else None
            if root == "trigger":
                wrong = _wrong_field("trigger", rest, _OF_FIRINGS)
            if wrong:
                yield Fault(path, *wrong, within=(trigger.when, reference.column - 1))
