"""Take the screenshots in the README and the guides."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Visitor, wait_until_idle
from tests.support.agent_server import open_agent_server
from tests.support.agents import finish
from tests.support.server import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.full]

PICTURES_DIR = Path(__file__).parent.parent.parent / "docs" / "pictures"


def save_screenshot(page: Page, name: str, fallback: Path) -> None:
    """Save a screenshot; with FORGE_PICTURES=1 in docs/pictures."""
    folder = PICTURES_DIR if os.environ.get("FORGE_PICTURES") else fallback
    folder.mkdir(exist_ok=True)
    page.screenshot(path=folder / name)
    assert (folder / name).stat().st_size > 20_000


def test_run_page_with_a_gate(visit: Callable[..., Visitor], tmp_path: Path):
    visitor = visit(scheme="dark")
    body = {"kind": "self_test", "input": {"ask": True, "child": True, "step_ms": 150}}
    run_id = visitor.server.call("POST", "/api/v1/runs", body)["id"]
    wait_until(lambda: visitor.server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the gate")
    visitor.open(f"/runs/{run_id}")
    expect(visitor.page.get_by_role("heading", name="Can you see this question?")).to_be_visible()
    expect(visitor.page.get_by_text("Waiting for an answer")).to_be_visible()
    save_screenshot(visitor.page, "run.png", tmp_path)


BROKEN = """def total(lines):
    return sum(price for price, quantity in lines)
"""
FIXED = BROKEN.replace("sum(price for", "sum(price * quantity for")
TESTS = """from basket import total

def test_nothing_costs_nothing():
    assert total([]) == 0

def test_two_cost_twice_as_much():
    assert total([(3, 2)]) == 6
"""
RUN_TESTS = {"run_tests": {"command": "python3 -m pytest -q"}}
SCENES = {
    "fixing": {
        "match": {"opening": "Make the tests pass"},
        "turns": [
            {
                "thinking": "The tests say what is wanted. I read them before I change anything.",
                "text": "I read the code and its tests, and see what fails.",
                "tools": [
                    {"read_file": {"path": "basket.py"}},
                    {"read_file": {"path": "test_basket.py"}},
                    RUN_TESTS,
                ],
            },
            {
                "text": "`total` adds **prices** and forgets how many there are:\n\n"
                "```python\nsum(price for price, quantity in lines)\n```\n\nI multiply by the quantity.",
                "tools": [{"write_file": {"path": "basket.py", "content": FIXED}}, RUN_TESTS],
            },
            {
                "tools": [
                    finish("`total` multiplies by the quantity now, and both tests pass.", verified=True)
                ]
            },
        ],
    }
}


def test_agent_page(visit: Callable[..., Visitor], tmp_path: Path):
    visitor = visit()
    files = {"basket__py": BROKEN, "test_basket__py": TESTS}
    with open_agent_server(visitor.server, SCENES, **files) as agent_server:
        run_id = agent_server.start("Make the tests pass, without changing them.")
        agent_server.finish(run_id)
        visitor.open(f"/runs/{run_id}")
        expect(visitor.page.get_by_role("region", name="End")).to_be_visible()
        save_screenshot(visitor.page, "agent.png", tmp_path)


DIGEST = """\
name: weekly-letter
description: Collects what happened, sums it up, and asks before it goes out.
triggers:
  - {type: cron, schedule: every monday at 9am, timezone: Europe/Berlin}
inputs:
  places: {type: array, default: [harbour, market, library]}
steps:
  - id: each
    name: Each place
    type: loop
    config: {items: "{{ inputs.places }}", parallel: 3, body_steps: [look]}
  - id: look
    name: What happened there
    type: code
    config:
      language: javascript
      source: |
        function run(input) {
          console.log(`looked at the ${input.place}`);
          return { place: input.place, news: input.place.length };
        }
      input: {place: "{{ loop.item }}"}
  - id: enough
    name: Enough for a letter?
    type: conditional
    depends_on: [each]
    config: {condition: "size(inputs.places) > 2", then_steps: [review], else_steps: [later]}
  - {id: later, name: Wait for more, type: wait, depends_on: [enough], config: {seconds: 3600}}
  - id: review
    name: May it go out?
    type: approval
    depends_on: [enough]
    config:
      prompt: |
        News from **{{ size(inputs.places) }} places** are in this week's letter.

        - the harbour has a new crane
        - the market moves to Saturday
        - the library lends tools
  - {id: send, name: Send it, type: wait, depends_on: [review], config: {seconds: 1}}
outputs: {places: "{{ inputs.places }}"}
"""


def test_workflow_pages(visit: Callable[..., Visitor], tmp_path: Path):
    visitor = visit()
    page, call = visitor.page, visitor.server.call
    call("POST", "/api/v1/workflows", {"source": DIGEST})
    visitor.open("/workflows/weekly-letter/edit")
    page.locator('.react-flow__node[data-id="review"]').click()
    expect(page.get_by_role("region", name="Step May it go out?")).to_be_visible()
    wait_until_idle(page)
    save_screenshot(page, "workflow-canvas.png", tmp_path)
    page.get_by_text("YAML", exact=True).click()
    expect(page.get_by_text("name: weekly-letter")).to_be_visible()
    save_screenshot(page, "workflow-yaml.png", tmp_path)
    run_id = call("POST", "/api/v1/workflows/weekly-letter/trigger", {})["run_id"]
    visitor.open(f"/workflows/runs/{run_id}")
    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    expect(page.get_by_role("treeitem", name="May it go out? waiting")).to_be_visible()
    expect(page.locator("strong", has_text="3 places")).to_be_visible()
    wait_until_idle(page)
    save_screenshot(page, "workflow-run.png", tmp_path)
    call("POST", f"/api/v1/workflow-runs/{run_id}/cancel")
