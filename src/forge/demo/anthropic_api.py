"""Anthropic's Messages API: validate requests, build responses, stream events and errors."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.demo.dialect import ApiErrorKind, RenderedReply, in_pieces, malformed_request
from forge.demo.exchange import (
    AnswerForm,
    Block,
    Conversation,
    JsonObject,
    OfferedTool,
    Redacted,
    Text,
    Thinking,
    ToolResult,
    ToolUse,
    count_replies,
    signature_of,
)
from forge.demo.playback import Piece
from forge.demo.prompt_cache import CacheSimulator, Usage
from forge.errors import Malformed


class _LenientModel(BaseModel):
    model_config = ConfigDict(extra="allow")


class ContentBlock(_LenientModel):
    type: str
    text: str = ""
    id: str = ""
    name: str = ""
    input: Any = None
    tool_use_id: str = ""
    content: "str | list[ContentBlock] | None" = ""
    thinking: str = ""
    signature: str = ""


class Message(_LenientModel):
    role: Literal["user", "assistant", "system"]
    content: str | list[ContentBlock]

    def blocks(self) -> list[ContentBlock]:
        return (
            [ContentBlock(type="text", text=self.content)] if isinstance(self.content, str) else self.content
        )

    def of_type(self, kind: str) -> list[ContentBlock]:
        return [block for block in self.blocks() if block.type == kind]

    def text(self) -> str:
        return "\n".join(block.text for block in self.of_type("text"))


class Tool(_LenientModel):
    name: str
    input_schema: JsonObject = Field(default_factory=dict[str, Any])


class ToolChoice(_LenientModel):
    type: Literal["auto", "any", "tool", "none"]
    name: str = ""


class Request(_LenientModel):
    model: str = Field(min_length=1)
    max_tokens: int = Field(ge=0)
    messages: list[Message] = Field(min_length=1)
    system: str | list[ContentBlock] = ""
    tools: list[Tool] = Field(default_factory=list[Tool])
    tool_choice: ToolChoice | None = None
    stream: bool = False
    output_config: JsonObject = Field(default_factory=dict[str, Any])
    output_format: JsonObject | None = None


class CountRequest(Request):
    """A request to count tokens; `max_tokens` is optional."""

    max_tokens: int = 0


def read_request(body: JsonObject, kind: type[Request] = Request) -> Request:
    try:
        request = kind.model_validate(body)
    except ValidationError as error:
        raise malformed_request(error) from error
    _check_order(request.messages)
    _check_signatures(request.messages)
    return request


def _check_order(messages: list[Message]) -> None:
    """Check that each tool call is answered in the next message, and that there are no other answers."""
    if messages[0].role == "assistant":
        raise Malformed('messages: first message must use the "user" role')
    called: list[str] = []
    seen: set[str] = set()
    for index, role, blocks in _turns(messages):
        if role == "user":
            _check_answers(
                index, called, [block.tool_use_id for block in blocks if block.type == "tool_result"]
            )
        called = [block.id for block in blocks if block.type == "tool_use"]
        if len(set(called)) < len(called) or seen & set(called):
            raise Malformed(f"messages.{index}: `tool_use` ids must be unique")
        seen |= set(called)


def _turns(messages: list[Message]) -> list[tuple[int, str, list[ContentBlock]]]:
    """Join consecutive messages of the same role."""
    turns: list[tuple[int, str, list[ContentBlock]]] = []
    for index, message in enumerate(messages):
        if turns and turns[-1][1] == message.role:
            turns[-1][2].extend(message.blocks())
        elif message.role != "system":
            turns.append((index, message.role, list(message.blocks())))
    return turns


def _check_answers(index: int, called: list[str], answered: list[str]) -> None:
    if stray := [tool_id for tool_id in answered if tool_id not in called]:
        raise Malformed(
            f"messages.{index}: unexpected `tool_use_id` found in `tool_result` blocks: {stray[0]}. Each "
            "`tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    if missing := [tool_id for tool_id in called if tool_id not in answered]:
        raise Malformed(
            f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}."
        )


def _check_signatures(messages: list[Message]) -> None:
    for index, message in enumerate(messages):
        for block in message.of_type("thinking"):
            if block.signature != signature_of(block.thinking):
                raise Malformed(f"messages.{index}: Invalid `signature` in `thinking` block")


def to_conversation(request: Request) -> Conversation:
    messages = [message for message in request.messages if message.role != "system"]
    texts = [message.text() for message in messages if message.role == "user"]
    is_continued = messages[-1].role == "assistant"
    return Conversation(
        model=request.model,
        system=_system_text(request),
        user_texts=tuple(text for text in texts if text),
        replies=count_replies([message.role for message in messages]) - is_continued,
        is_continued=is_continued,
        transcript="\n".join(_words(message) for message in messages),
        results=tuple(_results(messages)),
        tools=tuple(OfferedTool(tool.name, tool.input_schema) for tool in request.tools),
        demand=_demand(request),
        wants_stream=request.stream,
    )


def _system_text(request: Request) -> str:
    system = request.system
    parts = [system] if isinstance(system, str) else [block.text for block in system]
    return "\n".join([*parts, *(message.text() for message in request.messages if message.role == "system")])


def _words(message: Message) -> str:
    return "\n".join(block.text or block.thinking or _result_text(block) for block in message.blocks())


def _results(messages: list[Message]) -> list[ToolResult]:
    names = {block.id: block.name for message in messages for block in message.of_type("tool_use")}
    return [
        ToolResult(names.get(block.tool_use_id, ""), _result_text(block))
        for message in messages
        for block in message.of_type("tool_result")
    ]


def _result_text(block: ContentBlock) -> str:
    if isinstance(block.content, list):
        return "\n".join(inner.text for inner in block.content)
    return block.content or ""


def _demand(request: Request) -> AnswerForm | None:
    form = request.output_format or request.output_config.get("format")
    if isinstance(form, dict) and cast(JsonObject, form).get("type") == "json_schema":
        return AnswerForm(cast(JsonObject, form).get("schema", {}))
    choice = request.tool_choice
    if choice is None or choice.type not in ("any", "tool") or not request.tools:
        return None
    named = [tool for tool in request.tools if tool.name == choice.name]
    if choice.type == "tool" and not named:
        raise Malformed(f"tool_choice: Tool '{choice.name}' not found in provided tools")
    tool = (named or request.tools)[-1]
    return AnswerForm(tool.input_schema, tool.name)


ERRORS = {
    ApiErrorKind.BAD_REQUEST: (400, "invalid_request_error"),
    ApiErrorKind.UNAUTHORIZED: (401, "authentication_error"),
    ApiErrorKind.NOT_FOUND: (404, "not_found_error"),
    ApiErrorKind.RATE_LIMIT: (429, "rate_limit_error"),
    ApiErrorKind.SERVER_ERROR: (500, "api_error"),
    ApiErrorKind.OVERLOADED: (529, "overloaded_error"),
    ApiErrorKind.UNAVAILABLE: (503, "api_error"),
}
RATE_LIMITS = {
    "anthropic-ratelimit-requests-limit": "4000",
    "anthropic-ratelimit-requests-remaining": "3999",
    "anthropic-ratelimit-requests-reset": "2026-01-01T00:00:00Z",
    "anthropic-ratelimit-tokens-limit": "4000000",
    "anthropic-ratelimit-tokens-remaining": "3999000",
    "anthropic-ratelimit-tokens-reset": "2026-01-01T00:00:00Z",
}


class AnthropicDialect:
    name = "anthropic"

    def __init__(self) -> None:
        self._cache = CacheSimulator()

    def read(self, body: JsonObject) -> Conversation:
        return to_conversation(read_request(body))

    def key(self, headers: Mapping[str, str]) -> str | None:
        return headers.get("x-api-key") or headers.get("authorization", "").removeprefix("Bearer ") or None

    def wrong_key(self, headers: Mapping[str, str]) -> str:
        return "invalid x-api-key" if self.key(headers) else "x-api-key header is required"

    def headers(self, request_id: str) -> dict[str, str]:
        return {"request-id": request_id, **RATE_LIMITS}

    def account(self, body: JsonObject, now: float) -> Usage:
        return self._cache.account(body, now)

    def forget(self) -> None:
        self._cache = CacheSimulator()

    def answer(self, rendered: RenderedReply) -> JsonObject:
        content = [_content_block(block) for block in rendered.reply.blocks]
        usage = _usage(rendered.usage, rendered.usage.output_tokens)
        return {**_message(rendered), "content": content, "stop_reason": rendered.reply.stop, "usage": usage}

    def stream(self, rendered: RenderedReply) -> list[Piece]:
        message = {**_message(rendered), "usage": _usage(rendered.usage, 1)}
        pieces = [_event("message_start", message=message), _event("ping")]
        for index, block in enumerate(rendered.reply.blocks):
            pieces += _block_events(index, block, rendered.piece_chars)
        delta = {"stop_reason": rendered.reply.stop, "stop_sequence": None}
        usage = _usage(rendered.usage, rendered.usage.output_tokens)
        return [
            *pieces,
            replace(_event("message_delta", delta=delta, usage=usage), is_stop=True),
            _event("message_stop"),
        ]

    def status(self, kind: ApiErrorKind) -> int:
        return ERRORS[kind][0]

    def error(self, kind: ApiErrorKind, message: str, request_id: str) -> JsonObject:
        error = {"type": ERRORS[kind][1], "message": message}
        return {"type": "error", "error": error, "request_id": request_id}

    def error_event(self, kind: ApiErrorKind, message: str) -> bytes:
        return _event("error", error={"type": ERRORS[kind][1], "message": message}).data

    def models(self, names: list[str]) -> JsonObject:
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
            for name in names
        ]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _message(rendered: RenderedReply) -> JsonObject:
    return {
        "id": f"msg_{rendered.message_id}",
        "type": "message",
        "role": "assistant",
        "model": rendered.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    }


def _usage(usage: Usage, output_tokens: int) -> JsonObject:
    return {
        "input_tokens": usage.input_tokens,
        "cache_read_input_tokens": usage.cache_read_input_tokens,
        "cache_creation_input_tokens": usage.cache_creation_input_tokens,
        "cache_creation": {
            "ephemeral_5m_input_tokens": usage.ephemeral_5m_input_tokens,
            "ephemeral_1h_input_tokens": usage.ephemeral_1h_input_tokens,
        },
        "output_tokens": output_tokens,
        "service_tier": "standard",
    }


def _content_block(block: Block) -> JsonObject:
    match block:
        case Text():
            return {"type": "text", "text": block.text}
        case Thinking():
            return {"type": "thinking", "thinking": block.text, "signature": signature_of(block.text)}
        case Redacted():
            return {"type": "redacted_thinking", "data": block.data}
        case ToolUse():
            return {"type": "tool_use", "id": block.id, "name": block.name, "input": _parsed(block.arguments)}


def _parsed(arguments: str) -> Any:
    """Parse arguments; for broken JSON a complete message has an empty input, as in the real API."""
    try:
        return json.loads(arguments)
    except ValueError:
        return {}


def _block_events(index: int, block: Block, size: int) -> list[Piece]:
    match block:
        case Text():
            empty: JsonObject = {"type": "text", "text": ""}
            deltas = [{"type": "text_delta", "text": part} for part in in_pieces(block.text, size)]
        case Thinking():
            empty = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": part} for part in in_pieces(block.text, size)]
            deltas.append({"type": "signature_delta", "signature": signature_of(block.text)})
        case Redacted():
            empty, deltas = _content_block(block), []
        case ToolUse():
            empty = {"type": "tool_use", "id": block.id, "name": block.name, "input": {}}
            parts = ["", *in_pieces(block.arguments, size)]
            deltas = [{"type": "input_json_delta", "partial_json": part} for part in parts]
    return [
        _event("content_block_start", index=index, content_block=empty),
        *(_event("content_block_delta", index=index, delta=delta) for delta in deltas),
        _event("content_block_stop", index=index),
    ]


def _event(name: str, **data: Any) -> Piece:
    text = json.dumps({"type": name, **data}, ensure_ascii=False)
    return Piece(f"event: {name}\ndata: {text}\n\n".encode(), is_content=name == "content_block_delta")
