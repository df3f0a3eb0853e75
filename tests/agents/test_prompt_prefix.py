"""The prompt prefix stays stable for caching; only a recorded compaction may change it."""

from itertools import pairwise
from typing import Any

from tests.agents.conftest import OpenAgent
from tests.support.agents import result

FILES = 30


def blocks(body: dict[str, Any]) -> list[str]:
    """Everything a provider reads, in its order, without the marks that only say what to keep."""
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
    at_work = await agent(*turns, {"text": "Seen."})
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
    at_work = await agent({"text": "Done."})
    await at_work.work("one")
    await at_work.work("another")
    first, second = (request.body for request in at_work.server.requests())
    assert (first["tools"], first["system"]) == (second["tools"], second["system"])
