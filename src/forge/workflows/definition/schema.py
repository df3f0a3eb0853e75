"""The JSON Schema of definitions as people write them, for editors. What it lets pass is read; what only the graph or the
expressions tell is found when a definition is read."""

from typing import Any, cast

from forge.workflows.definition.descriptions import DESCRIPTIONS
from forge.workflows.definition.leniency import LANGUAGES
from forge.workflows.definition.models import Definition

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
_SPELLED = ("version", "condition", "when")
"""Texts that are often written without quotes though they look like a number or a truth."""

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
        if key in _SPELLED:
            _allow(value, [{"type": "number"}, {"type": "boolean"}])
        if value.get("type") == "array" and value["items"].get("type") == "string":
            one = value["items"]
            _allow(value, [one])
    if name in _EITHER:
        part["oneOf"] = [{"required": [key]} for key in _EITHER[name]]


def _allow(value: Schema, others: list[Schema]) -> None:
    """Something else as well."""
    kept = {key: value.pop(key) for key in list(value) if key in ("description", "default")}
    inner: list[Schema] = value.pop("anyOf", None) or [dict(value)]
    value.clear()
    value |= {**kept, "anyOf": [*inner, *others]}


def _choose_config(step: Schema) -> None:
    """By the type of the step, or by the type that the config says itself."""
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
