"""The agent loop end to end with real engine, client and tools and a scripted model."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.agents.conftest import OpenAgent
from tests.support.agents import DONE, finish, open_agent, result
from tests.support.engine import ACCOUNT
from tests.support.models import StartModels
from tests.support.timeouts import PATIENCE_S

from forge.agents import store as agent_store
from forge.agents.models import Interjection
from forge.kernel.clock import now
from forge.llm.budgets import BudgetLimits
from forge.llm.models import ProviderKind
from forge.runs.attempt import Retry
from forge.runs.models import NewAnswer, RunStatus
from forge.store.database import Store


def write(path: str, content: str) -> dict[str, Any]:
    return {"write_file": {"path": path, "content": content}}


def _words(count: int) -> str:
    return " ".join(f"word{number}" for number in range(count))


async def test_agent_reads_writes_and_finishes(agent: OpenAgent):
    at_work = await agent(
        {"thinking": "First look.", "text": "Looking.", "tools": [{"list_directory": {"path": "."}}]},
        {"tools": [write("a.py", "A = 1\n"), write("b.py", "B = 2\n")]},
        {"text": "I am done.", "tools": [finish("Both files are there.")]},
    )
    run = await at_work.work()
    assert run.status is RunStatus.COMPLETED
    assert (result(run).end, result(run).text, result(run).turns, result(run).tool_calls) == (
        "done",
        "Both files are there.",
        3,
        4,
    )
    assert {path.name: path.read_text() for path in at_work.root.iterdir()} == {
        "a.py": "A = 1\n",
        "b.py": "B = 2\n",
    }
    turns = await at_work.event_data(run, "agent.turn")
    assert [turn["turn"] for turn in turns] == [1, 2, 3]
    assert turns[0]["thinking"] == "First look."
    assert turns[0]["tools"][0]["input"] == {"path": "."}
    used = await at_work.event_data(run, "agent.tool")
    assert [(one["name"], one["is_error"]) for one in used] == [
        ("list_directory", False),
        ("write_file", False),
        ("write_file", False),
        ("finish", False),
    ]
    [ended] = await at_work.event_data(run, "agent.ended")
    assert ended["result"] == run.output
    calls = await at_work.models.calls()
    assert sum(call.cost_micros for call in calls) == result(run).cost_micros
    assert {call.run_id for call in calls} == {run.id}


async def test_tool_error_is_returned_to_the_model(agent: OpenAgent):
    at_work = await agent(
        {"tools": [{"read_file": {"path": "../secret"}}, {"frobnicate": {}}, {"read_file": {"x": 1}}]},
        DONE,
    )
    run = await at_work.work()
    assert result(run).end == "done"
    results = at_work.server.requests()[-1].body["messages"][-1]["content"]
    assert [block["is_error"] for block in results] == [True, True, True]
    texts = [str(block["content"]) for block in results]
    assert "frobnicate" in texts[1] and "path: Field required" in texts[2]


async def test_repeated_failing_call_ends_agent_unless_something_changed(agent: OpenAgent):
    at_work = await agent({"tools": [{"read_file": {"path": "missing"}}]})
    run = await at_work.work()
    assert (result(run).end, result(run).turns) == ("loop", 3)
    last_message = str(at_work.server.requests()[-1].body["messages"][-1])
    assert "has now failed 2 times" in last_message


async def test_repeated_failure_after_change_is_not_a_loop(agent: OpenAgent):
    failing: dict[str, Any] = {"tools": [{"read_file": {"path": "missing"}}]}
    turns = [turn for i in range(4) for turn in (failing, {"tools": [write("a", str(i))]})]
    at_work = await agent(*turns, DONE)
    run = await at_work.work()
    assert result(run).end == "done"


@pytest.mark.parametrize(("limits", "end"), [({"turns": 4}, "turns"), ({"tokens": 3000}, "tokens")])
async def test_each_limit_has_its_own_end_reason(agent: OpenAgent, limits: dict[str, int], end: str):
    at_work = await agent({"tools": [{"list_directory": {"path": "."}}]})
    run = await at_work.work("x", **limits)
    assert result(run).end == end
    assert run.status is RunStatus.COMPLETED


@pytest.mark.parametrize(
    ("turn", "end"),
    [({"text": "No.", "stop": "refusal"}, "refused"), ({"text": "", "fault": "empty"}, "stuck")],
)
async def test_unusable_answer_ends_agent_with_reason(agent: OpenAgent, turn: dict[str, Any], end: str):
    at_work = await agent(turn)
    assert result(await at_work.work()).end == end


async def test_truncated_tool_call_is_not_executed(agent: OpenAgent):
    at_work = await agent(
        {"tools": [write("a.py", "x = 1\n" * 50)], "fault": {"kind": "max_tokens", "times": 1}},
        DONE,
    )
    run = await at_work.work()
    assert result(run).end == "done"
    assert not (at_work.root / "a.py").exists()
    assert "output limit" in str(at_work.server.requests()[-1].body["messages"][-1])


async def test_provider_errors_are_retried(agent: OpenAgent):
    at_work = await agent(
        {**DONE, "fault": [{"kind": "529", "times": 1}, {"kind": "cut", "times": 1}]},
        retry=Retry(attempts=5, first_delay_s=0.01, longest_delay_s=0.05),
    )
    run = await at_work.work()
    assert result(run).end == "done"
    assert len(at_work.server.requests()) == 3


async def test_exhausted_budget_opens_gate_and_continues_after_raise(agent: OpenAgent):
    at_work = await agent(DONE, limits=BudgetLimits(run_usd=0.01, day_usd=50, server_usd=50))
    started = await at_work.start("x")
    gate = await at_work.engine.open_gate()
    assert gate.kind == "budget" and gate.payload["budget"] == "run"
    assert at_work.server.requests() == []
    answer = NewAnswer(option="more", shown_hash=gate.shown_hash)
    await at_work.engine.runs.answer(ACCOUNT, gate.id, answer, by="me")
    run = await at_work.engine.finished(started.id)
    assert result(run).end == "done"


async def test_exhausted_budget_ends_agent_after_refusal(agent: OpenAgent):
    at_work = await agent(DONE, limits=BudgetLimits(run_usd=0.01, day_usd=50, server_usd=50))
    started = await at_work.start("x")
    gate = await at_work.engine.open_gate()
    answer = NewAnswer(option="stop", shown_hash=gate.shown_hash)
    await at_work.engine.runs.answer(ACCOUNT, gate.id, answer, by="me")
    run = await at_work.engine.finished(started.id)
    assert (result(run).end, result(run).turns) == ("money", 0)


async def test_messages_are_merged_in_order_before_next_turn(agent: OpenAgent):
    at_work = await agent(
        {"text": "Slowly.", "tools": [{"list_directory": {"path": "."}}]},
        DONE,
        delay_s=0.05,
        piece_chars=1,
    )
    started = await at_work.start("x")
    async with asyncio.timeout(PATIENCE_S):
        while not at_work.server.requests():
            await asyncio.sleep(0.01)
    async with at_work.engine.store.begin() as tx:
        for i, text in enumerate(("use tabs", "no, spaces")):
            message = Interjection(id=f"m{i}", text=text, sent_by="me")
            await agent_store.insert_message(tx, started.id, message, now())
    run = await at_work.engine.finished(started.id)
    [heard] = await at_work.event_data(run, "agent.heard")
    assert [message["text"] for message in heard["messages"]] == ["use tabs", "no, spaces"]
    sent = at_work.server.requests()[1].body["messages"][-1]["content"]
    assert [block["type"] for block in sent] == ["tool_result", "text"]
    text = sent[1]["text"]
    assert text.index("use tabs") < text.index("no, spaces")


async def test_message_during_last_answer_is_received(agent: OpenAgent):
    done = {"text": "Done already.", **DONE}
    at_work = await agent(done, {"tools": [finish("Now with tabs.")]}, delay_s=0.1, piece_chars=1)
    started = await at_work.start("x")
    async with asyncio.timeout(PATIENCE_S):
        while not at_work.server.requests():
            await asyncio.sleep(0.01)
    async with at_work.engine.store.begin() as tx:
        await agent_store.insert_message(
            tx, started.id, Interjection(id="m", text="tabs!", sent_by="me"), now()
        )
    run = await at_work.engine.finished(started.id)
    assert (result(run).text, result(run).turns) == ("Now with tabs.", 2)


async def test_conversation_exceeding_window_is_compacted(agent: OpenAgent):
    turns = [
        {"tools": [write(f"{i}.txt", f"next={i + 1} " + "y" * 3000), {"read_file": {"path": f"{i}.txt"}}]}
        for i in range(25)
    ]
    at_work = await agent(*turns, DONE, window=20_000, scene={"position": r"next=(\d+)"})
    run = await at_work.work()
    assert await at_work.event_data(run, "agent.compacted")
    largest = max(len(str(request.body["messages"])) for request in at_work.server.requests())
    assert largest < 20_000 * 4


async def test_unserializable_arguments_are_refused_and_agent_continues(agent: OpenAgent):
    at_work = await agent(
        {"tools": [{"read_file": {"path": "a"}}], "fault": {"kind": "malformed_json", "times": 1}},
        {"tools": [{"tool": "read_file", "input": {"path": [[[[]]]]}, "id": "twice"}]},
        {"tools": [{"tool": "read_file", "input": {"path": float("inf")}, "id": "twice"}]},
        DONE,
    )
    run = await at_work.work()
    assert result(run).end == "done"
    last = at_work.server.requests()[-1].body["messages"]
    calls = [b["id"] for m in last for b in m["content"] if b["type"] == "tool_use"]
    answers = [b["tool_use_id"] for m in last for b in m["content"] if b["type"] == "tool_result"]
    assert len(calls) == 3 and calls == answers


async def test_equal_calls_in_one_answer_count_as_one_failure(agent: OpenAgent):
    missing = {"read_file": {"path": "missing"}}
    at_work = await agent({"tools": [missing, missing, missing]}, DONE)
    assert result(await at_work.work()).end == "done"


async def test_prompt_larger_than_the_context_window_fails_with_both_numbers(
    store: Store, tmp_path: Path, model_server: StartModels
):
    server = model_server({"scenes": {"only": {"turns": [{"text": "Done."}]}}})
    async with open_agent(store, server.url, tmp_path, window=4096) as at_work:
        run = await at_work.work("flour " * 3000)
    assert server.requests() == []
    assert run.status is RunStatus.FAILED and run.error is not None
    assert run.error.code == "context_full"
    assert "tokens, but the context window of scripted:scripted is 4,096 tokens." in run.error.message
    assert "forge models price scripted:scripted --context" in (run.error.hint or "")


@pytest.mark.parametrize(
    ("kind", "server_kind"),
    [(ProviderKind.ANTHROPIC, None), (ProviderKind.OPENAI, "llama_cpp"), (ProviderKind.OPENAI, "vllm")],
)
async def test_conversation_rejected_by_provider_is_compacted_until_it_fits(
    store: Store, tmp_path: Path, model_server: StartModels, kind: ProviderKind, server_kind: str | None
):
    """Forge assumes a larger window than the server has."""
    turns = [{"tools": [write(f"{i}.txt", f"next={i + 1} " + _words(900))]} for i in range(8)]
    scene = {"turns": [*turns, DONE], "position": r"next=(\d+)"}
    script = {"scenes": {"only": scene}, "server": server_kind, "context_window": 12_000}
    server = model_server(script)
    async with open_agent(store, server.url, tmp_path, kind=kind) as at_work:
        run = await at_work.work()
        compacted = await at_work.event_data(run, "agent.compacted")
    assert result(run).end == "done"
    assert 400 in [entry.status for entry in server.requests()]
    assert compacted and compacted[0]["tokens_after"] < 12_000


async def test_repetition_is_stopped_and_the_agent_continues(agent: OpenAgent):
    at_work = await agent(
        {"text": '{"child": {"name": "x"}}, ', "fault": "repetition"},
        {"tools": [write("a.txt", "again and ")], "fault": "repetition"},
        {"tools": [write("b.txt", "once"), finish()]},
    )
    run = await at_work.work()
    assert (result(run).end, result(run).text) == ("done", "Done.")
    turns = await at_work.event_data(run, "agent.turn")
    assert [turn["stop"] for turn in turns] == ["repeated", "repeated", "tools"]
    assert [path.name for path in at_work.root.iterdir()] == ["b.txt"]
    sent = str(at_work.server.requests()[-1].body["messages"])
    assert "Your answer repeated itself, so it was stopped" in sent
    assert "repeated itself inside this call" in sent
    assert len(sent) < 4000, "the repetition is not sent back to the model"
