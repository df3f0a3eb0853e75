"""OpenAI's Chat Completions API: validate requests, build responses, stream chunks and errors."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from forge.demo.dialect import ApiErrorKind, RenderedReply, in_pieces, malformed_request
from forge.demo.exchange import (
    AnswerForm,
    Conversation,
    JsonObject,
    OfferedTool,
    Reply,
    Text,
    Thinking,
    ToolResult,
    count_replies,
)
from forge.demo.model_script import StopReason
from forge.demo.playback import Piece
from forge.demo.prompt_cache import CacheSimulator, Usage
from forge.errors import Malformed


class _LenientModel(BaseModel):
    model_config = ConfigDict(extra="allow")


class Part(_LenientModel):
    type: str
    text: str = ""


class FunctionCall(_LenientModel):
    name: str
    arguments: str = ""


class ToolCall(_LenientModel):
    id: str
    function: FunctionCall


class Message(_LenientModel):
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[Part] | None = None
    tool_calls: list[ToolCall] | None = None
    tool_call_id: str | None = None

    def text(self) -> str:
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class Function(_LenientModel):
    name: str
    parameters: JsonObject = Field(default_factory=dict[str, Any])


class Tool(_LenientModel):
    type: Literal["function"]
    function: Function


class StreamOptions(_LenientModel):
    include_usage: bool = False


class Request(_LenientModel):
    model: str = Field(min_length=1)
    messages: list[Message] = Field(min_length=1)
    tools: list[Tool] = Field(default_factory=list[Tool])
    tool_choice: str | JsonObject | None = None
    response_format: JsonObject | None = None
    stream: bool = False
    stream_options: StreamOptions | None = None


def read_request(body: JsonObject) -> Request:
    try:
        request = Request.model_validate(body)
    except ValidationError as error:
        raise malformed_request(error) from error
    _check_order(request.messages)
    return request


def _check_order(messages: list[Message]) -> None:
    """Check that each tool call is answered before the next message, and that there are no other answers."""
    open_calls: list[str] = []
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.tool_call_id not in open_calls:
                raise Malformed(
                    f"messages.{index}: messages with role 'tool' must be a response to a preceding message "
                    "with 'tool_calls'."
                )
            open_calls.remove(message.tool_call_id)
        elif open_calls:
            raise Malformed(
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                "'tool_call_id'. The following tool_call_ids did not have response messages: "
                f"{', '.join(open_calls)}"
            )
        open_calls += [call.id for call in message.tool_calls or []]


def to_conversation(request: Request) -> Conversation:
    messages = request.messages
    dialog = [message for message in messages if message.role not in ("system", "developer")]
    is_continued = bool(dialog) and dialog[-1].role == "assistant"
    texts = [message.text() for message in dialog if message.role == "user"]
    return Conversation(
        model=request.model,
        system="\n".join(message.text() for message in messages if message not in dialog),
        user_texts=tuple(text for text in texts if text),
        replies=count_replies([message.role for message in dialog]) - is_continued,
        is_continued=is_continued,
        transcript="\n".join(message.text() for message in dialog),
        results=tuple(_results(dialog)),
        tools=tuple(OfferedTool(tool.function.name, tool.function.parameters) for tool in request.tools),
        demand=_demand(request),
        wants_stream=request.stream,
        wants_usage=request.stream_options is not None and request.stream_options.include_usage,
    )


def _results(messages: list[Message]) -> list[ToolResult]:
    names = {call.id: call.function.name for message in messages for call in message.tool_calls or []}
    return [
        ToolResult(names.get(message.tool_call_id or "", ""), message.text())
        for message in messages
        if message.role == "tool"
    ]


def _demand(request: Request) -> AnswerForm | None:
    form = request.response_format or {}
    if form.get("type") == "json_schema":
        return AnswerForm(cast(JsonObject, form.get("json_schema", {})).get("schema", {}))
    if form.get("type") == "json_object":
        return AnswerForm({"type": "object"})
    choice = request.tool_choice
    if not request.tools or choice in (None, "auto", "none"):
        return None
    functions = [tool.function for tool in request.tools]
    if isinstance(choice, dict):
        name = choice.get("function", {}).get("name")
        functions = [function for function in functions if function.name == name]
        if not functions:
            raise Malformed(f"Tool choice '{name}' not found in 'tools' parameter.")
    return AnswerForm(functions[-1].parameters, functions[-1].name)


ERRORS = {
    ApiErrorKind.BAD_REQUEST: (400, "invalid_request_error", None),
    ApiErrorKind.UNAUTHORIZED: (401, "invalid_request_error", "invalid_api_key"),
    ApiErrorKind.NOT_FOUND: (404, "invalid_request_error", "model_not_found"),
    ApiErrorKind.RATE_LIMIT: (429, "requests", "rate_limit_exceeded"),
    ApiErrorKind.SERVER_ERROR: (500, "server_error", None),
    ApiErrorKind.OVERLOADED: (503, "server_error", "overloaded"),
    ApiErrorKind.UNAVAILABLE: (503, "unavailable_error", None),
}
FINISH_REASONS = {
    StopReason.END_TURN: "stop",
    StopReason.STOP_SEQUENCE: "stop",
    StopReason.PAUSE_TURN: "stop",
    StopReason.TOOL_USE: "tool_calls",
    StopReason.MAX_TOKENS: "length",
    StopReason.CONTEXT_WINDOW: "length",
    StopReason.REFUSAL: "content_filter",
}
RATE_LIMITS = {
    "x-ratelimit-limit-requests": "4000",
    "x-ratelimit-remaining-requests": "3999",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-limit-tokens": "4000000",
    "x-ratelimit-remaining-tokens": "3999000",
    "x-ratelimit-reset-tokens": "1s",
}
CACHE_STEP_TOKENS = 128


class OpenAIDialect:
    name = "openai"

    def __init__(self) -> None:
        self._cache = _prefix_cache()

    def read(self, body: JsonObject) -> Conversation:
        return to_conversation(read_request(body))

    def key(self, headers: Mapping[str, str]) -> str | None:
        return headers.get("authorization", "").removeprefix("Bearer ") or None

    def wrong_key(self, headers: Mapping[str, str]) -> str:
        key = self.key(headers)
        return f"Incorrect API key provided: ***{key[-4:]}." if key else "You didn't provide an API key."

    def headers(self, request_id: str) -> dict[str, str]:
        return {"x-request-id": request_id, **RATE_LIMITS}

    def account(self, body: JsonObject, now: float) -> Usage:
        """Count a request: long prefixes are cached automatically, in steps of 128 tokens, and cache writes are free."""
        prompt = {name: body.get(name) for name in ("model", "tools", "messages")}
        counted = self._cache.account({**prompt, "cache_control": {"type": "ephemeral"}}, now)
        read = counted.cache_read_input_tokens // CACHE_STEP_TOKENS * CACHE_STEP_TOKENS
        return Usage(input_tokens=counted.prompt_tokens - read, cache_read_input_tokens=read)

    def forget(self) -> None:
        self._cache = _prefix_cache()

    def answer(self, rendered: RenderedReply) -> JsonObject:
        reply = rendered.reply
        message: JsonObject = {"role": "assistant", "content": _text(reply) or None, "refusal": None}
        if thinking := _thinking(reply):
            message["reasoning_content"] = thinking
        if calls := _calls(reply):
            message["tool_calls"] = calls
        choice = _choice("message", message, FINISH_REASONS[reply.stop])
        return {
            **_completion(rendered, "chat.completion"),
            "choices": [choice],
            "usage": _usage(rendered.usage),
        }

    def stream(self, rendered: RenderedReply) -> list[Piece]:
        base = _completion(rendered, "chat.completion.chunk")
        if rendered.wants_usage:
            base["usage"] = None
        deltas = _deltas(rendered.reply, rendered.piece_chars)
        first, last = {"role": "assistant", "content": ""}, FINISH_REASONS[rendered.reply.stop]
        pieces = [_chunk(base, first)]
        pieces += [_chunk(base, delta, is_content=True) for delta in deltas]
        pieces.append(replace(_chunk(base, {}, finish_reason=last), is_stop=True))
        if rendered.wants_usage:
            pieces.append(_data({**base, "choices": [], "usage": _usage(rendered.usage)}))
        return [*pieces, Piece(b"data: [DONE]\n\n")]

    def status(self, kind: ApiErrorKind) -> int:
        return ERRORS[kind][0]

    def error(self, kind: ApiErrorKind, message: str, request_id: str) -> JsonObject:
        _, error_type, code = ERRORS[kind]
        return {"error": {"message": message, "type": error_type, "param": None, "code": code}}

    def error_event(self, kind: ApiErrorKind, message: str) -> bytes:
        return _data(self.error(kind, message, "")).data

    def models(self, names: list[str]) -> JsonObject:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "script"} for name in names]
        return {"object": "list", "data": data}


def _prefix_cache() -> CacheSimulator:
    return CacheSimulator(look_back_blocks=100_000, writes_every_block=True)


def _completion(rendered: RenderedReply, kind: str) -> JsonObject:
    return {
        "id": f"chatcmpl-{rendered.message_id}",
        "object": kind,
        "created": rendered.created,
        "model": rendered.model,
    }


def _choice(name: str, content: JsonObject, finish_reason: str | None) -> JsonObject:
    return {"index": 0, name: content, "finish_reason": finish_reason, "logprobs": None}


def _usage(usage: Usage) -> JsonObject:
    return {
        "prompt_tokens": usage.prompt_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.prompt_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cache_read_input_tokens},
    }


def _text(reply: Reply) -> str:
    return "".join(block.text for block in reply.blocks if isinstance(block, Text))


def _thinking(reply: Reply) -> str:
    return "".join(block.text for block in reply.blocks if isinstance(block, Thinking))


def _calls(reply: Reply) -> list[JsonObject]:
    return [_call(tool.id, tool.name, tool.arguments) for tool in reply.tool_uses]


def _call(tool_id: str, name: str, arguments: str) -> JsonObject:
    return {"id": tool_id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _deltas(reply: Reply, size: int) -> list[JsonObject]:
    deltas: list[JsonObject] = [{"reasoning_content": part} for part in in_pieces(_thinking(reply), size)]
    deltas += [{"content": part} for part in in_pieces(_text(reply), size)]
    for index, tool in enumerate(reply.tool_uses):
        deltas.append({"tool_calls": [{"index": index, **_call(tool.id, tool.name, "")}]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": part}}]}
            for part in in_pieces(tool.arguments, size)
        ]
    return deltas


def _chunk(
    base: JsonObject, delta: JsonObject, *, finish_reason: str | None = None, is_content: bool = False
) -> Piece:
    return _data({**base, "choices": [_choice("delta", delta, finish_reason)]}, is_content=is_content)


def _data(content: Any, *, is_content: bool = False) -> Piece:
    return Piece(f"data: {json.dumps(content, ensure_ascii=False)}\n\n".encode(), is_content=is_content)
