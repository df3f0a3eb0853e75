"""Check a structurally valid definition: ids, the graph, configs, inputs and triggers."""

from collections.abc import Iterator
from datetime import datetime
from difflib import get_close_matches

from pydantic import JsonValue

from forge.errors import Invalid
from forge.workflows.definition.expression_checks import check_references
from forge.workflows.definition.graph import Graph, GraphError
from forge.workflows.definition.models import (
    AgentConfig,
    ApprovalConfig,
    ConditionalConfig,
    CronTrigger,
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
    WebhookTrigger,
)
from forge.workflows.definition.output_schema import OutputSchema
from forge.workflows.definition.source import Fault, Path
from forge.workflows.schedules import read_schedule

MAX_LOOPS = 10
"""Levels of nested loops."""

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
    """Return all problems and warnings."""
    faults = [*_duplicates(definition), *_unknown_steps(definition), *_too_deep(definition)]
    if definition.name in RESERVED:
        message = f"The name {definition.name} is reserved: it is part of the API's URLs."
        faults.append(Fault(("name",), message))
    graph: Graph | None = None
    if not faults:
        try:
            graph = Graph.of(definition.steps, definition.finally_steps)
        except GraphError as error:
            faults.append(_graph_fault(definition, error))
    for index, step in enumerate(definition.steps):
        faults += _check_config(("steps", index, "config"), step, definition)
    for name, declared in definition.inputs.items():
        faults += _check_input(("inputs", name), declared)
    if definition.concurrency is None and "concurrency_policy" in definition.model_fields_set:
        message = "`concurrency_policy` has no effect without `concurrency`."
        faults.append(Fault(("concurrency_policy",), message, is_key=True, is_warning=True))
    return [*faults, *check_triggers(definition), *check_references(definition, graph)]


def _duplicates(definition: Definition) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, step in enumerate(definition.steps):
        if step.id in seen:
            yield Fault(
                ("steps", index, "id"),
                f"Duplicate step id `{step.id}`.",
                "Give each step a unique id.",
            )
        seen.add(step.id)


def _unknown_steps(definition: Definition) -> Iterator[Fault]:
    known = [step.id for step in definition.steps]
    known_ids = set(known)
    for path, name in _step_references(definition):
        if name not in known_ids:
            close = get_close_matches(name, known, n=1)
            hint = f"Did you mean `{close[0]}`?" if close else "Write the id of a step."
            yield Fault(path, f"There is no step `{name}`.", hint)


def _step_references(definition: Definition) -> Iterator[tuple[Path, str]]:
    """Yield every reference to a step id."""
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
            message = f"Loops are nested more than {MAX_LOOPS} levels deep."
            yield Fault(("steps", index), message, "Move the inner loops to a separate workflow.")
            return


def _graph_fault(definition: Definition, error: GraphError) -> Fault:
    index = next(index for index, step in enumerate(definition.steps) if step.id == error.step)
    step = definition.steps[index]
    key: Path = ("config", "body_steps") if isinstance(step.config, LoopConfig) else ()
    return Fault(("steps", index, *(("depends_on",) if step.depends_on else key)), error.message, error.hint)


def _check_config(path: Path, step: Step, definition: Definition) -> Iterator[Fault]:
    yield from _check_texts(path, step)
    match step.config:
        case LoopConfig():
            yield from _check_loop(path, step.config)
        case WaitConfig():
            yield from _check_wait(path, step.config)
        case MessageConfig(to=bot, channel=channel) if (bot is None) == (channel is None):
            yield Fault(path, "A message needs either a bot or a channel.", "Set either `to` or `channel`.")
        case MessageConfig(body=None):
            yield Fault((*path, "body"), "`body` must not be empty.", "Write the message in `body`.")
        case HttpConfig(url=url) if url.strip() and not url.lower().startswith(("http://", "https://", "{{")):
            yield Fault((*path, "url"), "This is not a URL.", "Begin with `https://`.")
        case AgentConfig(output_schema=dict() as schema):
            yield from _check_schema((*path, "output_schema"), schema)
        case SubWorkflowConfig(workflow_name=name) if name in (definition.name, definition.id):
            yield Fault(
                (*path, "workflow_name"),
                "The workflow starts itself.",
                "Make sure the recursion ends: it is stopped after five levels.",
                is_warning=True,
            )
        case _:
            pass


def _check_texts(path: Path, step: Step) -> Iterator[Fault]:
    """Check that required texts are not blank."""
    match step.config:
        case AgentConfig(prompt=text) if not text.strip():
            yield Fault((*path, "prompt"), "`prompt` must not be empty.", "Write what to ask the bot.")
        case ApprovalConfig(prompt=text) if not text.strip():
            yield Fault(
                (*path, "prompt"), "`prompt` must not be empty.", "Write what the person has to decide."
            )
        case HttpConfig(url=text) if not text.strip():
            yield Fault(
                (*path, "url"), "`url` must not be empty.", "Write a URL that begins with `https://`."
            )
        case _:
            pass


def _check_loop(path: Path, loop: LoopConfig) -> Iterator[Fault]:
    if (loop.condition is None) == (loop.items is None):
        hint = "Set `condition` to repeat while it is true, or `items` to iterate over a list."
        yield Fault(path, "A loop needs either `condition` or `items`.", hint)
    if not isinstance(loop.items, (list, str, type(None))) or (
        isinstance(loop.items, str) and "{{" not in loop.items
    ):
        hint = "Write `[one, two]`, or a template such as `{{ steps.fetch.output.body.items }}`."
        yield Fault((*path, "items"), "`items` must be a list.", hint)
    if loop.condition is not None and loop.parallel > 1:
        message = "`parallel` requires a loop over `items`."
        yield Fault((*path, "parallel"), message, "Remove `parallel`.")


def _check_wait(path: Path, wait: WaitConfig) -> Iterator[Fault]:
    if (wait.seconds is None) == (wait.until is None):
        yield Fault(path, "A wait needs either `seconds` or `until`.", "Set one of the two.")
    if isinstance(wait.seconds, str) and "{{" not in wait.seconds:
        yield Fault((*path, "seconds"), "`seconds` must be a number.", "Write `seconds: 30`.")
    if wait.until is None or "{{" in wait.until:
        return
    try:
        datetime.fromisoformat(wait.until)
    except ValueError:
        yield Fault(
            (*path, "until"),
            "This is not a valid time.",
            "Write it with a time zone: `2026-12-01T09:00:00+01:00`.",
        )


def _check_schema(path: Path, schema: dict[str, JsonValue]) -> Iterator[Fault]:
    try:
        OutputSchema(schema)
    except Invalid as error:
        yield Fault(path, error.message, error.hint)


def _check_input(path: Path, declared: Input) -> Iterator[Fault]:
    if declared.default is None:
        return
    kinds = _KINDS.get(declared.type)
    is_stray_boolean = isinstance(declared.default, bool) and declared.type is not InputType.BOOLEAN
    if kinds and (is_stray_boolean or not isinstance(declared.default, kinds)):
        yield Fault((*path, "default"), f"The default is not of type {declared.type}.")
    elif declared.enum is not None and declared.default not in declared.enum:
        yield Fault((*path, "default"), "The default is not one of the values of `enum`.")


def check_triggers(definition: Definition) -> Iterator[Fault]:
    paths: set[str] = set()
    for index, trigger in enumerate(definition.triggers):
        here: Path = ("triggers", index)
        if isinstance(trigger, CronTrigger):
            yield from _check_schedule(here, trigger)
            yield from _check_inputs(here, trigger, definition)
        if isinstance(trigger, WebhookTrigger):
            if trigger.path in paths:
                yield Fault((*here, "path"), f"Duplicate webhook path {trigger.path}.")
            paths.add(trigger.path)


def _check_schedule(here: Path, trigger: CronTrigger) -> Iterator[Fault]:
    for key, schedule, timezone in (
        ("timezone", "hourly", trigger.timezone),
        ("schedule", trigger.schedule, "UTC"),
    ):
        try:
            read_schedule(schedule, timezone)
        except Invalid as error:
            yield Fault((*here, key), error.message, error.hint)


def _check_inputs(here: Path, trigger: CronTrigger, definition: Definition) -> Iterator[Fault]:
    for name in trigger.inputs:
        if name not in definition.inputs:
            yield Fault(
                (*here, "inputs", name),
                f"The workflow has no input `{name}`.",
                "Declare it under `inputs`.",
                is_key=True,
            )
    for name, declared in definition.inputs.items():
        if declared.required and declared.default is None and name not in trigger.inputs:
            yield Fault(
                here,
                f"The schedule does not set the required input `{name}`.",
                f"Add it under `inputs` of the trigger, or give `{name}` a default.",
            )
