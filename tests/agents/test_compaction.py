"""Compaction of long conversations: what is dropped and what is always kept."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from forge.agents.compaction import COMPACT_ABOVE, KEPT_TURNS, STALE_TOKENS, compact, estimate
from forge.llm.messages import (
    AssistantMessage,
    Text,
    ToolCall,
    ToolResult,
    UserMessage,
    user_message,
)

Message = UserMessage | AssistantMessage


def turn(number: int, size: int = 4000) -> list[Message]:
    call = ToolCall(id=f"call-{number}", name="read_file", arguments=f'{{"path": "f{number}.py"}}')
    result = ToolResult(call_id=call.id, name=call.name, text=f"{number} " + "x" * size)
    return [
        AssistantMessage(parts=[Text(text=f"Turn {number}."), call]),
        UserMessage(parts=[result]),
    ]


def conversation(turns: int, size: int = 4000) -> list[Message]:
    return [user_message("The directive.", pinned=True), *(m for i in range(turns) for m in turn(i, size))]


def test_short_conversation_is_not_compacted():
    assert compact(conversation(5), overhead_tokens=1000, window=200_000) is None


def test_old_results_are_shortened_in_rare_batches():
    history: list[Message] = [user_message("The directive.", pinned=True)]
    at: list[int] = []
    for number in range(60):
        history += turn(number, 6000)
        if found := compact(history, overhead_tokens=1000, window=1_000_000):
            history = found.history
            at.append(number)
    gaps = [later - earlier for earlier, later in pairwise(at)]
    assert len(at) > 2 and min(gaps) >= STALE_TOKENS * 4 // 6000
    fresh = history[-2 * KEPT_TURNS :]
    assert all(len(m.parts[0].text) > 6000 for m in fresh if isinstance(m.parts[0], ToolResult))


def test_compaction_keeps_directive_pinned_messages_and_last_turns():
    history = conversation(30, size=20_000)
    audit = user_message("Audit: app.py has no tests.", pinned=True)
    history.insert(9, audit)
    last = history[-2 * KEPT_TURNS :]
    found = compact(history, overhead_tokens=1000, window=40_000)
    assert found is not None
    assert found.history[0] == history[0]
    assert audit in found.history
    assert found.history[-2 * KEPT_TURNS :] == last
    assert found.tokens_after < found.tokens_before
    assert found.messages_dropped > 0 or found.results_shortened > 0


def test_dropped_calls_are_listed_in_note():
    found = compact(conversation(400, size=500), overhead_tokens=0, window=40_000)
    assert found is not None and found.messages_dropped
    [note] = [m for m in found.history if isinstance(m, UserMessage) and m.is_note]
    assert isinstance(note.parts[0], Text) and "read_file" in note.parts[0].text


def test_long_conversation_stays_within_small_window():
    history: list[Message] = [user_message("The directive.", pinned=True)]
    compactions = 0
    for number in range(300):
        history += turn(number, 1500)
        if found := compact(history, overhead_tokens=9000, window=32_000):
            history, compactions = found.history, compactions + 1
            assert found.tokens_after <= 32_000
    assert sum(isinstance(m, UserMessage) and m.is_note for m in history) == 1
    assert compactions < 40


def test_oversized_last_turns_are_shortened():
    history = conversation(3, size=400_000)
    found = compact(history, overhead_tokens=1000, window=100_000)
    assert found is not None and found.tokens_after < 75_000


def test_forced_compaction_reduces_tokens():
    history = conversation(10, size=20_000)
    found = compact(history, overhead_tokens=0, window=1_000_000, forced=True)
    assert found is not None and found.tokens_after < found.tokens_before


@given(
    st.lists(st.tuples(st.integers(0, 30_000), st.booleans()), min_size=1, max_size=40),
    st.integers(4000, 200_000),
    st.booleans(),
)
def test_calls_keep_results_and_pinned_messages_are_kept(
    turns: list[tuple[int, bool]], window: int, forced: bool
):
    history: list[Message] = [user_message("The directive.", pinned=True)]
    for number, (size, pinned) in enumerate(turns):
        history += turn(number, size)
        if pinned:
            history.append(user_message(f"Kept {number}.", pinned=True))
    found = compact(history, overhead_tokens=500, window=window, forced=forced)
    after = found.history if found else history
    calls = [c.id for m in after if isinstance(m, AssistantMessage) for c in m.tool_calls]
    results = [p.call_id for m in after for p in m.parts if isinstance(p, ToolResult)]
    assert calls == results
    pinned_before = [m for m in history if isinstance(m, UserMessage) and m.pinned]
    assert [m for m in after if isinstance(m, UserMessage) and m.pinned] == pinned_before
    assert after[-1] == history[-1] or 500 + estimate(history) > COMPACT_ABOVE * window
    kept = TypeAdapter(list[Message])
    assert kept.validate_json(kept.dump_json(after)) == after
    assert estimate(after) <= estimate(history) + 2000


def lasting(number: int, size: int = 4000) -> list[Message]:
    asked, given = turn(number, size)
    return [asked, given.model_copy(update={"pinned": True})]


def test_pinned_tool_result_keeps_text_and_call():
    history: list[Message] = [user_message("The directive.", pinned=True), *lasting(0)]
    for number in range(1, 60):
        history += turn(number)
        if found := compact(history, overhead_tokens=1000, window=6_000):
            history = found.history
    assert lasting(0) == history[1:3]
    assert sum(isinstance(message, UserMessage) and message.is_note for message in history) == 1
    calls = [part.id for message in history for part in message.parts if isinstance(part, ToolCall)]
    results = [part.call_id for message in history for part in message.parts if isinstance(part, ToolResult)]
    assert calls == results and calls[0] == "call-0" and "call-1" not in calls


@given(st.lists(st.tuples(st.booleans(), st.integers(10, 6000)), min_size=1, max_size=30))
def test_pinned_tool_results_keep_their_calls(turns: list[tuple[bool, int]]):
    history: list[Message] = [user_message("The directive.", pinned=True)]
    for number, (is_lasting, size) in enumerate(turns):
        history += lasting(number, size) if is_lasting else turn(number, size)
        if found := compact(history, overhead_tokens=500, window=8_000):
            history = found.history
    whole = [part.text for message in history for part in message.parts if isinstance(part, ToolResult)]
    for number, (is_lasting, size) in enumerate(turns):
        assert not is_lasting or f"{number} " + "x" * size in whole
    asked = None
    for message in history:
        if isinstance(message, AssistantMessage):
            assert asked is None
            (asked,) = [call.id for call in message.tool_calls]
        else:
            for part in message.parts:
                if isinstance(part, ToolResult):
                    assert part.call_id == asked
                    asked = None
    assert asked is None
