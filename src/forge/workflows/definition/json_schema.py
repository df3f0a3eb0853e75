"""Generate the JSON Schema of definitions for editors. It accepts shorthand; the graph and expressions are not covered."""

from typing import Any, cast

from forge.workflows.definition.models import Definition
from forge.workflows.definition.structure import LANGUAGES

DESCRIPTIONS: dict[str, dict[str, str]] = {
    "Definition": {
        "id": "Assigned when the workflow is saved.",
        "name": "Letters, digits and hyphens, such as `daily-digest`.",
        "description": "The purpose of the workflow.",
        "version": "Your own version label. Saved versions are also numbered automatically.",
        "owner": "A bot, or `global`.",
        "concurrency_policy": "What to do with a new run if `concurrency` is reached.",
        "inputs": "The inputs of a run, by name: `{{ inputs.topic }}`.",
        "triggers": "What starts the workflow. Default: manually.",
        "steps": "The steps. Each starts as soon as its dependencies have ended.",
        "metadata": "Any other data, for you and your tools.",
    },
    "Step": {
        "id": "The name in expressions: `steps.gather.output`.",
        "name": "The display name. Default: the id.",
        "type": "The type of the step.",
        "depends_on": "The steps to wait for.",
        "condition": "The step is skipped unless this is true.",
        "timeout_secs": "The time limit of an attempt. Default: 300.",
        "retry": "Whether and how the step is retried if it fails.",
        "on_error": "`fail` ends the run, `continue` runs dependent steps, `goto` runs another step instead.",
        "config": "The settings of the step, depending on its type.",
        "ui": "The layout on the canvas.",
    },
    "AgentConfig": {
        "prompt": "The question or task for the bot. A template.",
        "model": "The model to use. Default: the bot's.",
    },
    "SkillConfig": {"skill": "The name of the skill in the library."},
    "CodeConfig": {
        "language": "JavaScript, Python, or a WebAssembly component.",
        "input": "The argument of `run`. A template.",
    },
    "HttpConfig": {
        "method": "Default: GET.",
        "url": "A template that may contain `secrets`.",
        "headers": "Templates that may contain `secrets`.",
        "max_bytes": "A larger response fails the step.",
    },
    "ConditionalConfig": {
        "condition": "Decides which steps run.",
        "then_steps": "Steps to run only if the condition is true.",
        "else_steps": "Steps to run only if the condition is false.",
    },
    "LoopConfig": {
        "condition": "Evaluated before each iteration; `loop.index` counts from 0.",
        "max_iterations": "A longer list fails the step; a condition loop ends after as many iterations.",
        "body_steps": "The steps to repeat. They can use `loop.index` and `loop.item`.",
    },
    "ApprovalConfig": {
        "prompt": "The question for the person who decides. A template.",
        "timeout_secs": "How long to wait for an answer. Default: forever.",
        "on_timeout": "What to do if the approval times out.",
    },
    "SubWorkflowConfig": {"workflow_name": "The workflow to run."},
    "WaitConfig": {"seconds": "The duration."},
    "MessageConfig": {
        "channel": "A channel that bots are subscribed to.",
        "message_type": "The type of the message, for its recipients.",
        "body": "The content. A template.",
        "wait": "Wait for the reply.",
    },
    "AuditConfig": {"fail_on": "The verdicts that fail the step."},
    "RetryPolicy": {
        "max_attempts": "Including the first one.",
        "strategy": "`llm_self_correct` has a model rewrite the input before each retry.",
        "delay_secs": "The delay before the second attempt.",
        "factor": "The factor by which each further delay is longer.",
        "max_delay_secs": "The maximum delay.",
    },
    "StepUi": {
        "position": "The position on the canvas.",
        "group": "The group the step is shown in.",
        "collapsed": "Show the step collapsed.",
    },
    "Input": {
        "type": "The type of the value.",
        "description": "Shown to people who start the workflow.",
        "required": "Whether the input must be given.",
        "default": "The value if the input is not given.",
        "enum": "The allowed values.",
    },
    "CronTrigger": {
        "timezone": "For example `Europe/Berlin`.",
        "catch_up": "What to do about occurrences missed while the server was down.",
        "inputs": "The inputs of each run.",
    },
    "WebhookTrigger": {
        "path": "`/orders/new` is called as `POST /webhooks/orders/new`.",
        "auth": "How requests are authenticated. Default: not at all.",
        "when": "A condition for requests, with the variables `event` and `trigger`.",
    },
    "WebhookAuth": {"type": "A signature over the body, or a token."},
    "EventTrigger": {
        "event_type": "For example `run.completed`.",
        "when": "A condition for events, with the variables `event` and `trigger`.",
    },
    "FileWatchTrigger": {
        "paths": "Folders or files.",
        "patterns": "Globs such as `*.csv`. Default: all files.",
        "when": "A condition for changes, with the variables `event` and `trigger`.",
    },
    "BotOwner": {"slug": "The slug of the bot."},
}


_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_CONFIGS = {
    "agent": "AgentConfig",
    "skill": "SkillConfig",
    "http": "HttpConfig",
    "code": "CodeConfig",
    "conditional": "ConditionalConfig",
    "loop": "LoopConfig",
    "approval": "ApprovalConfig",
    "sub_workflow": "SubWorkflowConfig",
    "wait": "WaitConfig",
    "message": "MessageConfig",
    "audit": "AuditConfig",
}
_TRIGGERS = {
    "manual": "ManualTrigger",
    "cron": "CronTrigger",
    "webhook": "WebhookTrigger",
    "event": "EventTrigger",
    "file_watch": "FileWatchTrigger",
}
_EITHER = {
    "LoopConfig": ("condition", "items"),
    "WaitConfig": ("seconds", "until"),
    "MessageConfig": ("to", "channel"),
}
_UNQUOTED = ("version", "condition", "when")
"""Strings that are often written unquoted although they look like a number or boolean."""

Schema = dict[str, Any]


def schema() -> Schema:
    root: Schema = Definition.model_json_schema(by_alias=True)
    parts: dict[str, Schema] = root.pop("$defs")
    for name, part in {"Definition": root, **parts}.items():
        _loosen(name, part)
    step, code, http = parts["Step"], parts["CodeConfig"]["properties"], parts["HttpConfig"]["properties"]
    _choose_config(step)
    code["language"] = {**code["language"], "enum": [*parts.pop("Language")["enum"], *LANGUAGES]}
    code["language"].pop("$ref")
    http["method"]["enum"] += [method.lower() for method in http["method"]["enum"]]
    properties: dict[str, Schema] = root["properties"]
    trigger = {"anyOf": [{"enum": ["manual"]}, {"type": "object", **_by_type(_TRIGGERS)}]}
    properties["triggers"] |= {"anyOf": [{"type": "array", "items": trigger, "maxItems": 50}, trigger]}
    for key in ("type", "items", "maxItems"):
        properties["triggers"].pop(key)
    owners = [{"$ref": "#/$defs/BotOwner"}, {"$ref": "#/$defs/GlobalOwner"}]
    properties["owner"] = {
        "description": properties["owner"]["description"],
        "anyOf": [{"type": "string", "minLength": 1}, *owners],
    }
    return {"$schema": _DIALECT, "title": "Workflow", **root, "$defs": dict(sorted(parts.items()))}


def _loosen(name: str, part: Schema) -> None:
    part.pop("title", None)
    for key, value in cast("dict[str, Schema]", part.get("properties", {})).items():
        value.pop("title", None)
        if key in DESCRIPTIONS.get(name, {}):
            value["description"] = DESCRIPTIONS[name][key]
        if key in _UNQUOTED:
            _allow(value, [{"type": "number"}, {"type": "boolean"}])
        if value.get("type") == "array" and value["items"].get("type") == "string":
            one = value["items"]
            _allow(value, [one])
    if name in _EITHER:
        part["oneOf"] = [{"required": [key]} for key in _EITHER[name]]


def _allow(value: Schema, others: list[Schema]) -> None:
    """Accept other schemas as well."""
    moved_keys = {key: value.pop(key) for key in list(value) if key in ("description", "default")}
    inner: list[Schema] = value.pop("anyOf", None) or [dict(value)]
    value.clear()
    value |= {**moved_keys, "anyOf": [*inner, *others]}


def _choose_config(step: Schema) -> None:
    """Select the schema of `config` by the type of the step or of the config."""
    properties: dict[str, Schema] = step["properties"]
    properties["type"] = {"description": properties["type"]["description"], "enum": list(_CONFIGS)}
    properties["config"] = {"description": properties["config"]["description"], "type": "object"}
    step["required"] = ["id", "config"]
    step["if"] = {"required": ["type"]}
    step["then"] = {
        "allOf": [
            {
                "if": {"properties": {"type": {"const": kind}}},
                "then": {"properties": {"config": {"$ref": f"#/$defs/{config}"}}},
            }
            for kind, config in _CONFIGS.items()
        ]
    }
    step["else"] = {"properties": {"config": _by_type(_CONFIGS)}}


def _by_type(parts: dict[str, str]) -> Schema:
    return {
        "required": ["type"],
        "properties": {"type": {"enum": list(parts)}},
        "allOf": [
            {
                "if": {"properties": {"type": {"const": kind}}, "required": ["type"]},
                "then": {"$ref": f"#/$defs/{part}"},
            }
            for kind, part in parts.items()
        ],
    }
