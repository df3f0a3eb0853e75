"""The prompt prefix stays stable for caching; only a recorded compaction may change it."""

import json
from itertools import pairwise
from typing import Any

import pytest
from tests.agents.conftest import OpenAgent
from tests.support.agents import DONE, result

from forge.agents.steps import MAX_COMPACT_WINDOW
from forge.demo.exchange import estimate_tokens
from forge.llm.models import ProviderKind

FILES = 30


def blocks(body: dict[str, Any]) -> list[str]:
    """Return everything a provider reads, in order, without cache markers."""
    parts = [
        *body["tools"],
        *body["system"],
        *(m for message in body["messages"] for m in message["content"]),
    ]
    return [str({key: value for key, value in part.items() if key != "cache_control"}) for part in parts]


async def test_prompt_prefix_changes_only_after_recorded_compaction(agent: OpenAgent):
    turns: list[dict[str, Any]] = [
        {"text": f"Look {i}.", "tools": [{"read_file": {"path": f"{i}.txt"}}, {"list_directory": {}}]}
        for i in range(FILES)
    ]
    at_work = await agent(*turns, DONE)
    for i in range(FILES):
        (at_work.root / f"{i}.txt").write_text(f"{i}\n" + "line of text\n" * 900)
    run = await at_work.work()
    assert result(run).turns == FILES + 1
    compacted = {event["turn"] for event in await at_work.event_data(run, "agent.compacted")}
    sent = [blocks(request.body) for request in at_work.server.requests()]
    changed = {
        turn + 2 for turn, (before, after) in enumerate(pairwise(sent)) if after[: len(before)] != before
    }
    assert changed == compacted
    assert 0 < len(compacted) <= FILES // 4
    marks = [str(request.body).count("'cache_control'") for request in at_work.server.requests()]
    assert max(marks) <= 4
    usages = [request.usage for request in at_work.server.requests() if request.usage]
    read = sum(usage.cache_read_input_tokens for usage in usages)
    assert read > 0.7 * sum(usage.prompt_tokens for usage in usages)


async def test_tasks_share_identical_tools_and_instructions(agent: OpenAgent):
    at_work = await agent(DONE)
    await at_work.work("one")
    await at_work.work("another")
    first, second = (request.body for request in at_work.server.requests())
    assert (first["tools"], first["system"]) == (second["tools"], second["system"])


def openai_blocks(body: dict[str, Any]) -> list[str]:
    return [json.dumps(part) for part in [*body["tools"], *body["messages"]]]


@pytest.mark.parametrize("window", [200_000, 8_192])
async def test_requests_in_openai_format_only_append(agent: OpenAgent, window: int):
    call = '{"name": "list_directory", "arguments": {"path": "."}}'
    turns: list[dict[str, Any]] = [{"text": f"Look {i}.\n{call}"} for i in range(5)]
    at_work = await agent(*turns, DONE, kind=ProviderKind.OPENAI, window=window)
    first, second = await at_work.work("one"), await at_work.work("another")
    assert (result(first).turns, result(second).turns) == (6, 6)
    sent = [openai_blocks(request.body) for request in at_work.server.requests()]
    assert all(after[: len(before)] == before for before, after in pairwise(sent[:6]))
    assert sent[6][: len(sent[0]) - 1] == sent[0][:-1]


def fixed_tokens(body: dict[str, Any]) -> int:
    """Tokens of tools and instructions, as the scripted server counts them."""
    return estimate_tokens(body["tools"]) + estimate_tokens(body["messages"][0]["content"])


async def test_small_context_window_gets_compact_tools(agent: OpenAgent):
    at_work = await agent(DONE, kind=ProviderKind.OPENAI, window=MAX_COMPACT_WINDOW)
    run = await at_work.work()
    [started] = await at_work.event_data(run, "agent.started")
    [request] = at_work.server.requests()
    assert started["compact"] and "check_syntax" not in started["tools"]
    assert fixed_tokens(request.body) < 1_050
    assert [tool["function"]["name"] for tool in request.body["tools"]] == started["tools"]


async def test_other_context_windows_get_the_full_description(agent: OpenAgent):
    at_work = await agent(DONE, kind=ProviderKind.OPENAI, window=MAX_COMPACT_WINDOW + 1)
    run = await at_work.work()
    [started] = await at_work.event_data(run, "agent.started")
    [request] = at_work.server.requests()
    assert not started["compact"] and "check_syntax" in started["tools"]
    assert fixed_tokens(request.body) < 1_900


async def test_compact_tools_give_short_results(agent: OpenAgent):
    read = {"tools": [{"read_file": {"path": "long.txt"}}]}
    at_work = await agent(read, DONE, kind=ProviderKind.OPENAI, window=MAX_COMPACT_WINDOW)
    (at_work.root / "long.txt").write_text("a line of text\n" * 2_000)
    await at_work.work()
    given = at_work.server.requests()[1].body["messages"][-1]["content"]
    assert len(given) < 6_500
    assert "read on with start_line=401" in given
