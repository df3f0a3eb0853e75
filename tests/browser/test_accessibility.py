"""axe finds nothing on any page, light and dark, wide and narrow."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from tests.browser.conftest import DESKTOP, PAGES, PHONE, ColorScheme, Visitor, at_rest
from tests.support.studio import open_studio

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
LOOKS: list[tuple[ColorScheme, ViewportSize]] = [("light", DESKTOP), ("dark", DESKTOP), ("light", PHONE)]

everywhere = pytest.mark.parametrize(
    ("scheme", "viewport"), LOOKS, ids=[f"{scheme}-{size['width']}" for scheme, size in LOOKS]
)


def problems(page: Page) -> list[str]:
    at_rest(page)
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{one['impact']} {one['id']}: {one['nodes'][0]['html']}" for one in found]


@everywhere
def test_pages(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    visitor = visit(scheme=scheme, viewport=viewport)
    found: dict[str, list[str]] = {}
    for path in PAGES:
        visitor.open_all_of(path)
        found[path] = problems(visitor.page)
    assert found == {path: [] for path in PAGES}


@everywhere
def test_a_run_that_asks(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    visitor = visit(scheme=scheme, viewport=viewport)
    given = {"kind": "self_test", "input": {"ask": True, "child": True}}
    run_id = visitor.server.call("POST", "/api/v1/runs", given)["id"]
    visitor.open(f"/runs/{run_id}")
    expect(visitor.page.get_by_text("needs you").first).to_be_visible()
    assert problems(visitor.page) == []
    visitor.page.get_by_role("button", name="Yes").click()
    expect(visitor.page.get_by_role("region", name="Output")).to_be_visible()
    assert problems(visitor.page) == []


@everywhere
def test_an_agent_and_its_workspace(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    visitor = visit(scheme=scheme, viewport=viewport)
    page = visitor.page
    with open_studio(visitor.server, SCENES, basket__py="TOTAL = 1\n") as studio:
        run_id = studio.start("Look at it.")
        studio.finish(run_id)
    visitor.open(f"/runs/{run_id}")
    expect(page.get_by_text("All is well.")).to_be_visible()
    page.get_by_role("button", name="Thought").click()
    page.get_by_role("button", name="read_file").first.click()
    expect(page.get_by_role("region", name="Output")).to_be_visible()
    assert problems(page) == []
    visitor.open(f"/workspaces/{studio.workspace_id}?file=basket.py&q=total")
    expect(page.get_by_role("region", name="basket.py")).to_contain_text("TOTAL")
    expect(page.get_by_role("region", name="Found")).to_contain_text("1 line")
    assert problems(page) == []
    page.get_by_role("button", name="Start an agent here").click()
    expect(page.get_by_label("Task")).to_be_visible()
    assert problems(page) == []


SCENES = {
    "looking": {
        "match": {"opening": "Look"},
        "turns": [
            {
                "thinking": "I look.",
                "tools": [{"read_file": {"path": "basket.py"}}, {"read_file": {"path": "nothing.py"}}],
            },
            {"text": "All is well."},
        ],
    }
}


@everywhere
def test_what_lies_over_a_page(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    visitor = visit(scheme=scheme, viewport=viewport)
    page = visitor.page
    for keys in ("Control+k", "?"):
        visitor.press(keys)
        expect(page.get_by_role("dialog")).to_be_visible()
        assert problems(page) == []
        page.keyboard.press("Escape")
        expect(page.get_by_role("dialog")).to_have_count(0)


@everywhere
def test_the_login(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    visitor = visit(scheme=scheme, viewport=viewport, is_signed_in=False)
    visitor.open("/login#token=not-a-token")
    expect(visitor.page.get_by_role("alert")).to_be_visible()
    assert problems(visitor.page) == []
