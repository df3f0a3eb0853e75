"""An agent is given a task, watched, told something, paid for and stopped, all in a browser."""

import asyncio
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Visitor, at_rest
from tests.support.agent_server import AgentServer, open_agent_server
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
    def test_until_told(self):
        while not pathlib.Path("go").exists():
            time.sleep(0.02)
"""
LOOK: dict[str, Any] = {"list_directory": {"path": "."}}
SCENES: dict[str, Any] = {
    "fixing": {
        "match": {"opening": "Repair the basket"},
        "turns": [
            {
                "thinking": "First I look.",
                "text": "I look at `basket.py`.",
                "tools": [{"read_file": {"path": "basket.py"}}, {"read_file": {"path": "missing.py"}}],
            },
            {
                "text": "Now I write it.",
                "tools": [{"write_file": {"path": "basket.py", "content": "TOTAL = 2\n"}}],
            },
            {"text": "The basket is repaired."},
        ],
    },
    "counting": {
        "match": {"opening": "Count sheep"},
        "turns": [{"text": " ".join(f"{number} sheep." for number in range(400)), "delay_s": 0.5}],
    },
    "waiting": {
        "match": {"opening": "Wait for me"},
        "turns": [
            {"text": "I wait.", "tools": [{"run_tests": {"command": "python3 -m unittest waiting"}}]},
            {"text": "I have waited."},
        ],
    },
    "long": {
        "match": {"opening": "Take long"},
        "turns": [{"text": "On and on.", "tools": [LOOK], "repeat": 30}, {"text": "At last."}],
    },
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Takes commands however weak the sandbox of this machine is."""
    running = Server(tmp_path_factory.mktemp("server"), FORGE_SANDBOX_REQUIRED="none")
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def agent_server(server: Server) -> Iterator[AgentServer]:
    with open_agent_server(server, SCENES, basket__py="TOTAL = 1\n", waiting__py=WAITING_TEST) as opened:
        yield opened


def transcript(page: Page) -> Locator:
    return page.get_by_role("log", name="Transcript")


def test_a_task_is_given_in_a_workspace_and_watched_to_its_end(visit: Visit, agent_server: AgentServer):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/workspaces/{agent_server.workspace_id}")
    page.get_by_role("button", name="Start an agent here").click()
    page.get_by_label("Task").fill("Repair the basket.")
    page.get_by_role("dialog").get_by_role("button", name="Start").click()

    told = transcript(page)
    expect(told).to_contain_text("The basket is repaired.")
    expect(told.get_by_role("region", name="End")).to_contain_text("done")
    expect(told.get_by_role("region", name="End")).to_contain_text("3 turns · 3 tool calls")
    expect(told.get_by_role("button", name=re.compile("failed.*missing.py"))).to_be_visible()
    expect(page.get_by_label("Message the agent")).to_have_count(0)
    changed = page.get_by_role("region", name="Changed files").get_by_role("link", name="basket.py")
    changed.click()
    expect(page.get_by_role("region", name="basket.py")).to_contain_text("TOTAL = 2")


def test_a_call_unfolds_and_a_reload_shows_the_same(visit: Visit, agent_server: AgentServer):
    run_id = agent_server.start("Repair the basket, please.")
    agent_server.finish(run_id)
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{run_id}")
    told = transcript(page)
    expect(told).to_contain_text("The basket is repaired.")
    expect(told.locator("code").first).to_have_text("basket.py")  # what formats it is loaded on its own
    at_rest(page)
    seen = told.inner_text()
    told.get_by_role("button", name="write_file").click()
    expect(told.get_by_role("region", name="Input")).to_contain_text("TOTAL = 2")
    told.get_by_role("button", name="Thought").click()
    expect(told.get_by_text("First I look.").last).to_be_visible()
    page.reload()
    expect(told).to_have_text(seen, use_inner_text=True)
    page.get_by_text("Log", exact=True).click()
    expect(page.get_by_role("log", name="Run log")).to_contain_text("Ended, done")


def test_words_appear_while_they_are_written(visit: Visit, agent_server: AgentServer):
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


def test_what_a_person_says_is_heard_before_the_next_turn(visit: Visit, agent_server: AgentServer):
    (agent_server.files / "go").unlink(missing_ok=True)
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{agent_server.start('Wait for me.')}")
    expect(page.get_by_text("Running python3 -m unittest waiting")).to_be_visible()
    page.get_by_label("Message the agent").fill("I am on my way.")
    page.keyboard.press("Control+Enter")
    note = page.get_by_text("will be heard before the next turn")
    expect(note).to_be_visible()
    expect(page.get_by_label("Message the agent")).to_have_value("")

    (agent_server.files / "go").touch()
    expect(transcript(page)).to_contain_text("I have waited.")
    expect(note).to_have_count(0)
    expect(transcript(page).get_by_text("I am on my way.")).to_have_count(1)
    expect(transcript(page).get_by_role("button", name=re.compile("done.*run_tests"))).to_be_visible()


def test_an_agent_without_money_asks_for_more(visit: Visit, agent_server: AgentServer):
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


def test_the_transcript_follows_until_the_reader_scrolls_and_again_on_end(
    visit: Visit, agent_server: AgentServer
):
    run_id = agent_server.start("Take long.")
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{run_id}")
    told = transcript(page)
    expect(told).to_contain_text("At last.")
    expect(told.get_by_role("region", name="End")).to_be_in_viewport()
    told.hover()
    page.mouse.wheel(0, -600)
    latest = page.get_by_role("button", name="Jump to latest")
    expect(latest).to_be_visible()
    visitor.press("End")
    expect(latest).to_have_count(0)
    expect(told.get_by_role("region", name="End")).to_be_in_viewport()


def test_five_thousand_events_are_a_few_in_the_page(visit: Visit, agent_server: AgentServer):
    run_id = agent_server.start("Repair the basket again.")
    agent_server.finish(run_id)
    story = long_story(turns=1250)
    assert len(story) == 5000
    with ThreadPoolExecutor() as beside_the_browser:
        beside_the_browser.submit(asyncio.run, append(agent_server.server, f"run:{run_id}", story)).result()
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{run_id}")
    told = transcript(page)
    expect(told.get_by_role("article", name="Turn 1250")).to_be_in_viewport()
    assert told.get_by_role("article").count() < 60
    told.hover()
    page.mouse.wheel(0, -100_000)
    expect(told.get_by_role("article", name="Turn 1250")).to_have_count(0)
    assert told.get_by_role("article").count() < 60


async def append(server: Server, stream: str, story: list[EventData]) -> None:
    store = Store(f"sqlite:///{server.data_dir / 'forge.db'}")
    try:
        async with store.begin() as tx:
            await EventLog(store, Metrics(version="test")).append(tx, stream, *story)
    finally:
        await store.close()


def long_story(*, turns: int) -> list[EventData]:
    """Four events a turn: the model's step, its answer, the step's end, and what a tool gave."""
    return [fact for turn in range(1, turns + 1) for fact in told_of(turn)]


def told_of(turn: int) -> list[EventData]:
    asked = AgentToolAsked(id=f"call{turn}", name="read_file", input={"path": f"file{turn}.py"})
    step, name = 100 + turn, f"model {turn}"
    return [
        StepStarted(step=step, name=name, attempt=1),
        AgentTurn(
            turn=turn,
            model="scripted:coder",
            text="Some words, " * (turn % 40),
            thinking="",
            tools=[asked],
            stop=StopReason.TOOLS,
            usage=Usage(input=10, output=5),
            cost_micros=10,
            context_used=0.1,
        ),
        StepFinished(step=step, name=name, attempt=1, outcome="ok", duration_ms=9),
        AgentToolUsed(
            turn=turn,
            call_id=asked.id,
            name=asked.name,
            is_error=False,
            summary="12 lines",
            text="x = 1\n" * 12,
            duration_ms=4,
            detail=ToolDetail(),
        ),
    ]
