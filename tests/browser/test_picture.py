"""The pictures in the README and the guides are what a browser really shows."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import Visitor
from tests.support.server import wait_until
from tests.support.studio import open_studio

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).parent.parent.parent / "docs" / "pictures"


def keep(page: Page, name: str, elsewhere: Path) -> None:
    """With FORGE_PICTURES=1 it replaces the one in docs/pictures."""
    folder = PICTURES if os.environ.get("FORGE_PICTURES") else elsewhere
    folder.mkdir(exist_ok=True)
    page.screenshot(path=folder / name)
    assert (folder / name).stat().st_size > 20_000


def test_the_page_of_a_run_that_waits(visit: Callable[..., Visitor], tmp_path: Path):
    visitor = visit(scheme="dark")
    given = {"kind": "self_test", "input": {"ask": True, "child": True, "step_ms": 150}}
    run_id = visitor.server.call("POST", "/api/v1/runs", given)["id"]
    wait_until(lambda: visitor.server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the question")
    visitor.open(f"/runs/{run_id}")
    expect(visitor.page.get_by_role("heading", name="Does this reach you?")).to_be_visible()
    expect(visitor.page.get_by_text("Waits for an answer")).to_be_visible()
    keep(visitor.page, "run.png", tmp_path)


BROKEN = """def total(lines):
    return sum(price for price, quantity in lines)
"""
WHOLE = BROKEN.replace("sum(price for", "sum(price * quantity for")
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
                "tools": [{"write_file": {"path": "basket.py", "content": WHOLE}}, RUN_TESTS],
            },
            {"text": "Done: `total` multiplies by the quantity now, and both tests pass."},
        ],
    }
}


def test_the_page_of_an_agent(visit: Callable[..., Visitor], tmp_path: Path):
    visitor = visit()
    files = {"basket__py": BROKEN, "test_basket__py": TESTS}
    with open_studio(visitor.server, SCENES, **files) as studio:
        run_id = studio.start("Make the tests pass, without changing them.")
        studio.finish(run_id)
        visitor.open(f"/runs/{run_id}")
        expect(visitor.page.get_by_role("region", name="End")).to_be_visible()
        keep(visitor.page, "agent.png", tmp_path)
