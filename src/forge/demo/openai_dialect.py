"""The shape of OpenAI's Chat Completions API: completions, the chunks of a stream, errors."""

import json
from collections.abc import Mapping
from typing import Any

from forge.demo.cache import CacheSimulator, Usage
from forge.demo.conversation import Conversation, JsonObject
from forge.demo.dialect import Take, Trouble, in_pieces
from forge.demo.openai_request import read_request, to_conversation
from forge.demo.playback import Piece
from forge.demo.reply import Reply, Text, Thinking
from forge.demo.script import StopReason

ERRORS = {
    Trouble.BAD_REQUEST: (400, "invalid_request_error", None),
    Trouble.UNAUTHORIZED: (401, "invalid_request_error", "invalid_api_key"),
    Trouble.NOT_FOUND: (404, "invalid_request_error", "model_not_found"),
    Trouble.RATE_LIMIT: (429, "requests", "rate_limit_exceeded"),
    Trouble.SERVER_ERROR: (500, "server_error", None),
    Trouble.OVERLOADED: (503, "server_error", "overloaded"),
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
        """Every long prefix is cached without being asked, in steps of 128 tokens, and writing costs nothing."""
        prompt = {name: body.get(name) for name in ("model", "tools", "messages")}
        counted = self._cache.account({**prompt, "cache_control": {"type": "ephemeral"}}, now)
        read = counted.cache_read_input_tokens // CACHE_STEP_TOKENS * CACHE_STEP_TOKENS
        return Usage(input_tokens=counted.prompt_tokens - read, cache_read_input_tokens=read)

    def forget(self) -> None:
        self._cache = _prefix_cache()

    def answer(self, take: Take) -> JsonObject:
        reply = take.reply
        message: JsonObject = {"role": "assistant", "content": _text(reply) or None, "refusal": None}
        if thinking := _thinking(reply):
            message["reasoning_content"] = thinking
        if calls := _calls(reply):
            message["tool_calls"] = calls
        choice = _choice("message", message, FINISH_REASONS[reply.stop])
        return {**_completion(take, "chat.completion"), "choices": [choice], "usage": _usage(take.usage)}

    def stream(self, take: Take) -> list[Piece]:
        base = _completion(take, "chat.completion.chunk")
        if take.wants_usage:
            base["usage"] = None
        deltas = _deltas(take.reply, take.piece_chars)
        first, last = {"role": "assistant", "content": ""}, FINISH_REASONS[take.reply.stop]
        pieces = [_chunk(base, first)]
        pieces += [_chunk(base, delta, is_content=True) for delta in deltas]
        pieces.append(_chunk(base, {}, finish_reason=last))
        if take.wants_usage:
            pieces.append(_data({**base, "choices": [], "usage": _usage(take.usage)}))
        return [*pieces, Piece(b"data: [DONE]\n\n")]

    def status(self, trouble: Trouble) -> int:
        return ERRORS[trouble][0]

    def error(self, trouble: Trouble, message: str, request_id: str) -> JsonObject:
        _, kind, code = ERRORS[trouble]
        return {"error": {"message": message, "type": kind, "param": None, "code": code}}

    def error_event(self, trouble: Trouble, message: str) -> bytes:
        return _data(self.error(trouble, message, "")).data

    def models(self, names: list[str]) -> JsonObject:
        data = [{"id": name, "object": "model", "created": 0, "owned_by": "script"} for name in names]
        return {"object": "list", "data": data}


def _prefix_cache() -> CacheSimulator:
    return CacheSimulator(look_back_blocks=100_000, writes_every_block=True)


def _completion(take: Take, kind: str) -> JsonObject:
    return {"id": f"chatcmpl-{take.message_id}", "object": kind, "created": take.created, "model": take.model}


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
