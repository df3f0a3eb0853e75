"""The picture in the README is what a browser really shows."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor
from tests.support.server import wait_until

pytestmark = pytest.mark.browser

PICTURES = Path(__file__).parent.parent.parent / "docs" / "pictures"


def test_the_page_of_a_run_that_waits(visit: Callable[..., Visitor], tmp_path: Path):
    """With FORGE_PICTURES=1 it replaces the one in docs/pictures."""
    visitor = visit(scheme="dark")
    given = {"kind": "self_test", "input": {"ask": True, "child": True, "step_ms": 150}}
    run_id = visitor.server.call("POST", "/api/v1/runs", given)["id"]
    wait_until(lambda: visitor.server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the question")
    visitor.open(f"/runs/{run_id}")
    expect(visitor.page.get_by_role("heading", name="Does this reach you?")).to_be_visible()
    expect(visitor.page.get_by_text("Waits for an answer")).to_be_visible()
    folder = PICTURES if os.environ.get("FORGE_PICTURES") else tmp_path
    folder.mkdir(exist_ok=True)
    visitor.page.screenshot(path=folder / "run.png")
    assert (folder / "run.png").stat().st_size > 20_000
