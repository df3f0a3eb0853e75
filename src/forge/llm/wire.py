"""A conversation as pydantic-ai carries it, there and back. Importing it takes seconds, as with `adapter`."""

import json
from collections.abc import Sequence

from pydantic_ai import messages as wire

from forge.kernel.text import whole_characters
from forge.llm.messages import AssistantMessage, Text, Thinking, ToolCall, ToolResult, UserMessage
from forge.llm.models import ProviderKind


def from_wire(part: wire.ModelResponsePart) -> Text | Thinking | ToolCall | None:
    match part:
        case wire.TextPart():
            return Text(text=whole_characters(part.content)) if part.content.strip() else None
        case wire.ThinkingPart():
            return Thinking(
                text=whole_characters(part.content),
                id=part.id,
                signature=part.signature,
                provider=part.provider_name,
            )
        case wire.ToolCallPart():
            arguments = part.args if isinstance(part.args, str) else part.args_as_json_str()
            return ToolCall(
                id=part.tool_call_id,
                name=whole_characters(part.tool_name),
                arguments=whole_characters(arguments) or "{}",
            )
        case _:
            return None


def to_wire(
    messages: Sequence[UserMessage | AssistantMessage], kind: ProviderKind, settled: Sequence[int]
) -> list[wire.ModelMessage]:
    """What was said in a row is one message: providers want the two sides to take turns."""
    marked = settled if kind is ProviderKind.ANTHROPIC else ()
    sent: list[wire.ModelMessage] = []
    for i, message in enumerate(messages):
        if isinstance(message, AssistantMessage):
            sent.append(_response(message, kind))
            continue
        parts = _request_parts(message)
        if i in marked:
            parts.append(wire.UserPromptPart([wire.CachePoint()]))
        if sent and isinstance(last := sent[-1], wire.ModelRequest):
            sent[-1] = wire.ModelRequest([*last.parts, *parts])
        else:
            sent.append(wire.ModelRequest(parts))
    return sent if kind is ProviderKind.ANTHROPIC else [_in_one(message) for message in sent]


def _in_one(message: wire.ModelMessage) -> wire.ModelMessage:
    """With texts in a row as one: where each would be a message of its own, some models take no two of one side."""
    if not isinstance(message, wire.ModelRequest):
        return message
    parts: list[wire.ModelRequestPart] = []
    for part in message.parts:
        match parts[-1:], part:
            case [wire.UserPromptPart(content=str(before))], wire.UserPromptPart(content=str(text)):
                parts[-1] = wire.UserPromptPart(f"{before}\n\n{text}")
            case _:
                parts.append(part)
    return wire.ModelRequest(parts)


def _request_parts(message: UserMessage) -> list[wire.ModelRequestPart]:
    parts: list[wire.ModelRequestPart] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            outcome = "failed" if part.failed else "success"
            parts.append(wire.ToolReturnPart(part.name, part.text, part.call_id, outcome=outcome))
        else:
            parts.append(wire.UserPromptPart(part.text))
    return parts


def _response(message: AssistantMessage, kind: ProviderKind) -> wire.ModelResponse:
    parts: list[wire.ModelResponsePart] = []
    for part in message.parts:
        match part:
            case Text():
                parts.append(wire.TextPart(part.text))
            case Thinking() if part.provider not in (None, kind.value):
                pass  # no other provider may see it
            case Thinking():
                parts.append(
                    wire.ThinkingPart(
                        part.text, id=part.id, signature=part.signature, provider_name=part.provider
                    )
                )
            case ToolCall():
                parts.append(wire.ToolCallPart(part.name, _strict(part.arguments), part.id))
    return wire.ModelResponse(parts)


def _strict(arguments: str) -> str:
    """As the model wrote them, unless no provider would take them back: numbers beyond all, or not an object."""
    try:
        found = json.loads(arguments)
        json.dumps(found, allow_nan=False)
    except (ValueError, RecursionError):
        return json.dumps({"INVALID_JSON": arguments})
    return arguments if isinstance(found, dict) else json.dumps({"INVALID_JSON": arguments})
