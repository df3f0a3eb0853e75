"""Recognize tool calls that a model wrote as text instead of using the API's tool calls.

Local servers pass through what they do not recognize as the notation of their model. Recognized: JSON objects with a
name and arguments (bare, fenced, or in tags such as `<tool_call>`), `<function=NAME>…</function>` with JSON or
`<parameter=…>` elements, and `<tools NAME argument="…"/>`. Only calls of known tools count, and everything from the
first one on is removed from the text: what a model writes after a call, it invented before the tool ran.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from forge.agents.tool import ToolBox
from forge.kernel.ids import new_id
from forge.kernel.text import repair_surrogates
from forge.llm.messages import AssistantMessage, Text, ToolCall

MAX_TEXT = 100_000
"""Longer texts are not searched."""
MAX_PARSED = 1_000_000
"""Characters parsed in vain, because a model may repeat the beginning of an object thousands of times."""
NAME_KEYS = ("name", "tool", "tool_name", "function", "action")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "params", "tool_input", "action_input")

_JSON = re.compile(r"[\[{]")
_FUNCTION = re.compile(r"<function=([\w.-]+)>(.*?)(?:</function>|\Z)", re.DOTALL)
_PARAMETER = re.compile(r"<parameter=([\w.-]+)>\n?(.*?)\n?</parameter>", re.DOTALL)
_TAG = re.compile(r"""<tools?\s+([\w.-]+)((?:\s+[\w-]+=(?:"[^"]*"|'[^']*'))*)\s*/?>""")
_ATTRIBUTE = re.compile(r"""([\w-]+)=(?:"([^"]*)"|'([^']*)')""")
_OPENER = re.compile(r"(?:<\|?\w+\|?>|\[TOOL_CALLS\])\s*\Z")
_FENCE = re.compile(r"```[\w-]*\s*\Z")
_DECODER = json.JSONDecoder()


@dataclass(frozen=True)
class _Found:
    start: int
    end: int
    calls: list[ToolCall]


def with_text_calls(message: AssistantMessage, tools: ToolBox) -> AssistantMessage:
    """Replace calls written as text by tool calls. Return the same message if it has none, or already has tool calls."""
    text = message.text
    if message.tool_calls or not text or len(text) > MAX_TEXT:
        return message
    found = sorted(_find(text, tools), key=lambda one: one.start)
    if not found:
        return message
    calls: dict[tuple[str, str], ToolCall] = {}
    end = 0
    for one in found:
        if one.start >= end:  # not inside an argument of the call before
            calls |= {(call.name, call.arguments): call for call in one.calls}
            end = one.end
    before = _text_before(text[: found[0].start])
    others = [part for part in message.parts if not isinstance(part, Text)]
    return AssistantMessage(parts=[*others, *([Text(text=before)] if before else []), *calls.values()])


def _text_before(text: str) -> str:
    """Remove what introduces a call: a tag, an opening fence."""
    text = _OPENER.sub("", text)
    return (_FENCE.sub("", text) if text.count("```") % 2 else text).rstrip()


def named_tool(text: str, names: Sequence[str]) -> str | None:
    """Return the first tool that a text talks about. Only names with an underscore are no words of a language."""
    words = [re.escape(name) for name in names if "_" in name]
    found = re.search(rf"\b({'|'.join(words)})\b", text) if words else None
    return found[1] if found else None


def example_call(tools: ToolBox, name: str) -> str:
    """Write a call of a tool in the form that is recognized, with a placeholder for each required argument."""
    spec = next(spec for spec in tools.specs() if spec.name == name)
    arguments = {argument: f"<{argument}>" for argument in spec.parameters.get("required", [])}
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def _find(text: str, tools: ToolBox) -> Iterator[_Found]:
    schemas: dict[str, dict[str, Any]] = {spec.name: spec.parameters for spec in tools.specs()}
    for start, end, value in _json_values(text):
        if calls := _resolved(_calls_in(value), tools):
            yield _Found(start, end, calls)
    for match in _FUNCTION.finditer(text):
        call = _call(match[1], _body(match[2], schemas.get(match[1])))
        if calls := _resolved([call], tools):
            yield _Found(match.start(), match.end(), calls)
    for match in _TAG.finditer(text):
        values = {name: double or single for name, double, single in _ATTRIBUTE.findall(match[2])}
        call = _call(match[1], _typed(values, schemas.get(match[1])))
        if calls := _resolved([call], tools):
            yield _Found(match.start(), match.end(), calls)


def _json_values(text: str) -> Iterator[tuple[int, int, object]]:
    """Find objects and arrays, with their start and end."""
    end = parsed = 0
    for opening in _JSON.finditer(text):
        start = opening.start()
        if start < end:
            continue
        try:
            value, end = _DECODER.raw_decode(text, start)
        except json.JSONDecodeError as error:
            parsed += error.pos - start
            if parsed > MAX_PARSED:
                return
        except RecursionError:
            return
        else:
            yield start, end, value


def _resolved(calls: list[ToolCall], tools: ToolBox) -> list[ToolCall]:
    """Return the calls if all of them are calls of known tools."""
    known = [found for call in calls if (found := tools.resolve(call)) is not None]
    return known if len(known) == len(calls) else []


def _call(name: str, arguments: Mapping[str, Any]) -> ToolCall:
    return ToolCall(
        id=f"call_{new_id()}",
        name=name,
        arguments=repair_surrogates(json.dumps(arguments, ensure_ascii=False)),
    )


def _calls_in(value: object) -> list[ToolCall]:
    """Return the calls that a JSON value describes: one object, a list, or the API's own format."""
    if isinstance(value, list):
        found = [_calls_in(one) for one in cast("list[object]", value)]
        return [call for calls in found for call in calls] if all(found) else []
    if not isinstance(value, dict):
        return []
    fields = cast("dict[str, object]", value)
    if isinstance(inner := fields.get("tool_calls") or fields.get("function"), list | dict):
        return _calls_in(cast("object", inner))
    name = next((fields[key] for key in NAME_KEYS if isinstance(fields.get(key), str)), None)
    arguments = next((fields[key] for key in ARGUMENT_KEYS if key in fields), None)
    if isinstance(arguments, str):
        arguments = _object(arguments)
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return []
    return [_call(name, cast("dict[str, Any]", arguments))]


def _object(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _body(text: str, schema: dict[str, Any] | None) -> Mapping[str, Any]:
    """Return the arguments inside `<function=…>`: a JSON object, or parameters."""
    found = _object(text.strip())
    if isinstance(found, dict):
        return cast("dict[str, Any]", found)
    return _typed(dict(_PARAMETER.findall(text)), schema)


def _typed(values: Mapping[str, str], schema: dict[str, Any] | None) -> dict[str, Any]:
    """Parse values that are not texts by the schema; the tool reports those that do not fit."""
    properties: dict[str, dict[str, Any]] = (schema or {}).get("properties", {})
    typed: dict[str, Any] = {}
    for name, text in values.items():
        is_text = properties.get(name, {}).get("type", "string") == "string"
        parsed = None if is_text else _object(text)
        typed[name] = text if parsed is None else parsed
    return typed
