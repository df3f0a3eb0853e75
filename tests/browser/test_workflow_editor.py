"""The editor of workflows: drawn, linked, undone, saved, with the comments of the YAML kept."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect
from tests.browser.conftest import ColorScheme, Visitor
from tests.support.server import Server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

SOURCE = """\
# Mine, and to be kept.
name: drawn
steps:
  - id: first
    type: wait
    config: {seconds: 1}
  - id: each
    type: loop
    depends_on: [first]
    config: {items: [1, 2], body_steps: [inner]}
  - id: inner  # for each of them
    type: wait
    config: {seconds: 1}
  - id: last
    type: wait
    config: {seconds: 1}
"""


@pytest.fixture
def opened(visit: Visit, server: Server) -> Iterator[Callable[..., Page]]:
    made = server.call("POST", "/api/v1/workflows", {"source": SOURCE})["id"]

    def open_editor(**look: ColorScheme | ViewportSize) -> Page:
        visitor = visit(**look)
        visitor.open("/workflows/drawn/edit")
        expect(box(visitor.page, "first")).to_be_visible()
        return visitor.page

    yield open_editor
    server.call("DELETE", f"/api/v1/workflows/{made}")


def box(page: Page, step: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{step}"]')


def links(page: Page) -> Locator:
    return page.locator(".react-flow__edge")


def drag(page: Page, start: Locator, end: Locator) -> None:
    start.hover()
    page.mouse.down()
    end.hover(force=True)
    end.hover(force=True)
    page.mouse.up()


def test_a_link_is_drawn_undone_and_saved_with_the_comments_of_the_yaml(
    opened: Callable[..., Page], server: Server
):
    page = opened()
    expect(links(page)).to_have_count(1)
    drag(
        page,
        box(page, "each").locator('[data-handleid="after"]'),
        box(page, "last").locator('[data-handleid="in"]'),
    )
    expect(links(page)).to_have_count(2)
    page.keyboard.press("Control+z")
    expect(links(page)).to_have_count(1)
    page.keyboard.press("Control+Shift+z")
    expect(links(page)).to_have_count(2)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved drawn as version 2.")).to_be_visible()
    saved = server.call("GET", "/api/v1/workflows/drawn")
    assert saved["definition"]["steps"][-1]["depends_on"] == ["each"]
    assert saved["source"].startswith("# Mine, and to be kept.\n")
    assert "- id: inner  # for each of them" in saved["source"]


def test_everything_by_keyboard(opened: Callable[..., Page]):
    page = opened()
    box(page, "first").focus()
    page.keyboard.press("ArrowDown")
    expect(box(page, "each")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(box(page, "inner")).to_be_focused()
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name="Step inner")
    expect(panel).to_be_focused()
    panel.get_by_label("Id").fill("body")
    page.keyboard.press("Enter")
    expect(box(page, "body")).to_be_visible()
    box(page, "body").focus()
    page.keyboard.press("Delete")
    expect(box(page, "body")).to_have_count(0)
    expect(page.get_by_role("list", name="Problems")).to_contain_text("each")
