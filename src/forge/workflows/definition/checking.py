"""What is wrong with a definition that has the right form: ids, the shape of its graph, what depends on what is said."""

from collections.abc import Iterator
from datetime import datetime
from difflib import get_close_matches

from pydantic import JsonValue

from forge.errors import Invalid
from forge.workflows.definition.graph import Graph, GraphError
from forge.workflows.definition.models import (
    AgentConfig,
    ApprovalConfig,
    ConditionalConfig,
    Definition,
    Goto,
    HttpConfig,
    Input,
    InputType,
    LoopConfig,
    MessageConfig,
    Step,
    SubWorkflowConfig,
    WaitConfig,
)
from forge.workflows.definition.output_schema import OutputSchema
from forge.workflows.definition.references import check_references
from forge.workflows.definition.source import Fault, Path
from forge.workflows.definition.triggers import check_triggers

MAX_LOOPS = 10
"""In each other."""

RESERVED = frozenset({"new", "read", "runs", "schema", "templates"})

_KINDS: dict[InputType, tuple[type, ...]] = {
    InputType.STRING: (str,),
    InputType.NUMBER: (int, float),
    InputType.INTEGER: (int,),
    InputType.BOOLEAN: (bool,),
    InputType.ARRAY: (list,),
    InputType.OBJECT: (dict,),
}


def check(definition: Definition) -> list[Fault]:
    """All of it, warnings among it."""
    faults = [*_duplicates(definition), *_unknown_steps(definition), *_too_deep(definition)]
    if definition.name in RESERVED:
        message = f"A workflow cannot be called {definition.name}: that is a part of Forge's own addresses."
        faults.append(Fault(("name",), message))
    graph: Graph | None = None
    if not faults:
        try:
            graph = Graph.of(definition.steps, definition.finally_steps)
        except GraphError as error:
            faults.append(_misfit(definition, error))
    for index, step in enumerate(definition.steps):
        faults += _check_config(("steps", index, "config"), step, definition)
    for name, given in definition.inputs.items():
        faults += _check_input(("inputs", name), given)
    if definition.concurrency is None and "concurrency_policy" in definition.model_fields_set:
        message = "`concurrency_policy` says nothing without `concurrency`."
        faults.append(Fault(("concurrency_policy",), message, is_key=True, is_warning=True))
    return [*faults, *check_triggers(definition), *check_references(definition, graph)]


def _duplicates(definition: Definition) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, step in enumerate(definition.steps):
        if step.id in seen:
            yield Fault(
                ("steps", index, "id"),
                f"There is a step `{step.id}` already.",
                "Give each step an id of its own.",
            )
        seen.add(step.id)


def _unknown_steps(definition: Definition) -> Iterator[Fault]:
    known = [step.id for step in definition.steps]
    there = set(known)
    for path, name in _named(definition):
        if name not in there:
            close = get_close_matches(name, known, n=1)
            hint = f"Did you mean `{close[0]}`?" if close else "Write the id of a step."
            yield Fault(path, f"There is no step `{name}`.", hint)


def _named(definition: Definition) -> Iterator[tuple[Path, str]]:
    """Every place that names a step."""
    for index, step in enumerate(definition.steps):
        here: Path = ("steps", index)
        lists = {"depends_on": step.depends_on}
        inner: dict[str, list[str]] = {}
        match step.config:
            case ConditionalConfig(then_steps=chosen, else_steps=others):
                inner = {"then_steps": chosen, "else_steps": others}
            case LoopConfig(body_steps=body):
                inner = {"body_steps": body}
            case ApprovalConfig(rejected_steps=rejected):
                inner = {"rejected_steps": rejected}
            case _:
                pass
        yield from _listed(here, lists)
        yield from _listed((*here, "config"), inner)
        if isinstance(step.on_error, Goto):
            yield (*here, "on_error", "goto"), step.on_error.goto
    yield from _listed((), {"finally": definition.finally_steps})


def _listed(here: Path, lists: dict[str, list[str]]) -> Iterator[tuple[Path, str]]:
    for key, names in lists.items():
        for at, name in enumerate(names):
            yield (*here, key, at), name


def _too_deep(definition: Definition) -> Iterator[Fault]:
    loops = [
        (index, step, step.config)
        for index, step in enumerate(definition.steps)
        if isinstance(step.config, LoopConfig)
    ]
    around = {inner: step.id for _, step, loop in loops for inner in loop.body_steps}
    for index, step, _ in loops:
        depth, outer = 1, around.get(step.id)
        while outer is not None and depth <= MAX_LOOPS:
            depth, outer = depth + 1, around.get(outer)
        if depth > MAX_LOOPS and outer != step.id:
            message = f"Loops are in each other more than {MAX_LOOPS} deep here."
            yield Fault(("steps", index), message, "Move the inner ones into a workflow of their own.")
            return


def _misfit(definition: Definition, error: GraphError) -> Fault:
    index = next(index for index, step in enumerate(definition.steps) if step.id == error.step)
    step = definition.steps[index]
    key: Path = ("config", "body_steps") if isinstance(step.config, LoopConfig) else ()
    return Fault(("steps", index, *(("depends_on",) if step.depends_on else key)), error.message, error.hint)


def _check_config(path: Path, step: Step, definition: Definition) -> Iterator[Fault]:
    yield from _check_words(path, step)
    match step.config:
        case LoopConfig():
            yield from _check_loop(path, step.config)
        case WaitConfig():
            yield from _check_wait(path, step.config)
        case MessageConfig(to=bot, channel=channel) if (bot is None) == (channel is None):
            yield Fault(
                path, "A message goes to one bot, or to one channel.", "Write either `to` or `channel`."
            )
        case MessageConfig(body=None):
            yield Fault((*path, "body"), "The message is empty.", "Write what it says in `body`.")
        case HttpConfig(url=url) if url.strip() and not url.lower().startswith(("http://", "https://", "{{")):
            yield Fault((*path, "url"), "This is no address of the web.", "Begin with `https://`.")
        case AgentConfig(output_schema=dict() as schema):
            yield from _check_schema((*path, "output_schema"), schema)
        case SubWorkflowConfig(workflow_name=name) if name in (definition.name, definition.id):
            yield Fault(
                (*path, "workflow_name"),
                "The workflow starts itself.",
                "It has to end somewhere: five levels down it is stopped.",
                is_warning=True,
            )
        case _:
            pass


def _check_words(path: Path, step: Step) -> Iterator[Fault]:
    """What a step has to say, in words of its own."""
    match step.config:
        case AgentConfig(prompt=words) if not words.strip():
            yield Fault((*path, "prompt"), "`prompt` is empty.", "Write what the bot is asked.")
        case ApprovalConfig(prompt=words) if not words.strip():
            yield Fault((*path, "prompt"), "`prompt` is empty.", "Write what the person decides.")
        case HttpConfig(url=words) if not words.strip():
            yield Fault((*path, "url"), "`url` is empty.", "Write the address, beginning with `https://`.")
        case _:
            pass


def _check_loop(path: Path, loop: LoopConfig) -> Iterator[Fault]:
    if (loop.condition is None) == (loop.items is None):
        hint = "Write `condition` to go on while it is true, or `items` to go through a list."
        yield Fault(path, "A loop has either a condition or items.", hint)
    if not isinstance(loop.items, (list, str, type(None))) or (
        isinstance(loop.items, str) and "{{" not in loop.items
    ):
        hint = "Write `[one, two]`, or a template such as `{{ steps.fetch.output.body.items }}`."
        yield Fault((*path, "items"), "`items` must be a list.", hint)
    if loop.condition is not None and loop.parallel > 1:
        message = "Only a loop over `items` does several at a time."
        yield Fault((*path, "parallel"), message, "Remove `parallel`.")


def _check_wait(path: Path, wait: WaitConfig) -> Iterator[Fault]:
    if (wait.seconds is None) == (wait.until is None):
        yield Fault(path, "A wait has either seconds or a time.", "Write either `seconds` or `until`.")
    if isinstance(wait.seconds, str) and "{{" not in wait.seconds:
        yield Fault((*path, "seconds"), "`seconds` must be a number.", "Write `seconds: 30`.")
    if wait.until is None or "{{" in wait.until:
        return
    try:
        datetime.fromisoformat(wait.until)
    except ValueError:
        yield Fault(
            (*path, "until"), "This is no time.", "Write it with its zone: `2026-12-01T09:00:00+01:00`."
        )


def _check_schema(path: Path, schema: dict[str, JsonValue]) -> Iterator[Fault]:
    try:
        OutputSchema(schema)
    except Invalid as error:
        yield Fault(path, error.message, error.hint)


def _check_input(path: Path, given: Input) -> Iterator[Fault]:
    if given.default is None:
        return
    kinds = _KINDS.get(given.type)
    is_odd = isinstance(given.default, bool) and given.type is not InputType.BOOLEAN
    if kinds and (is_odd or not isinstance(given.default, kinds)):
        yield Fault((*path, "default"), f"The default is not of the type {given.type}.")
    elif given.enum is not None and given.default not in given.enum:
        yield Fault((*path, "default"), "The default is none of the values of `enum`.")
