"""The shape of Anthropic's Messages API: messages, the events of a stream, errors."""

import json
from collections.abc import Mapping
from typing import Any

from forge.demo.anthropic_request import read_request, to_conversation
from forge.demo.cache import CacheSimulator, Usage
from forge.demo.conversation import Conversation, JsonObject
from forge.demo.dialect import Take, Trouble, in_pieces
from forge.demo.playback import Piece
from forge.demo.reply import Block, Redacted, Text, Thinking, ToolUse, signature_of

ERRORS = {
    Trouble.BAD_REQUEST: (400, "invalid_request_error"),
    Trouble.UNAUTHORIZED: (401, "authentication_error"),
    Trouble.NOT_FOUND: (404, "not_found_error"),
    Trouble.RATE_LIMIT: (429, "rate_limit_error"),
    Trouble.SERVER_ERROR: (500, "api_error"),
    Trouble.OVERLOADED: (529, "overloaded_error"),
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

    def answer(self, take: Take) -> JsonObject:
        content = [_whole(block) for block in take.reply.blocks]
        usage = _usage(take.usage, take.usage.output_tokens)
        return {**_message(take), "content": content, "stop_reason": take.reply.stop, "usage": usage}

    def stream(self, take: Take) -> list[Piece]:
        message = {**_message(take), "usage": _usage(take.usage, 1)}
        pieces = [_event("message_start", message=message), _event("ping")]
        for index, block in enumerate(take.reply.blocks):
            pieces += _block_events(index, block, take.piece_chars)
        delta = {"stop_reason": take.reply.stop, "stop_sequence": None}
        usage = _usage(take.usage, take.usage.output_tokens)
        return [*pieces, _event("message_delta", delta=delta, usage=usage), _event("message_stop")]

    def status(self, trouble: Trouble) -> int:
        return ERRORS[trouble][0]

    def error(self, trouble: Trouble, message: str, request_id: str) -> JsonObject:
        error = {"type": ERRORS[trouble][1], "message": message}
        return {"type": "error", "error": error, "request_id": request_id}

    def error_event(self, trouble: Trouble, message: str) -> bytes:
        return _event("error", error={"type": ERRORS[trouble][1], "message": message}).data

    def models(self, names: list[str]) -> JsonObject:
        data = [
            {"type": "model", "id": name, "display_name": name, "created_at": "2026-01-01T00:00:00Z"}
            for name in names
        ]
        return {"data": data, "has_more": False, "first_id": names[0], "last_id": names[-1]}


def _message(take: Take) -> JsonObject:
    return {
        "id": f"msg_{take.message_id}",
        "type": "message",
        "role": "assistant",
        "model": take.model,
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


def _whole(block: Block) -> JsonObject:
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
    """Broken JSON has no place in a whole message; the real API gives an empty input then."""
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
            empty, deltas = _whole(block), []
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
