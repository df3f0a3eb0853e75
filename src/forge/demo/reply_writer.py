"""Find the turn of a request and write its reply. Stateless, so that a request repeated after a crash gets the same."""

import fnmatch
import json
import re
from dataclasses import dataclass
from typing import Any, cast

from forge.demo.exchange import (
    AnswerForm,
    Block,
    Conversation,
    JsonObject,
    Redacted,
    Reply,
    Text,
    Thinking,
    ToolUse,
)
from forge.demo.model_script import AfterLast, FaultKind, Match, Scene, Script, StopReason, Turn
from forge.demo.script_templates import Lookup, fill, fill_json
from forge.kernel.hashing import hash_json

DEFAULT_SCENE = "default"


@dataclass(frozen=True)
class ScriptPosition:
    """The position of a request in the script."""

    scene: str
    turn: int
    conversation: str
    """An id of the conversation, from the scene and its first message."""
    plan: Turn | None
    """None if the script has no turn here; the answer is generated."""
    groups: dict[str, str]


def find_position(script: Script, conversation: Conversation) -> ScriptPosition:
    for name, scene in script.scenes.items():
        groups = _match(scene.match, conversation)
        if groups is not None:
            number = _position(scene, conversation)
            return ScriptPosition(
                name, number, _conversation(name, conversation), _turn(scene, number), groups
            )
    return ScriptPosition(
        DEFAULT_SCENE, conversation.replies, _conversation(DEFAULT_SCENE, conversation), None, {}
    )


def _conversation(scene: str, conversation: Conversation) -> str:
    return hash_json([scene, conversation.model, conversation.opening])[:12]


def _match(match: Match, conversation: Conversation) -> dict[str, str] | None:
    """Return the groups of the patterns, or None if one does not match."""
    if match.model is not None and not fnmatch.fnmatchcase(conversation.model, match.model):
        return None
    groups: dict[str, str] = {}
    conditions = [
        (match.text, "\n".join((conversation.system, conversation.opening, conversation.latest))),
        (match.system, conversation.system),
        (match.opening, conversation.opening),
        (match.latest, conversation.latest),
    ]
    for pattern, text in conditions:
        if pattern is None:
            continue
        found = pattern.search(text)
        if found is None:
            return None
        numbered = {str(number): found.group(number) or "" for number in range(pattern.groups + 1)}
        groups |= numbered | {name: value or "" for name, value in found.groupdict().items()}
    return groups


def _position(scene: Scene, conversation: Conversation) -> int:
    if scene.position is not None:
        numbers = [
            int(found) for found in scene.position.findall(conversation.transcript) if found.isdecimal()
        ]
        if numbers:
            return numbers[-1]
    return conversation.replies


def _turn(scene: Scene, number: int) -> Turn | None:
    turns = scene.all_turns()
    if number < len(turns):
        return turns[number]
    match scene.after:
        case AfterLast.REPEAT:
            return turns[-1]
        case AfterLast.RESTART:
            return turns[number % len(turns)]
        case AfterLast.STOP:
            return None


def write_reply(position: ScriptPosition, conversation: Conversation) -> Reply:
    if position.plan is None:
        return _generated_reply(position, conversation)
    look_up = _lookup(position, conversation)
    pause = next((fault for fault in position.plan.faults if fault.kind is FaultKind.PAUSE_TURN), None)
    if pause is not None and not conversation.is_continued:
        return Reply((Text(fill(pause.text, look_up)),), StopReason.PAUSE_TURN)
    blocks = tuple(_blocks(position, position.plan, look_up))
    has_tools = any(isinstance(block, ToolUse) for block in blocks)
    return Reply(blocks, position.plan.stop or (StopReason.TOOL_USE if has_tools else StopReason.END_TURN))


def _blocks(position: ScriptPosition, plan: Turn, look_up: Lookup) -> list[Block]:
    blocks: list[Block] = []
    if plan.thinking is not None:
        blocks.append(Thinking(fill(plan.thinking, look_up)))
    if plan.redacted_thinking is not None:
        blocks.append(Redacted(plan.redacted_thinking))
    if plan.text is not None:
        blocks.append(Text(fill(plan.text, look_up)))
    if plan.json_text is not None:
        blocks.append(Text(json.dumps(fill_json(plan.json_text, look_up), ensure_ascii=False)))
    for index, call in enumerate(plan.tools):
        arguments = json.dumps(fill_json(call.input, look_up), ensure_ascii=False)
        blocks.append(ToolUse(call.id or _tool_id(position, index), call.tool, arguments))
    return blocks


def _tool_id(position: ScriptPosition, index: int) -> str:
    return f"toolu_{hash_json([position.conversation, position.turn, index])[:24]}"


def _lookup(position: ScriptPosition, conversation: Conversation) -> Lookup:
    known = {
        "turn": str(position.turn),
        "tools": ", ".join(tool.name for tool in conversation.tools),
        "model": conversation.model,
        "system": conversation.system,
        "opening": conversation.opening,
        "latest": conversation.latest,
    }

    def look_up(name: str) -> str:
        family, _, member = name.partition(".")
        if family == "result":
            return conversation.result_of(member or None)
        return position.groups.get(member, "") if family == "match" else known[family]

    return look_up


def _generated_reply(position: ScriptPosition, conversation: Conversation) -> Reply:
    demand = conversation.demand
    if demand is None:
        return Reply((Text(_default_text(conversation)),), StopReason.END_TURN)
    return _structured_reply(position, demand)


def _structured_reply(position: ScriptPosition, demand: AnswerForm) -> Reply:
    answer = json.dumps(fill_schema(demand.schema), ensure_ascii=False)
    if demand.tool is None:
        return Reply((Text(answer),), StopReason.END_TURN)
    return Reply((ToolUse(_tool_id(position, 0), demand.tool, answer),), StopReason.TOOL_USE)


def _default_text(conversation: Conversation) -> str:
    message = re.sub(r"\s+", " ", conversation.latest).strip()
    echo = f' You said: "{message[:200]}".' if message else ""
    return f"This answer comes from a script; no model was called.{echo}"


MAX_DEPTH = 12
FORMATS = {
    "date": "2026-01-01",
    "date-time": "2026-01-01T00:00:00Z",
    "time": "00:00:00Z",
    "email": "someone@example.com",
    "uri": "https://example.com",
    "uuid": "00000000-0000-4000-8000-000000000000",
}


def fill_schema(schema: JsonObject) -> Any:
    return _value(schema, schema, "answer", 0)


def _value(schema: JsonObject, root: JsonObject, name: str, depth: int) -> Any:
    schema = _resolved(schema, root)
    if depth > MAX_DEPTH:
        return None
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    for key in ("enum", "examples"):
        if schema.get(key):
            return schema[key][0]
    if options := schema.get("anyOf") or schema.get("oneOf"):
        return _value(_simplest(options, root), root, name, depth + 1)
    return _of_type(schema, root, name, depth)


def _resolved(schema: JsonObject, root: JsonObject) -> JsonObject:
    """Resolve references and merge `allOf`."""
    for _ in range(MAX_DEPTH):
        reference = schema.get("$ref")
        if not isinstance(reference, str) or not reference.startswith("#"):
            break
        target: Any = root
        for key in reference.removeprefix("#").strip("/").split("/"):
            target = target.get(key, {}) if key else target
        schema = {**cast(JsonObject, target), **{key: item for key, item in schema.items() if key != "$ref"}}
    for part in schema.get("allOf", []):
        schema = {**schema, **_resolved(part, root)}
    return schema


def _simplest(options: list[JsonObject], root: JsonObject) -> JsonObject:
    resolved = [_resolved(option, root) for option in options]
    return next((option for option in resolved if option.get("type") != "null"), resolved[0])


def _of_type(schema: JsonObject, root: JsonObject, name: str, depth: int) -> Any:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((each for each in cast("list[str]", kind) if each != "null"), "null")
    match kind or ("object" if "properties" in schema else "string"):
        case "object":
            return _object(schema, root, depth)
        case "array":
            return [_value(item, root, name, depth + 1) for item in _items(schema)]
        case "string":
            return _string(schema, name)
        case "integer" | "number":
            return _number(schema)
        case "boolean":
            return True
        case _:
            return None


def _items(schema: JsonObject) -> list[JsonObject]:
    first = cast("list[JsonObject]", schema.get("prefixItems", []))
    return first + [schema.get("items") or {}] * (schema.get("minItems", 0) - len(first))


def _object(schema: JsonObject, root: JsonObject, depth: int) -> JsonObject:
    properties = cast("dict[str, JsonObject]", schema.get("properties", {}))
    required = cast("list[str]", schema.get("required", []))
    return {name: _value(properties.get(name, {}), root, name, depth + 1) for name in required}


def _string(schema: JsonObject, name: str) -> str:
    text = FORMATS.get(schema.get("format", ""), f"scripted {name.replace('_', ' ')}")
    return text.ljust(schema.get("minLength", 0), ".")[: schema.get("maxLength")]


def _number(schema: JsonObject) -> int | float:
    lowest = schema.get("minimum", schema.get("exclusiveMinimum"))
    highest = schema.get("maximum", schema.get("exclusiveMaximum"))
    step = schema.get("multipleOf", 1)
    if lowest is not None:
        value = lowest if lowest % step == 0 else lowest + step - lowest % step
        return value + step if value == schema.get("exclusiveMinimum") else value
    if highest is not None and highest <= 0:
        return highest - step
    return 0
