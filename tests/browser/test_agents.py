"""Agents in the browser: start, transcript, messages, budget and cancel."""

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Visitor, wait_until_idle
from tests.support.agent_server import AgentServer, open_agent_server
from tests.support.agents import finish
from tests.support.server import Server

from forge.agents.models import AgentToolAsked, AgentToolUsed, AgentTurn, ToolDetail
from forge.events.log import EventLog
from forge.events.models import EventData
from forge.llm.messages import StopReason
from forge.llm.models import Usage
from forge.runs.models import StepFinished, StepStarted
from forge.store.database import Store
from forge.telemetry import Metrics

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

WAITING_TEST = """import pathlib, time, unittest

class Waiting(unittest.TestCase):
    def test_until_released(self):
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
"""
LIST_DIRECTORY: dict[str, Any] = {"list_directory": {"path": "."}}
SCENES: dict[str, Any] = {
    "fixing": {
        "match": {"opening": "Repair the basket"},
        "turns": [
            {
                "thinking": "I read the file first.",
                "text": "I read `basket.py`.",
                "tools": [{"read_file": {"path": "basket.py"}}, {"read_file": {"path": "missing.py"}}],
            },
            {
                "text": "Now I change it.",
                "tools": [{"write_file": {"path": "basket.py", "content": "TOTAL = 2\n"}}],
            },
            {"tools": [finish("The basket is repaired.")]},
        ],
    },
    "counting": {
        "match": {"opening": "Count sheep"},
        "turns": [{"text": " ".join(f"{number} sheep." for number in range(400)), "delay_s": 0.5}],
    },
    "waiting": {
        "match": {"opening": "Wait for the file"},
        "turns": [
            {"text": "I wait.", "tools": [{"run_tests": {"command": "python3 -m unittest waiting"}}]},
            {"tools": [finish("The file exists.", verified=True)]},
        ],
    },
    "long": {
        "match": {"opening": "Take long"},
        "turns": [
            {"text": "Next turn.", "tools": [LIST_DIRECTORY], "repeat": 30},
            {"tools": [finish("Finished.")]},
        ],
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that runs commands even without a sandbox."""
    test_server = Server(tmp_path_factory.mktemp("server"), FORGE_SANDBOX_REQUIRED="none")
    test_server.start()
    yield test_server
    test_server.stop()


@pytest.fixture(scope="module")
def agent_server(server: Server) -> Iterator[AgentServer]:
    with open_agent_server(
        server, SCENES, basket__py="TOTAL = 1\n", waiting__py=WAITING_TEST
    ) as running_agent_server:
        yield running_agent_server


def transcript(page: Page) -> Locator:
    return page.get_by_role("log", name="Transcript")


def test_agent_is_started_in_a_workspace_and_shown_until_it_ends(visit: Visit, agent_server: AgentServer):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/workspaces/{agent_server.workspace_id}")
    page.get_by_role("button", name="Start an agent here").click()
    page.get_by_label("Task").fill("Repair the basket.")
    page.get_by_role("dialog").get_by_role("button", name="Start").click()

    log = transcript(page)
    expect(log).to_contain_text("The basket is repaired.")
    expect(log.get_by_role("region", name="End")).to_contain_text("done")
    expect(log.get_by_role("region", name="End")).to_contain_text("3 turns · 4 tool calls")
    expect(log.get_by_role("button", name=re.compile("failed.*missing.py"))).to_be_visible()
    expect(page.get_by_label("Message the agent")).to_have_count(0)
    changed_file = page.get_by_role("region", name="Changed files").get_by_role("link", name="basket.py")
    changed_file.click()
    expect(page.get_by_role("region", name="basket.py")).to_contain_text("TOTAL = 2")


def test_tool_call_expands_and_transcript_survives_a_reload(visit: Visit, agent_server: AgentServer):
    run_id = agent_server.start("Repair the basket, please.")
    agent_server.finish(run_id)
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{run_id}")
    log = transcript(page)
    expect(log).to_contain_text("The basket is repaired.")
    expect(log.locator("code").first).to_have_text("basket.py")  # the Markdown renderer is loaded lazily
    wait_until_idle(page)
    text_before_reload = log.inner_text()
    log.get_by_role("button", name="write_file").click()
    expect(log.get_by_role("region", name="Input")).to_contain_text("TOTAL = 2")
    log.get_by_role("button", name="Thought").click()
    expect(log.get_by_text("I read the file first.").last).to_be_visible()
    page.reload()
    expect(log).to_have_text(text_before_reload, use_inner_text=True)
    page.get_by_text("Log", exact=True).click()
    expect(page.get_by_role("log", name="Run log")).to_contain_text("Ended, done")


def test_answer_is_streamed_and_removed_on_cancel(visit: Visit, agent_server: AgentServer):
    visitor = visit()
    page = visitor.page
    run_id = agent_server.start("Count sheep.")
    visitor.open(f"/runs/{run_id}")
    expect(page.get_by_text("Writing")).to_be_visible()
    expect(transcript(page)).to_contain_text(re.compile(r"\d+ sheep\."))
    agent_server.server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    expect(transcript(page)).to_contain_text("Cancelled by")
    expect(transcript(page)).not_to_contain_text(re.compile(r"\d+ sheep\."))
    expect(page.get_by_text("Writing")).to_have_count(0)


def test_message_is_delivered_before_the_next_turn(visit: Visit, agent_server: AgentServer):
    (agent_server.files / "go").unlink(missing_ok=True)
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{agent_server.start('Wait for the file.')}")
    expect(page.get_by_text("Running python3 -m unittest waiting")).to_be_visible()
    page.get_by_label("Message the agent").fill("I am on my way.")
    page.keyboard.press("Control+Enter")
    hint = page.get_by_text("delivered before the next turn")
    expect(hint).to_be_visible()
    expect(page.get_by_label("Message the agent")).to_have_value("")

    (agent_server.files / "go").touch()
    expect(transcript(page)).to_contain_text("The file exists.")
    expect(hint).to_have_count(0)
    expect(transcript(page).get_by_text("I am on my way.")).to_have_count(1)
    expect(transcript(page).get_by_role("button", name=re.compile("done.*run_tests"))).to_be_visible()


def test_exhausted_budget_opens_a_gate(visit: Visit, agent_server: AgentServer):
    agent_server.server.call("PUT", "/api/v1/models/budgets/run", {"limit_usd": 0.01})
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{agent_server.start('Repair the basket cheaply.')}")
    gate = page.get_by_role("region", name=re.compile("Needs you"))
    expect(gate).to_contain_text("is used up")
    expect(page.get_by_text("Waiting for your answer")).to_be_visible()
    gate.get_by_role("button", name=re.compile("Allow .* more")).click()
    expect(transcript(page)).to_contain_text("The basket is repaired.")
    expect(transcript(page)).to_contain_text(re.compile(r": Allow \$.* more"))
    agent_server.server.call("PUT", "/api/v1/models/budgets/run", {"limit_usd": 20})


def test_transcript_follows_until_scrolled_and_resumes_on_end(visit: Visit, agent_server: AgentServer):
    run_id = agent_server.start("Take long.")
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{run_id}")
    log = transcript(page)
    expect(log).to_contain_text("Finished.")
    expect(log.get_by_role("region", name="End")).to_be_in_viewport()
    log.hover()
    page.mouse.wheel(0, -600)
    latest = page.get_by_role("button", name="Jump to latest")
    expect(latest).to_be_visible()
    visitor.press("End")
    expect(latest).to_have_count(0)
    expect(log.get_by_role("region", name="End")).to_be_in_viewport()


def test_long_transcript_renders_only_visible_turns(visit: Visit, agent_server: AgentServer):
    run_id = agent_server.start("Repair the basket again.")
    agent_server.finish(run_id)
    events = many_events(turns=1250)
    assert len(events) == 5000
    with ThreadPoolExecutor() as executor:
        executor.submit(asyncio.run, append(agent_server.server, f"run:{run_id}", events)).result()
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{run_id}")
    log = transcript(page)
    expect(log.get_by_role("article", name="Turn 1250")).to_be_in_viewport()
    assert log.get_by_role("article").count() < 60
    log.hover()
    page.mouse.wheel(0, -100_000)
    expect(log.get_by_role("article", name="Turn 1250")).to_have_count(0)
    assert log.get_by_role("article").count() < 60


async def append(server: Server, stream: str, events: list[EventData]) -> None:
    store = Store(f"sqlite:///{server.data_dir / 'forge.db'}")
    try:
        async with store.begin() as tx:
            await EventLog(store, Metrics(version="test")).append(tx, stream, *events)
    finally:
        await store.close()


def many_events(*, turns: int) -> list[EventData]:
    """Return four events per turn: start of the step, answer, end of the step, tool result."""
    return [event for turn in range(1, turns + 1) for event in turn_events(turn)]


def turn_events(turn: int) -> list[EventData]:
    tool_call = AgentToolAsked(id=f"call{turn}", name="read_file", input={"path": f"file{turn}.py"})
    step, name = 100 + turn, f"model {turn}"
    return [
        StepStarted(step=step, name=name, attempt=1),
        AgentTurn(
            turn=turn,
            model="scripted:coder",
            text="Some words, " * (turn % 40),
            thinking="",
            tools=[tool_call],
            stop=StopReason.TOOLS,
            usage=Usage(input=10, output=5),
            cost_micros=10,
            context_used=0.1,
        ),
        StepFinished(step=step, name=name, attempt=1, outcome="ok", duration_ms=9),
        AgentToolUsed(
            turn=turn,
            call_id=tool_call.id,
            name=tool_call.name,
            is_error=False,
            summary="12 lines",
            text="x = 1\n" * 12,
            duration_ms=4,
            detail=ToolDetail(),
        ),
    ]
