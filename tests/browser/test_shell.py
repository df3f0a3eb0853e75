import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import PAGES, PHONE, Visitor, wait_until_idle

from forge import __version__

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def expect_heading(page: Page, name: str) -> None:
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def open_runs(visitor: Visitor) -> None:
    """Open the run list with one run: an empty list has no filter."""
    visitor.server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": {}})
    visitor.open("/runs")
    expect_heading(visitor.page, "Runs")


def test_sidebar_lists_areas_and_version(visit: Visit):
    sidebar = visit().page.get_by_role("navigation", name="Main")
    areas = sidebar.get_by_role("list").get_by_role("link")
    names = ["Home", "Forge", "Bots", "Skills", "Workflows", "Runs", "Workspaces", "Audits", "Settings"]
    expect(areas).to_have_count(len(names))
    for index, name in enumerate(names):
        expect(areas.nth(index)).to_have_accessible_name(name)
    expect(sidebar).to_contain_text(f"v{__version__}")


def test_every_area_has_a_two_key_shortcut(visit: Visit):
    page = visit().page
    for keys, name in (
        ("gb", "Bots"),
        ("gs", "Skills"),
        ("gr", "Runs"),
        ("gw", "Workflows"),
        ("gk", "Workspaces"),
        ("ga", "Audits"),
        ("g,", "Settings"),
        ("gh", "Home"),
        ("gf", "Forge"),  # last, because its text field takes the focus
    ):
        wait_until_idle(page)
        page.keyboard.type(keys)
        expect_heading(page, name)


def test_palette_opens_the_selected_page(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.press("Control+k")
    page.get_by_role("combobox").fill("api")
    expect(page.get_by_role("option", selected=True)).to_contain_text("API keys")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/settings/keys$"))
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_escape_closes_the_palette_and_returns_focus(visit: Visit):
    page = visit().page
    opener = page.get_by_role("button", name=re.compile("Search or run"))
    opener.click()
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.press("Escape")
    expect(opener).to_be_focused()


def test_help_lists_shortcuts_of_the_page(visit: Visit):
    visitor = visit()
    open_runs(visitor)
    visitor.press("?")
    dialog = visitor.page.get_by_role("dialog")
    for label in ("Search or run", "Home", "Next row", "Filter"):
        expect(dialog.get_by_text(label, exact=True)).to_be_visible()


def test_shortcuts_are_ignored_in_text_fields(visit: Visit):
    visitor = visit()
    open_runs(visitor)
    visitor.press("/")
    field = visitor.page.get_by_role("searchbox")
    expect(field).to_be_focused()
    visitor.page.keyboard.type("gh?j")
    expect(field).to_have_value("gh?j")
    expect_heading(visitor.page, "Runs")


def test_selected_theme_survives_a_reload(visit: Visit):
    page = visit(scheme="light").page
    body, background = page.locator("body"), "getComputedStyle(document.body).backgroundColor"
    light = page.evaluate(background)
    page.get_by_role("button", name="Toggle theme").click()
    expect(body).not_to_have_css("background-color", light)
    dark = page.evaluate(background)
    page.reload()
    expect(body).to_have_css("background-color", dark)


def test_unknown_path_shows_not_found_page(visit: Visit):
    visitor = visit()
    visitor.open("/no/such/page")
    expect_heading(visitor.page, "Not found")
    visitor.page.get_by_role("main").get_by_role("link", name="Go home").click()
    expect_heading(visitor.page, "Home")


@pytest.mark.parametrize(
    ("path", "list_name"),
    [
        ("/bots/missing", "Bots"),
        ("/skills/missing", "Skills"),
        ("/workflows/missing", "Workflows"),
        ("/workflows/runs/00000000-0000-0000-0000-000000000000", "Workflows"),
        ("/runs/00000000-0000-0000-0000-000000000000", "Runs"),
        ("/workspaces/00000000-0000-0000-0000-000000000000", "Workspaces"),
    ],
)
def test_missing_object_shows_error_details_and_a_link_to_the_list(visit: Visit, path: str, list_name: str):
    visitor = visit(viewport=PHONE)
    visitor.open(path)
    expect_heading(visitor.page, "Not found")
    expect(visitor.page.get_by_role("button", name="Copy details")).to_be_visible()
    visitor.page.get_by_role("link", name=f"All {list_name.lower()}").click()
    expect_heading(visitor.page, list_name)


def test_empty_list_keeps_its_filters(visit: Visit):
    visitor = visit()
    visitor.open("/bots")
    expect(visitor.page.get_by_text("No bots yet")).to_be_visible()
    visitor.page.get_by_text("Deleted", exact=True).click()
    expect(visitor.page.get_by_text("No bots have this status.")).to_be_visible()


def test_phone_menu_is_a_drawer(visit: Visit):
    page = visit(viewport=PHONE).page
    expect(page.get_by_role("navigation", name="Main")).to_be_hidden()
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("dialog").get_by_role("link", name="Runs").click()
    expect_heading(page, "Runs")
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_menu_scrolls_on_a_phone_in_landscape(visit: Visit):
    page = visit(viewport={"width": 667, "height": 375}).page
    page.get_by_role("button", name="Menu").click()
    settings = page.get_by_role("dialog").get_by_role("link", name="Settings", exact=True)
    settings.scroll_into_view_if_needed()
    expect(settings).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("path", PAGES)
def test_page_does_not_scroll_horizontally_on_a_phone(visit: Visit, path: str):
    visitor = visit(viewport=PHONE)
    visitor.open_and_wait(path)
    assert visitor.page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]


def test_first_tab_stop_skips_the_sidebar(visit: Visit):
    visitor = visit()
    visitor.open("/settings")
    expect_heading(visitor.page, "Settings")
    visitor.press("Tab")
    expect(visitor.page.get_by_role("link", name="Skip to content")).to_be_focused()
    visitor.page.keyboard.press("Enter")
    expect(visitor.page.get_by_role("main")).to_be_focused()
