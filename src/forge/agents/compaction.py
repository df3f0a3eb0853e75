"""Compact a conversation to fit the model's context window while keeping prompt caching effective.

Every change of messages that were already sent invalidates the provider's cache, so changes are made in
batches: none for many turns, then all old tool results together. Pinned messages (the directive, messages from
people, audit findings, the text of a skill) and the last turns are never changed. Turns are only dropped if
shortening is not enough, and always as a whole: every provider rejects a tool call without its result.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from forge.llm.messages import (
    AssistantMessage,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UserMessage,
)

Turn = list[UserMessage | AssistantMessage]

COMPACT_ABOVE = 0.75
"""Share of the window at which the conversation is compacted."""
COMPACT_TO = 0.45
"""Share of the window after compaction."""
KEPT_TURNS = 2
"""The last turns stay unchanged, unless they alone fill the window."""
STALE_TOKENS = 16_000
"""Tokens in old results that justify invalidating the prompt cache (`make bench ARGS=tokens`)."""
BYTES_PER_TOKEN = 4
MIN_SHORTENED_CHARS = 600
"""Shorter results are kept: shortening them saves nothing."""
KEPT_CHARS = 200
MAX_LISTED_CALLS = 40
PART_OVERHEAD_BYTES = 40
"""Bytes of JSON around each part."""
_SHORTENED = "[… shortened, {omitted:,} characters omitted; use the tool again if you need them]"


@dataclass(frozen=True)
class Compacted:
    history: list[UserMessage | AssistantMessage]
    tokens_before: int
    tokens_after: int
    results_shortened: int
    messages_dropped: int
    settled: int
    """Index of the last message that stays unchanged until turns are dropped: a good cache breakpoint."""


def compact(
    history: Sequence[UserMessage | AssistantMessage],
    *,
    overhead_tokens: int,
    window: int,
    forced: bool = False,
) -> Compacted | None:
    """Compact the conversation, or return None if it is not needed. `forced`: the provider rejected it as too long."""
    before = overhead_tokens + estimate(history)
    turns = _turns(history)
    is_full = forced or before > COMPACT_ABOVE * window
    if not is_full and _stale_tokens(turns) < STALE_TOKENS:
        return None
    smaller, shortened = _shorten(turns)
    dropped = 0
    if is_full:
        target = min(COMPACT_TO * window, before / 2) if forced else COMPACT_TO * window
        smaller, dropped = _drop(smaller, overhead_tokens, target)
        if overhead_tokens + sum(estimate(turn) for turn in smaller) > COMPACT_ABOVE * window:
            smaller, more = _shorten(smaller, keep=0)
            shortened += more
    if not shortened and not dropped:
        return None
    after = [message for turn in smaller for message in turn]
    settled = len(after) - sum(len(turn) for turn in smaller[-KEPT_TURNS:]) - 1
    return Compacted(after, before, overhead_tokens + estimate(after), shortened, dropped, settled)


def estimate(history: Sequence[UserMessage | AssistantMessage]) -> int:
    """Estimate tokens; providers count differently, so the thresholds leave a margin."""
    return sum(_size(message) for message in history) // BYTES_PER_TOKEN


def _turns(history: Sequence[UserMessage | AssistantMessage]) -> list[Turn]:
    """Split into the messages before the first answer, then each answer with its results."""
    turns: list[Turn] = [[]]
    for message in history:
        if isinstance(message, AssistantMessage):
            turns.append([])
        turns[-1].append(message)
    return turns


def _stale_tokens(turns: list[Turn]) -> int:
    """Estimate tokens saved by shortening old results."""
    saved = sum(
        len(part.text) - KEPT_CHARS
        for turn in turns[1:-KEPT_TURNS]
        for message in turn
        if isinstance(message, UserMessage) and not message.pinned
        for part in message.parts
        if isinstance(part, ToolResult) and len(part.text) > MIN_SHORTENED_CHARS
    )
    return saved // BYTES_PER_TOKEN


def _shorten(turns: list[Turn], *, keep: int = KEPT_TURNS) -> tuple[list[Turn], int]:
    """Shorten long results except in the last turns."""
    smaller, count = list(turns), 0
    for i in range(1, len(turns) - keep):
        smaller[i] = [_shortened(message) for message in turns[i]]
        count += sum(
            was is not now
            for before, after in zip(turns[i], smaller[i], strict=True)
            for was, now in zip(before.parts, after.parts, strict=True)
        )
    return smaller, count


def _shortened(message: UserMessage | AssistantMessage) -> UserMessage | AssistantMessage:
    if isinstance(message, AssistantMessage) or message.pinned:
        return message
    parts = [_short(part) if isinstance(part, ToolResult) else part for part in message.parts]
    return message.model_copy(update={"parts": parts})


def _short(result: ToolResult) -> ToolResult:
    if len(result.text) <= MIN_SHORTENED_CHARS:
        return result
    omitted = len(result.text) - KEPT_CHARS
    text = f"{result.text[:KEPT_CHARS]}\n{_SHORTENED.format(omitted=omitted)}"
    return result.model_copy(update={"text": text})


def _drop(turns: list[Turn], overhead_tokens: int, target: float) -> tuple[list[Turn], int]:
    """Drop the oldest turns until the rest fits; keep pinned messages and add a note about the dropped calls."""
    total = overhead_tokens + sum(estimate(turn) for turn in turns)
    kept: list[UserMessage | AssistantMessage] = []
    used: list[str] = []
    dropped = end = 0
    for i in range(1, len(turns) - KEPT_TURNS):
        if total <= target:
            break
        end = i
        if any(_has_lasting_result(message) for message in turns[i]):
            kept += _without_note(turns[i])
            continue
        pinned = [message for message in turns[i] if isinstance(message, UserMessage) and message.pinned]
        used += _uses(turns[i])
        total -= estimate(turns[i]) - estimate(pinned)
        dropped += len(turns[i]) - len(pinned)
        kept += pinned
    if not dropped:
        return turns, 0
    return [[*_without_note(turns[0]), *kept, _note(used)], *turns[end + 1 :]], dropped


def _without_note(turn: Turn) -> Turn:
    return [message for message in turn if not (isinstance(message, UserMessage) and message.is_note)]


def _has_lasting_result(message: UserMessage | AssistantMessage) -> bool:
    """A pinned result needs its call, so the whole turn stays."""
    if isinstance(message, AssistantMessage) or not message.pinned:
        return False
    return any(isinstance(part, ToolResult) for part in message.parts)


def _uses(turn: Turn) -> list[str]:
    """Describe each tool call of a turn in one line."""
    return [
        f"{call.name} {call.arguments[:120]}"
        for message in turn
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]


def _note(used: list[str]) -> UserMessage:
    listed = "\n".join(f"- {line}" for line in used[-MAX_LISTED_CALLS:])
    text = (
        f"[Earlier messages were omitted to save space. Your last tool calls in them:\n{listed}\n"
        "The files are in the state these calls left them in: read again what you need.]"
    )
    return UserMessage(parts=[Text(text=text)], is_note=True)


def _size(message: UserMessage | AssistantMessage) -> int:
    total = 0
    for part in message.parts:
        match part:
            case Text() | ToolResult():
                total += len(part.text.encode())
            case ToolCall():
                total += len(part.arguments.encode()) + len(part.name) + PART_OVERHEAD_BYTES
            case Thinking():
                total += len(part.text.encode()) + len(part.signature or "")
        total += PART_OVERHEAD_BYTES
    return total
