"""Scripted faults: instead of an answer, in its content, or during its transmission.

The number of faults is the only state the server keeps about a conversation.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from forge.demo.dialect import ApiError, ApiErrorKind
from forge.demo.exchange import Block, Redacted, Reply, Text, Thinking, ToolUse
from forge.demo.model_script import Fault, FaultKind, StopReason
from forge.demo.playback import Piece, Playback
from forge.demo.reply_writer import ScriptPosition

ERROR_RESPONSES = {
    FaultKind.BAD_REQUEST: (ApiErrorKind.BAD_REQUEST, "the script says so"),
    FaultKind.PROMPT_TOO_LONG: (
        ApiErrorKind.BAD_REQUEST,
        "prompt is too long: 250000 tokens > 200000 maximum",
    ),
    FaultKind.UNAUTHORIZED: (ApiErrorKind.UNAUTHORIZED, "invalid x-api-key"),
    FaultKind.RATE_LIMIT: (ApiErrorKind.RATE_LIMIT, "This request would exceed your account's rate limit."),
    FaultKind.SERVER_ERROR: (ApiErrorKind.SERVER_ERROR, "Internal server error"),
    FaultKind.OVERLOADED: (ApiErrorKind.OVERLOADED, "Overloaded"),
    FaultKind.LOADING: (ApiErrorKind.UNAVAILABLE, "Loading model"),
}
BAD_GATEWAY_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>"
UNKNOWN_TOOL = "no_such_tool"


class FaultCounter:
    """Counts the faults of each turn in each conversation."""

    def __init__(self) -> None:
        self._happened: Counter[tuple[str, int, int]] = Counter()

    def next_due(self, cue: ScriptPosition) -> Fault | None:
        """Return the turn's next fault that is still due, and count it."""
        if cue.plan is None:
            return None
        for index, fault in enumerate(cue.plan.faults):
            if fault.kind is FaultKind.PAUSE_TURN:
                continue  # depends only on the request
            key = (cue.conversation, cue.turn, index)
            if fault.times is None or self._happened[key] < fault.times:
                self._happened[key] += 1
                return fault
        return None

    def forget(self) -> None:
        self._happened.clear()


def refusal_for(fault: Fault, *, is_stream: bool) -> ApiError | None:
    """Return the error response for a fault, if it has one. Without streaming, an error event is an error response."""
    kind = FaultKind.OVERLOADED if fault.kind is FaultKind.ERROR_EVENT and not is_stream else fault.kind
    if kind not in ERROR_RESPONSES:
        return None
    error, message = ERROR_RESPONSES[kind]
    return ApiError(error, fault.message or message, fault.retry_after_s)


def spoil_reply(reply: Reply, fault: Fault) -> Reply:
    """Apply a fault to the content of a reply."""
    match fault.kind:
        case FaultKind.EMPTY:
            return Reply((), StopReason.END_TURN)
        case FaultKind.REPETITION:
            return Reply(_repeat_last(reply.blocks, fault.repeats), StopReason.MAX_TOKENS)
        case FaultKind.MAX_TOKENS:
            return Reply(_cut_last(reply.blocks), StopReason.MAX_TOKENS)
        case FaultKind.REFUSAL:
            return Reply(_cut_last(_without_tools(reply.blocks)), StopReason.REFUSAL)
        case FaultKind.CONTEXT_WINDOW:
            return Reply(_cut_last(_without_tools(reply.blocks)), StopReason.CONTEXT_WINDOW)
        case FaultKind.MALFORMED_JSON:
            return _with_tools(reply, lambda tool: replace(tool, arguments=_broken(tool.arguments)))
        case FaultKind.WRONG_TYPES:
            return _with_tools(reply, lambda tool: replace(tool, arguments=_with_wrong_types(tool.arguments)))
        case FaultKind.UNKNOWN_TOOL:
            return _with_tools(reply, lambda tool: replace(tool, name=UNKNOWN_TOOL))
        case FaultKind.DUPLICATE_IDS:
            first = reply.tool_uses[0].id
            return _with_tools(reply, lambda tool: replace(tool, id=first))
        case _:
            return reply


def _with_tools(reply: Reply, change: Callable[[ToolUse], ToolUse]) -> Reply:
    blocks = tuple(change(block) if isinstance(block, ToolUse) else block for block in reply.blocks)
    return replace(reply, blocks=blocks)


def _without_tools(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    return tuple(block for block in blocks if not isinstance(block, ToolUse))


def _cut_last(blocks: tuple[Block, ...]) -> tuple[Block, ...]:
    if not blocks:
        return ()
    match blocks[-1]:
        case Text(text):
            last: Block = Text(_half(text))
        case Thinking(text):
            last = Thinking(_half(text))
        case ToolUse(arguments=arguments) as tool:
            last = replace(tool, arguments=_broken(arguments))
        case Redacted() as last:
            pass
    return (*blocks[:-1], last)


def _repeat_last(blocks: tuple[Block, ...], times: int) -> tuple[Block, ...]:
    match blocks[-1]:
        case Text(text):
            last: Block = Text(text * times)
        case Thinking(text):
            last = Thinking(text * times)
        case ToolUse(arguments=arguments) as tool:
            last = replace(tool, arguments=arguments.removesuffix("}") * times)
        case Redacted() as last:
            pass
    return (*blocks[:-1], last)


def _half(text: str) -> str:
    return text[: max(1, len(text) // 2)]


def _broken(arguments: str) -> str:
    """Truncate JSON so that it is invalid."""
    return arguments[: max(1, len(arguments) * 2 // 3)] if len(arguments) > 2 else "{"


def _with_wrong_types(arguments: str) -> str:
    values: dict[str, Any] = json.loads(arguments)
    wrong = {
        name: ["not", "this"] if isinstance(value, str) else "not this" for name, value in values.items()
    }
    return json.dumps(wrong or {"unexpected": ["not", "this"]})


def spoil_stream(playback: Playback, fault: Fault, error_event: bytes) -> Playback:
    """Apply a fault to the transmission of a streamed answer."""
    pieces = playback.pieces
    position = _position(pieces, 2 if fault.after is None else fault.after)
    match fault.kind:
        case FaultKind.STALL if not fault.after:
            return replace(playback, wait_s=fault.seconds)
        case FaultKind.STALL:
            late = replace(pieces[position], wait_s=fault.seconds)
            return replace(playback, pieces=(*pieces[:position], late, *pieces[position + 1 :]))
        case FaultKind.CUT:
            return replace(playback, pieces=pieces[:position], is_cut=True)
        case FaultKind.CLEAN_CUT:
            return replace(playback, pieces=pieces[:position])
        case FaultKind.NO_FINISH_REASON:
            return replace(playback, pieces=tuple(piece for piece in pieces if not piece.is_stop))
        case FaultKind.ERROR_EVENT:
            return replace(playback, pieces=(*pieces[:position], Piece(error_event)))
        case FaultKind.DUPLICATE_START:
            return replace(playback, pieces=(pieces[0], *pieces))
        case FaultKind.SPLICED:
            return replace(playback, pieces=(*pieces[:position], *pieces))
        case _:
            return playback


def _position(pieces: tuple[Piece, ...], content: int) -> int:
    """Return the position after a number of content pieces; before the last piece if there are fewer."""
    content_positions = [index for index, piece in enumerate(pieces) if piece.is_content]
    if content == 0:
        return min(content_positions[0] if content_positions else 1, len(pieces) - 1)
    behind = content_positions[content - 1] + 1 if content <= len(content_positions) else len(pieces) - 1
    return min(behind, len(pieces) - 1)


def spoil_whole(playback: Playback, fault: Fault) -> Playback:
    """Apply a fault to the transmission of an unstreamed answer."""
    if fault.kind is FaultKind.STALL:
        return replace(playback, wait_s=fault.seconds)
    if fault.kind in (FaultKind.CUT, FaultKind.CLEAN_CUT):
        [whole] = playback.pieces
        return replace(playback, pieces=(Piece(whole.data[: len(whole.data) // 2]),), is_cut=True)
    return playback
