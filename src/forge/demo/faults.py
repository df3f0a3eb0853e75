"""What goes wrong on demand: in place of the answer, inside what is said, or on the way.

Counting how often is the only thing the server remembers about a conversation.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from forge.demo.dialect import Refusal, Trouble
from forge.demo.direction import Cue
from forge.demo.playback import Piece, Playback
from forge.demo.reply import Block, Redacted, Reply, Text, Thinking, ToolUse
from forge.demo.script import Fault, FaultKind, StopReason

REFUSALS = {
    FaultKind.BAD_REQUEST: (Trouble.BAD_REQUEST, "the script says so"),
    FaultKind.PROMPT_TOO_LONG: (Trouble.BAD_REQUEST, "prompt is too long: 250000 tokens > 200000 maximum"),
    FaultKind.UNAUTHORIZED: (Trouble.UNAUTHORIZED, "invalid x-api-key"),
    FaultKind.RATE_LIMIT: (Trouble.RATE_LIMIT, "This request would exceed your account's rate limit."),
    FaultKind.SERVER_ERROR: (Trouble.SERVER_ERROR, "Internal server error"),
    FaultKind.OVERLOADED: (Trouble.OVERLOADED, "Overloaded"),
}
BAD_GATEWAY_PAGE = b"<html><head><title>502 Bad Gateway</title></head><body>502 Bad Gateway</body></html>"
UNKNOWN_TOOL = "no_such_tool"


class FaultCounter:
    """How often each fault of a turn has happened in each conversation."""

    def __init__(self) -> None:
        self._happened: Counter[tuple[str, int, int]] = Counter()

    def due(self, cue: Cue) -> Fault | None:
        """The first fault of the turn that has not had its times, counted as happening now."""
        if cue.plan is None:
            return None
        for index, fault in enumerate(cue.plan.faults):
            if fault.kind is FaultKind.PAUSE_TURN:
                continue  # follows from the request, needs no memory
            key = (cue.conversation, cue.turn, index)
            if fault.times is None or self._happened[key] < fault.times:
                self._happened[key] += 1
                return fault
        return None

    def forget(self) -> None:
        self._happened.clear()


def refusal_for(fault: Fault, *, is_stream: bool) -> Refusal | None:
    """A fault in place of the answer. An error in the middle of a stream is one when there is no stream."""
    kind = FaultKind.OVERLOADED if fault.kind is FaultKind.ERROR_EVENT and not is_stream else fault.kind
    if kind not in REFUSALS:
        return None
    trouble, message = REFUSALS[kind]
    return Refusal(trouble, fault.message or message, fault.retry_after_s)


def spoil_reply(reply: Reply, fault: Fault) -> Reply:
    """A fault in what is said."""
    match fault.kind:
        case FaultKind.EMPTY:
            return Reply((), StopReason.END_TURN)
        case FaultKind.MAX_TOKENS:
            return Reply(_cut_last(reply.blocks), StopReason.MAX_TOKENS)
        case FaultKind.REFUSAL:
            return Reply(_cut_last(_without_tools(reply.blocks)), StopReason.REFUSAL)
        case FaultKind.CONTEXT_WINDOW:
            return Reply(_cut_last(_without_tools(reply.blocks)), StopReason.CONTEXT_WINDOW)
        case FaultKind.MALFORMED_JSON:
            return _with_tools(reply, lambda tool: replace(tool, arguments=_broken(tool.arguments)))
        case FaultKind.WRONG_TYPES:
            return _with_tools(reply, lambda tool: replace(tool, arguments=_mistyped(tool.arguments)))
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


def _half(text: str) -> str:
    return text[: max(1, len(text) // 2)]


def _broken(arguments: str) -> str:
    """Never whole, however short it was."""
    return arguments[: max(1, len(arguments) * 2 // 3)] if len(arguments) > 2 else "{"


def _mistyped(arguments: str) -> str:
    given: dict[str, Any] = json.loads(arguments)
    wrong = {name: ["not", "this"] if isinstance(value, str) else "not this" for name, value in given.items()}
    return json.dumps(wrong or {"unexpected": ["not", "this"]})


def spoil_stream(playback: Playback, fault: Fault, error_event: bytes) -> Playback:
    """A fault on the way of a streamed answer."""
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
        case FaultKind.ERROR_EVENT:
            return replace(playback, pieces=(*pieces[:position], Piece(error_event)))
        case FaultKind.DUPLICATE_START:
            return replace(playback, pieces=(pieces[0], *pieces))
        case FaultKind.SPLICED:
            return replace(playback, pieces=(*pieces[:position], *pieces))
        case _:
            return playback


def _position(pieces: tuple[Piece, ...], content: int) -> int:
    """Right behind so many pieces of content; before the last piece when there are fewer."""
    places = [index for index, piece in enumerate(pieces) if piece.is_content]
    if content == 0:
        return min(places[0] if places else 1, len(pieces) - 1)
    behind = places[content - 1] + 1 if content <= len(places) else len(pieces) - 1
    return min(behind, len(pieces) - 1)


def spoil_whole(playback: Playback, fault: Fault) -> Playback:
    """A fault on the way of an answer in one piece."""
    if fault.kind is FaultKind.STALL:
        return replace(playback, wait_s=fault.seconds)
    if fault.kind in (FaultKind.CUT, FaultKind.CLEAN_CUT):
        [whole] = playback.pieces
        return replace(playback, pieces=(Piece(whole.data[: len(whole.data) // 2]),), is_cut=True)
    return playback
