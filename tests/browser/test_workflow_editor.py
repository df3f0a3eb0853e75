"""The workflow editor: edges, undo, keyboard, and preservation of YAML comments."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, expect
from tests.browser.conftest import ColorScheme, Visitor
from tests.support.server import Server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

SOURCE = """\
# A comment to preserve.
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
def open_editor(visit: Visit, server: Server) -> Iterator[Callable[..., Page]]:
    workflow_id = server.call("POST", "/api/v1/workflows", {"source": SOURCE})["id"]

    def open_editor(**options: ColorScheme | ViewportSize) -> Page:
        visitor = visit(**options)
        visitor.open("/workflows/drawn/edit")
        expect(node(visitor.page, "first")).to_be_visible()
        return visitor.page

    yield open_editor
    server.call("DELETE", f"/api/v1/workflows/{workflow_id}")


def node(page: Page, step: str) -> Locator:
    return page.locator(f'.react-flow__node[data-id="{step}"]')


def edges(page: Page) -> Locator:
    return page.locator(".react-flow__edge")


def drag(page: Page, start: Locator, end: Locator) -> None:
    start.hover()
    page.mouse.down()
    end.hover(force=True)
    end.hover(force=True)
    page.mouse.up()


def test_added_edge_is_undone_redone_and_saved_with_yaml_comments(
    open_editor: Callable[..., Page], server: Server
):
    page = open_editor()
    expect(edges(page)).to_have_count(1)
    drag(
        page,
        node(page, "each").locator('[data-handleid="after"]'),
        node(page, "last").locator('[data-handleid="in"]'),
    )
    expect(edges(page)).to_have_count(2)
    page.keyboard.press("Control+z")
    expect(edges(page)).to_have_count(1)
    page.keyboard.press("Control+Shift+z")
    expect(edges(page)).to_have_count(2)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved drawn as version 2.")).to_be_visible()
    saved = server.call("GET", "/api/v1/workflows/drawn")
    assert saved["definition"]["steps"][-1]["depends_on"] == ["each"]
    assert saved["source"].startswith("# A comment to preserve.\n")
    assert "- id: inner  # for each of them" in saved["source"]


def test_steps_can_be_edited_by_keyboard(open_editor: Callable[..., Page]):
    page = open_editor()
    node(page, "first").focus()
    page.keyboard.press("ArrowDown")
    expect(node(page, "each")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(node(page, "inner")).to_be_focused()
    page.keyboard.press("Enter")
    panel = page.get_by_role("region", name="Step inner")
    expect(panel).to_be_focused()
    panel.get_by_label("Id").fill("body")
    page.keyboard.press("Enter")
    expect(node(page, "body")).to_be_visible()
    node(page, "body").focus()
    page.keyboard.press("Delete")
    expect(node(page, "body")).to_have_count(0)
    expect(page.get_by_role("list", name="Problems")).to_contain_text("each")
