"""The cache simulator: the usage it computes for a prompt."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.demo.prompt_cache import CacheSimulator, Usage, count_prompt_tokens
from forge.errors import Malformed

MARK = {"type": "ephemeral"}
HOUR = {"type": "ephemeral", "ttl": "1h"}


def text(words: str, tokens: int = 0, mark: dict[str, Any] | None = None) -> dict[str, Any]:
    block: dict[str, Any] = {"type": "text", "text": words + "." * 4 * tokens}
    return block if mark is None else {**block, "cache_control": mark}


def prompt(*blocks: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"model": "m", "messages": [{"role": "user", "content": list(blocks)}], **more}


def split(usage: Usage) -> tuple[int, int, int]:
    return usage.cache_read_input_tokens, usage.cache_creation_input_tokens, usage.input_tokens


def test_nothing_is_cached_without_breakpoints():
    cache = CacheSimulator()
    body = prompt(text("a", 2000))
    for _ in range(2):
        assert split(cache.account(body, 0)) == (0, 0, count_prompt_tokens(body))


def test_marked_prefix_is_written_then_read():
    cache = CacheSimulator()
    size = count_prompt_tokens(prompt(text("a", 2000)))
    assert split(cache.account(prompt(text("a", 2000, MARK), text("b")), 0))[:2] == (0, size)
    assert split(cache.account(prompt(text("a", 2000, MARK), text("c")), 0))[:2] == (size, 0)


def test_growing_conversation_is_charged_for_new_parts():
    cache = CacheSimulator()
    blocks = [text("start", 2000)]
    before = 0
    for turn in range(30):
        usage = cache.account(prompt(*blocks, cache_control=MARK), turn)
        assert usage.cache_read_input_tokens == before
        assert usage.input_tokens == 0
        before = usage.prompt_tokens
        blocks += [text(f"reply {turn}", 10), text(f"result {turn}", 50)]


def test_lookback_is_limited_to_twenty_blocks():
    cache = CacheSimulator()
    start = [text("start", 2000)]
    cache.account(prompt(*start, cache_control=MARK), 0)
    for added, found in ((19, True), (20, False)):
        more = [text(f"{added} {number}") for number in range(added)]
        usage = cache.account(prompt(*start, *more, cache_control=MARK), 1)
        assert (usage.cache_read_input_tokens > 0) is found


@pytest.mark.parametrize(("mark", "lives_s"), [(MARK, 300), (HOUR, 3600)])
def test_unread_cache_entries_expire_and_reading_extends_them(mark: dict[str, Any], lives_s: int):
    cache = CacheSimulator()
    body = prompt(text("a", 2000, mark))
    assert cache.account(body, 0).cache_read_input_tokens == 0
    assert cache.account(body, lives_s - 1).cache_read_input_tokens > 0
    assert cache.account(body, 2 * lives_s - 2).cache_read_input_tokens > 0
    assert cache.account(body, 3 * lives_s).cache_read_input_tokens == 0


def test_hour_and_five_minute_writes_are_counted_separately():
    usage = CacheSimulator().account(prompt(text("a", 2000, HOUR), text("b", 3000, MARK)), 0)
    assert usage.ephemeral_1h_input_tokens < usage.ephemeral_5m_input_tokens
    assert usage.cache_creation_input_tokens == usage.prompt_tokens


def test_short_prompts_are_not_cached():
    cache = CacheSimulator()
    body = prompt(text("a", 900, MARK))
    for _ in range(2):
        assert split(cache.account(body, 0))[:2] == (0, 0)


def test_tools_precede_system_and_messages():
    cache = CacheSimulator()
    tools = [{"name": "look", "description": "." * 8000, "input_schema": {}, "cache_control": MARK}]
    system = [text("rules", 2000, MARK)]
    first = cache.account(prompt(text("a"), tools=tools, system=system), 0)
    changed_message = cache.account(prompt(text("b"), tools=tools, system=system), 1)
    changed_system = cache.account(prompt(text("a"), tools=tools, system=[text("other", 2000, MARK)]), 2)
    changed_tool = cache.account(prompt(text("a"), tools=[{**tools[0], "name": "see"}], system=system), 3)
    assert changed_message.cache_read_input_tokens == first.cache_creation_input_tokens
    assert 0 < changed_system.cache_read_input_tokens < first.cache_creation_input_tokens
    assert changed_tool.cache_read_input_tokens == 0


def test_changed_tool_choice_keeps_the_system_prompt_cached():
    cache = CacheSimulator()
    body = prompt(text("a", 2000, MARK), system=[text("rules", 2000, MARK)])
    cache.account(body, 0)
    usage = cache.account({**body, "tool_choice": {"type": "any"}}, 1)
    assert 0 < usage.cache_read_input_tokens < usage.cache_creation_input_tokens + 20


def test_cache_is_separate_per_model():
    cache = CacheSimulator()
    body = prompt(text("a", 2000, MARK))
    cache.account(body, 0)
    assert cache.account({**body, "model": "other"}, 1).cache_read_input_tokens == 0


def test_automatic_breakpoint_is_on_the_last_cacheable_block():
    cache = CacheSimulator()
    thinking = {"type": "thinking", "thinking": "hm", "signature": "s"}
    usage = cache.account(prompt(text("a", 2000), thinking, cache_control=MARK), 0)
    assert 0 < usage.input_tokens < 30 < usage.cache_creation_input_tokens


def test_a_mark_inside_a_result_counts():
    result = {"type": "tool_result", "tool_use_id": "t", "content": [text("found", 2000, MARK)]}
    assert CacheSimulator().account(prompt(result), 0).cache_creation_input_tokens > 2000


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (prompt(*[text(str(number), 0, MARK) for number in range(5)]), "maximum of 4"),
        (prompt(*[text(str(n), 0, MARK) for n in range(4)], text("e"), cache_control=MARK), "maximum of 4"),
        (prompt(text("a", 0, MARK), text("b", 0, HOUR)), "must not come after"),
        (prompt(text("a", 0, {"type": "ephemeral", "ttl": "2h"})), "'5m' or '1h'"),
        (prompt(text("", 0, MARK)), "empty text"),
    ],
)
def test_invalid_breakpoints_are_rejected(body: dict[str, Any], words: str):
    with pytest.raises(Malformed, match=words):
        CacheSimulator().account(body, 0)


BLOCK = st.builds(text, st.sampled_from("abc"), st.integers(0, 700), st.sampled_from([None, None, MARK]))
REQUEST = st.tuples(st.lists(BLOCK, min_size=1, max_size=8), st.booleans(), st.integers(0, 400))


@given(st.lists(REQUEST, min_size=1, max_size=6))
def test_usage_kinds_add_up_to_the_prompt(requests: list[Any]):
    cache = CacheSimulator()
    now = 0
    for blocks, automatic, pause_s in requests:
        now += pause_s
        marked = [number for number, block in enumerate(blocks) if "cache_control" in block][3:]
        for number in marked:
            blocks[number] = {**blocks[number]}
            del blocks[number]["cache_control"]
        body = prompt(*blocks, **({"cache_control": MARK} if automatic else {}))
        usage = cache.account(body, now)
        assert min(split(usage)) >= 0
        assert sum(split(usage)) == count_prompt_tokens(body)
        if automatic:
            again = cache.account(body, now)
            assert again.cache_creation_input_tokens == 0
