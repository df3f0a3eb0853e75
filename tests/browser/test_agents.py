"""An agent is given a task, watched, told something, paid for and stopped, all in a browser."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from tests.browser.conftest import Visitor, at_rest
from tests.support.server import Server
from tests.support.studio import Studio, open_studio

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
def studio(server: Server) -> Iterator[Studio]:
    with open_studio(server, SCENES, basket__py="TOTAL = 1\n", waiting__py=WAITING_TEST) as opened:
        yield opened


def transcript(page: Page) -> Locator:
    return page.get_by_role("log", name="Transcript")


def test_a_task_is_given_in_a_workspace_and_watched_to_its_end(visit: Visit, studio: Studio):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/workspaces/{studio.workspace_id}")
    page.get_by_role("button", name="Start an agent here").click()
    page.get_by_label("Task").fill("Repair the basket.")
    page.get_by_role("dialog").get_by_role("button", name="Start").click()

    told = transcript(page)
    expect(told).to_contain_text("The basket is repaired.")
    expect(told.get_by_role("region", name="End")).to_contain_text("done")
    expect(told.get_by_role("region", name="End")).to_contain_text("3 turns · 3 tool calls")
    expect(told.get_by_role("button", name=re.compile("failed.*missing.py"))).to_be_visible()
    expect(page.get_by_label("Tell the agent something")).to_have_count(0)
    changed = page.get_by_role("region", name="Changed files").get_by_role("link", name="basket.py")
    changed.click()
    expect(page.get_by_role("region", name="basket.py")).to_contain_text("TOTAL = 2")


def test_a_call_unfolds_and_a_reload_shows_the_same(visit: Visit, studio: Studio):
    run_id = studio.start("Repair the basket, please.")
    studio.finish(run_id)
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{run_id}")
    told = transcript(page)
    expect(told).to_contain_text("The basket is repaired.")
    at_rest(page)
    seen = told.inner_text()
    told.get_by_role("button", name="write_file").click()
    expect(told.get_by_role("region", name="Input")).to_contain_text("TOTAL = 2")
    told.get_by_role("button", name="Thought").click()
    expect(told.get_by_text("First I look.").last).to_be_visible()
    page.reload()
    expect(told).to_have_text(seen, use_inner_text=True)
    page.get_by_text("Log", exact=True).click()
    expect(page.get_by_role("log", name="Log of the run")).to_contain_text("Ended, done")


def test_words_appear_while_they_are_written(visit: Visit, studio: Studio):
    visitor = visit()
    page = visitor.page
    run_id = studio.start("Count sheep.")
    visitor.open(f"/runs/{run_id}")
    expect(page.get_by_text("Writing")).to_be_visible()
    expect(transcript(page)).to_contain_text(re.compile(r"\d+ sheep\."))
    studio.server.call("POST", f"/api/v1/runs/{run_id}/cancel")
    expect(transcript(page)).to_contain_text("Cancelled by")
    expect(transcript(page)).not_to_contain_text(re.compile(r"\d+ sheep\."))
    expect(page.get_by_text("Writing")).to_have_count(0)


def test_what_a_person_says_is_heard_before_the_next_turn(visit: Visit, studio: Studio):
    (studio.files / "go").unlink(missing_ok=True)
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{studio.start('Wait for me.')}")
    expect(page.get_by_text("Running python3 -m unittest waiting")).to_be_visible()
    page.get_by_label("Tell the agent something").fill("I am on my way.")
    page.keyboard.press("Control+Enter")
    note = page.get_by_text("will be heard before the next turn")
    expect(note).to_be_visible()
    expect(page.get_by_label("Tell the agent something")).to_have_value("")

    (studio.files / "go").touch()
    expect(transcript(page)).to_contain_text("I have waited.")
    expect(note).to_have_count(0)
    expect(transcript(page).get_by_text("I am on my way.")).to_have_count(1)
    expect(transcript(page).get_by_role("button", name=re.compile("done.*run_tests"))).to_be_visible()


def test_an_agent_without_money_asks_for_more(visit: Visit, studio: Studio):
    studio.server.call("PUT", "/api/v1/models/budgets/run", {"limit_usd": 0.01})
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{studio.start('Repair the basket cheaply.')}")
    gate = page.get_by_role("region", name=re.compile("Needs you"))
    expect(gate).to_contain_text("is used up")
    expect(page.get_by_text("Waiting for your answer")).to_be_visible()
    gate.get_by_role("button", name=re.compile("Allow .* more")).click()
    expect(transcript(page)).to_contain_text("The basket is repaired.")
    expect(transcript(page)).to_contain_text(re.compile(r": Allow \$.* more"))
    studio.server.call("PUT", "/api/v1/models/budgets/run", {"limit_usd": 20})


def test_the_transcript_follows_until_the_reader_scrolls_and_again_on_end(visit: Visit, studio: Studio):
    run_id = studio.start("Take long.")
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


def test_five_thousand_events_are_a_few_in_the_page(visit: Visit, studio: Studio):
    run_id = studio.start("Repair the basket again.")
    studio.finish(run_id)
    visitor = visit()
    page = visitor.page
    story = long_story(f"run:{run_id}", turns=1250)
    assert len(story) > 5000
    page.route("**/api/v1/events?*", lambda route: answer(route, story))
    visitor.open(f"/runs/{run_id}")
    told = transcript(page)
    expect(told.get_by_role("article", name="Turn 1250")).to_be_in_viewport()
    assert told.get_by_role("article").count() < 60
    told.hover()
    page.mouse.wheel(0, -100_000)
    expect(told.get_by_role("article", name="Turn 1250")).to_have_count(0)
    assert told.get_by_role("article").count() < 60


def answer(route: Route, data: list[dict[str, Any]]) -> None:
    is_first = "after=0" in route.request.url
    route.fulfill(json={"data": data if is_first else [], "meta": {}, "errors": [], "_links": {}})


def long_story(stream: str, *, turns: int) -> list[dict[str, Any]]:
    """A run of four events a turn: the model's step, its answer, a tool, and its result."""
    usage = {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0}
    start = datetime(2026, 1, 1, tzinfo=UTC)
    facts: list[tuple[str, dict[str, Any]]] = [
        ("run.created", {"kind": "agent", "title": "Long", "parent_id": None}),
        ("run.started", {"worker": "local", "attempt": 1}),
    ]
    for turn in range(1, turns + 1):
        asked = {"id": f"call{turn}", "name": "read_file", "input": {"path": f"file{turn}.py"}}
        used = {"turn": turn, "call_id": asked["id"], "name": "read_file", "is_error": False, "detail": {}}
        facts += [
            ("step.started", {"step": turn, "name": f"model {turn}", "attempt": 1}),
            (
                "agent.turn",
                {
                    "turn": turn,
                    "model": "scripted:coder",
                    "text": "Some words, " * (turn % 40),
                    "thinking": "",
                    "tools": [asked],
                    "stop": "tools",
                    "usage": usage,
                    "cost_micros": 10,
                    "context_used": 0.1,
                },
            ),
            (
                "step.finished",
                {"step": turn, "name": f"model {turn}", "attempt": 1, "outcome": "ok", "duration_ms": 9},
            ),
            ("agent.tool", {**used, "summary": "12 lines", "text": "x = 1\n" * 12, "duration_ms": 4}),
        ]
    return [
        {
            "stream": stream,
            "seq": seq,
            "at": (start + timedelta(seconds=seq)).isoformat(),
            "type": type_,
            "data": data,
        }
        for seq, (type_, data) in enumerate(facts, start=1)
    ]
