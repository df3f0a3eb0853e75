"""Parse the YAML of a definition: expand shorthand, validate the structure, and explain what is wrong."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from forge.documents.problems import find_unusable_text
from forge.documents.validation_messages import explain_error, unknown_key
from forge.documents.yaml_nodes import Node, Shape
from forge.workflows.definition.models import (
    AgentConfig,
    ApprovalConfig,
    AuditConfig,
    BotOwner,
    CodeConfig,
    ConditionalConfig,
    CronTrigger,
    Definition,
    EventTrigger,
    FileWatchTrigger,
    GlobalOwner,
    Goto,
    HttpConfig,
    Input,
    LoopConfig,
    ManualTrigger,
    MessageConfig,
    Position,
    RetryPolicy,
    SkillConfig,
    Step,
    StepUi,
    SubWorkflowConfig,
    WaitConfig,
    WebhookAuth,
    WebhookTrigger,
)
from forge.workflows.definition.source import MAX_DEPTH, Fault, Path, Source
from forge.workflows.definition.yaml_values import value_of

_MAX_REPAIRS = 4


def parse_structure(source: Source) -> tuple[Definition | None, list[Fault]]:
    """Return the definition if its structure is valid, else the problems. Ids and references are not checked."""
    if "\\" in source.text and (fault := _unusable(source.root)):
        return None, [fault]
    data = cast("dict[str, Any]", value_of(source.root))
    found = expand_shorthand(data)
    definition, errors = _validated(data, source)
    if definition is None or found:
        return None, [*found, *faults(errors, data)]
    return definition, []


def parse(data: Mapping[str, Any]) -> Definition | None:
    """Parse JSON data. None if it is invalid or depends on how a value is spelled in YAML."""
    copy: dict[str, Any] = json.loads(json.dumps(data))
    if expand_shorthand(copy):
        return None
    try:
        return Definition.model_validate(copy)
    except ValidationError:
        return None


def is_json(data: object) -> bool:
    """Return whether the data is valid JSON with string keys and not nested too deeply."""
    try:
        json.dumps(data, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return _is_keyed_and_shallow(data, MAX_DEPTH)


def _is_keyed_and_shallow(data: Any, depth: int) -> bool:
    if isinstance(data, dict):
        entries = cast("dict[Any, Any]", data)
        return depth > 0 and all(
            isinstance(key, str) and _is_keyed_and_shallow(value, depth - 1) for key, value in entries.items()
        )
    if isinstance(data, (list, tuple)):
        items = cast("list[Any]", data)
        return depth > 0 and all(_is_keyed_and_shallow(item, depth - 1) for item in items)
    return True


def _unusable(node: Node, path: Path = ()) -> Fault | None:
    """Find a character that cannot be stored, written as an escape."""
    match node.shape:
        case Shape.SCALAR:
            problem = find_unusable_text(node.text)
            return Fault(path, problem.message, problem.hint) if problem else None
        case Shape.LIST:
            inner = [(item, (*path, index)) for index, item in enumerate(node.items)]
        case Shape.MAPPING:
            pairs = list(node.entries())
            if any(find_unusable_text(key.text) for key, _ in pairs):
                return Fault(path, "A key contains a character that cannot be stored.", "Remove it.")
            inner = [(value, (*path, key.text)) for key, value in pairs]
    return next((fault for one in inner if (fault := _unusable(*one))), None)


def _validated(data: dict[str, Any], source: Source) -> tuple[Definition | None, list[ErrorDetails]]:
    errors: list[ErrorDetails] = []
    for _ in range(_MAX_REPAIRS):
        try:
            return Definition.model_validate(data), []
        except ValidationError as error:
            errors = error.errors(include_url=False)
        if not any([_repair(data, one, source) for one in errors]):
            break
    return None, errors


def _repair(data: dict[str, Any], error: ErrorDetails, source: Source) -> bool:
    """Fix a common mistake in place; return False if there was nothing to fix.

    A number where text is expected becomes its spelling, a single value where a list is expected becomes a list, and a
    key without a value is removed.
    """
    path = path_of(error["loc"])
    container = _container(data, path)
    if container is None:
        return False
    key, value = path[-1], container[path[-1]]
    if value is None and isinstance(container, dict):
        del container[key]
    elif error["type"] == "string_type" and isinstance(value, (bool, int, float)):
        node = source.node(path)
        if node is None or node.shape is not Shape.SCALAR:
            return False
        container[key] = node.text
    elif error["type"] == "list_type" and isinstance(value, (str, int, float)):
        container[key] = [value]
    else:
        return False
    return True


def _container(data: Any, path: Path) -> Any:
    """Return the dict or list that holds the value at a path, if it exists."""
    for part in path[:-1]:
        if not isinstance(data, (dict, list)):
            return None
        data = cast("Any", data)[part]
    is_there = (
        path[-1] in data if isinstance(data, dict) else isinstance(data, list) and isinstance(path[-1], int)
    )
    return cast("Any", data) if path and is_there else None


LANGUAGES = {
    "js": "javascript",
    "node": "javascript",
    "type_script": "javascript",
    "typescript": "javascript",
    "ts": "javascript",
    "py": "python",
    "python3": "python",
}
_CONDITIONS = ("condition", "when")


def expand_shorthand(data: dict[str, Any]) -> list[Fault]:
    """Expand shorthand in place. Return the contradictions that were found."""
    if isinstance(data.get("triggers"), (str, dict)):
        data["triggers"] = [data["triggers"]]
    triggers = _items(data.get("triggers"))
    for index, trigger in enumerate(triggers):
        if isinstance(trigger, str):
            triggers[index] = {"type": trigger}
        elif isinstance(trigger, dict):
            _strip_braces(cast("dict[str, Any]", trigger))
    if isinstance(data.get("owner"), str):
        data["owner"] = {"type": data["owner"]} if data["owner"] == "global" else {"slug": data["owner"]}
    owner = data.get("owner")
    if isinstance(owner, dict) and "slug" in owner:
        cast("dict[str, Any]", owner).setdefault("type", "bot")
    return [
        fault
        for index, step in enumerate(_items(data.get("steps")))
        if isinstance(step, dict)
        for fault in _expand_step(index, cast("dict[str, Any]", step))
    ]


def _items(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def _expand_step(index: int, step: dict[str, Any]) -> list[Fault]:
    _strip_braces(step)
    if not isinstance(step.get("config"), dict):
        return []
    config = cast("dict[str, Any]", step["config"])
    _strip_braces(config)
    if isinstance(language := config.get("language"), str):
        config["language"] = LANGUAGES.get(language.lower(), language.lower())
    if isinstance(method := config.get("method"), str):
        config["method"] = method.upper()
    kind, inner = step.get("type"), config.get("type")
    if kind is None and inner is not None:
        step["type"] = inner
    elif inner is None and kind is not None:
        config["type"] = kind
    elif kind != inner:
        return [
            Fault(
                ("steps", index, "config", "type"),
                f"The step has type `{str(kind)[:60]}`, but its `config` has type `{str(inner)[:60]}`.",
                "Remove one of the two.",
            )
        ]
    return []


def _strip_braces(data: dict[str, Any]) -> None:
    """Remove braces around conditions: `{{ a > b }}` becomes `a > b`."""
    for name in _CONDITIONS:
        value = data.get(name)
        if not isinstance(value, str):
            continue
        inner = value.strip()
        if inner.startswith("{{") and inner.endswith("}}") and "{{" not in inner[2:]:
            data[name] = inner[2:-2].strip()


_PARTS: tuple[type[BaseModel], ...] = (
    AgentConfig,
    ApprovalConfig,
    AuditConfig,
    BotOwner,
    CodeConfig,
    ConditionalConfig,
    CronTrigger,
    EventTrigger,
    FileWatchTrigger,
    GlobalOwner,
    HttpConfig,
    LoopConfig,
    ManualTrigger,
    MessageConfig,
    SkillConfig,
    SubWorkflowConfig,
    WaitConfig,
    WebhookTrigger,
)
_TAGGED = {part.model_fields["type"].default: part for part in _PARTS}
_NAMED: Mapping[str, type[BaseModel]] = {
    "on_error": Goto,
    "retry": RetryPolicy,
    "ui": StepUi,
    "position": Position,
    "auth": WebhookAuth,
}
_ID = "Use letters, digits, hyphens and underscores; begin with a letter. For example `gather_news`."
_PATTERNS = {
    "name": "Use letters, digits and hyphens, such as `daily-digest`.",
    "id": _ID,
    "goto": _ID,
    "path": "Write it as `/orders/new`: a slash, then letters, digits, hyphens, dots.",
    "event_type": "Write the type of an event, such as `run.completed`.",
    "message_type": "Use lower-case letters, digits and underscores, such as `review_request`.",
}
_EMPTY = {
    "bot": "Name a bot, such as `ada`.",
    "skill": "Name a skill of the library.",
    "source": "Write a function `run(input)`.",
    "condition": "Write an expression such as `steps.check.output.status == 200`.",
    "body_steps": "List the steps to repeat.",
    "workflow_name": "Name the workflow to run.",
    "to": "Name the bot that receives the message.",
    "channel": "Name the channel for the message.",
}
_TOO_SHORT = ("too_short", "string_too_short")
_IDS = frozenset(
    {"depends_on", "then_steps", "else_steps", "body_steps", "rejected_steps", "finally", "steps"}
)


def path_of(location: Sequence[int | str]) -> Path:
    """Return the path in the definition, without the union members in pydantic's location."""
    match tuple(location):
        case ("steps", int() as index, "config", _, *rest):
            inner = rest[:1] if rest[:1] == ["seconds"] else rest
            return "steps", index, "config", *inner
        case ("steps", int() as index, "on_error", *rest):
            return "steps", index, "on_error", *rest[1:]
        case ("triggers", int() as index, _, *rest):
            return "triggers", index, *rest
        case ("owner", _, *rest):
            return "owner", *rest
        case (*rest, "[key]"):
            return tuple(rest)
        case whole:
            return whole


def faults(errors: Sequence[ErrorDetails], data: Mapping[str, Any]) -> list[Fault]:
    """Return one fault per path, in the order of the errors."""
    found: dict[Path, Fault] = {}
    for error in errors:
        if not _is_consequence(error, data):
            fault = _fault(error, data)
            found.setdefault(fault.path, fault)
    return list(found.values())


def _is_consequence(error: ErrorDetails, data: Mapping[str, Any]) -> bool:
    """Return whether an error is a consequence of another one and should not be shown."""
    match error["loc"]:
        case ("steps", int() as index, "on_error", branch, *_):
            is_table = isinstance(_at(data, ("steps", index, "on_error")), dict)
            return is_table != (branch == Goto.__name__)
        case ("steps", int() as index, "config"):
            step = _at(data, ("steps", index))
            return error["type"].startswith("union_tag") and isinstance(step, dict)
        case _:
            return False


def _fault(error: ErrorDetails, data: Mapping[str, Any]) -> Fault:
    path = path_of(error["loc"])
    named: ErrorDetails = {**error, "loc": _name(path)}
    match error["type"]:
        case "extra_forbidden":
            message, hint = unknown_key(str(path[-1]), _known(path[:-1], data))
            return Fault(path, message, hint, is_key=True)
        case "union_tag_not_found":
            return Fault(path, "`type` is missing.", "Add a line `type: …`.")
        case "union_tag_invalid":
            expected = error.get("ctx", {})["expected_tags"]
            return Fault((*path, "type"), "Unknown type.", f"Write one of {expected}.")
        case "too_long" if path == ("steps",):
            context = error.get("ctx", {})
            message = f"{context['actual_length']:,} steps exceed the maximum of {context['max_length']:,}."
            return Fault(path, message, "Move some of them to a separate workflow.", is_key=True)
        case _ if path[-1:] == ("on_error",):
            hint = "Write `fail`, `continue`, or `goto: <step>` below it."
            return Fault(path, "Invalid value for `on_error`.", hint)
        case _ if path[-1:] == ("seconds",):
            return Fault(path, "`seconds` must be a number or a template.")
        case _:
            patterns = _PATTERNS if path[-2:-1] == () or path[-2] not in _IDS else {**_PATTERNS, "name": _ID}
            message, hint = explain_error(named, patterns)
            if error["type"] in _TOO_SHORT:
                hint = _EMPTY.get(str(path[-1]))
            is_item = error["type"] == "string_pattern_mismatch" and hint is None
            return Fault(path, message, _ID if is_item else hint, is_key=error["loc"][-1] == "[key]")


def _name(path: Path) -> tuple[int | str, ...]:
    """Return the last key of the path, with the list index after it."""
    keys = [index for index, part in enumerate(path) if isinstance(part, str)]
    return path[keys[-1] :] if keys else path


def _known(path: Path, data: Mapping[str, Any]) -> list[str]:
    """Return the keys allowed in a mapping."""
    match path:
        case ():
            model: type[BaseModel] | None = Definition
        case ("steps", int()):
            model = Step
        case ("inputs", _):
            model = Input
        case (*_, str() as name) if name in _NAMED:
            model = _NAMED[name]
        case _:
            value = _at(data, path)
            kind = cast("dict[str, Any]", value).get("type") if isinstance(value, dict) else None
            model = _TAGGED.get(kind)
    return [field.alias or name for name, field in model.model_fields.items()] if model else []


def _at(data: Any, path: Path) -> Any:
    for part in path:
        data = data[part]
    return data
