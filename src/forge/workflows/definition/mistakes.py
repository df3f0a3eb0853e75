"""What the form refuses, told to a person: which key it is about, and what to write instead."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from forge.documents.wording import explain, unknown
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
from forge.workflows.definition.source import Fault, Path

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
    "condition": "Write what decides, such as `steps.check.output.status == 200`.",
    "body_steps": "Name the steps it repeats.",
    "workflow_name": "Name the workflow it runs.",
    "to": "Name the bot it goes to.",
    "channel": "Name the channel it goes to.",
}
_TOO_SHORT = ("too_short", "string_too_short")
_IDS = frozenset(
    {"depends_on", "then_steps", "else_steps", "body_steps", "rejected_steps", "finally", "steps"}
)


def path_of(location: Sequence[int | str]) -> Path:
    """Without the names of the kinds that were tried on the way."""
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
    """One for each place, in the order they were found."""
    found: dict[Path, Fault] = {}
    for error in errors:
        if not _is_beside_the_point(error, data):
            fault = _fault(error, data)
            found.setdefault(fault.path, fault)
    return list(found.values())


def _is_beside_the_point(error: ErrorDetails, data: Mapping[str, Any]) -> bool:
    """Of a choice between a word and a table, only what was meant counts; of a type that is not known, the config."""
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
            message, hint = unknown(str(path[-1]), _known(path[:-1], data))
            return Fault(path, message, hint, is_key=True)
        case "union_tag_not_found":
            return Fault(path, "`type` is missing.", "Add a line `type: …`.")
        case "union_tag_invalid":
            expected = error.get("ctx", {})["expected_tags"]
            return Fault((*path, "type"), "There is no such type.", f"Write one of {expected}.")
        case "too_long" if path == ("steps",):
            context = error.get("ctx", {})
            message = f"There are {context['actual_length']:,} steps; {context['max_length']:,} are the most."
            return Fault(path, message, "Move some of them into a workflow of their own.", is_key=True)
        case _ if path[-1:] == ("on_error",):
            hint = "Write `fail`, `continue`, or `goto: <step>` below it."
            return Fault(path, "`on_error` is none of what it can be.", hint)
        case _ if path[-1:] == ("seconds",):
            return Fault(path, "`seconds` must be a number of seconds, or a template that gives one.")
        case _:
            patterns = _PATTERNS if path[-2:-1] == () or path[-2] not in _IDS else {**_PATTERNS, "name": _ID}
            message, hint = explain(named, patterns)
            if error["type"] in _TOO_SHORT:
                hint = _EMPTY.get(str(path[-1]))
            is_item = error["type"] == "string_pattern_mismatch" and hint is None
            return Fault(path, message, _ID if is_item else hint, is_key=error["loc"][-1] == "[key]")


def _name(path: Path) -> tuple[int | str, ...]:
    """The last key, and the item of a list."""
    keys = [index for index, part in enumerate(path) if isinstance(part, str)]
    return path[keys[-1] :] if keys else path


def _known(path: Path, data: Mapping[str, Any]) -> list[str]:
    """The keys there can be in a table."""
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
