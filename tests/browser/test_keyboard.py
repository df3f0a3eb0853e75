"""Everything can be done by keyboard, and the focus is always visible."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import PHONE, Visitor, wait_until_idle

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

MAX_TABS = 60
"""The maximum number of key presses to reach an element."""
FOCUS_WITHOUT_INDICATOR = """() => {
  const hasOutline = element => getComputedStyle(element).outlineStyle !== "none";
  const focused = document.activeElement;
  const frame = focused.closest("label") ?? focused;
  const isVisible = focused === document.body || hasOutline(focused) || hasOutline(frame) ||
    focused.closest("[class*='focus-within:']");
  return isVisible ? null : focused.outerHTML.slice(0, 200);
}"""
"""Returns the focused element if neither it nor its frame has a visible focus indicator."""


def go(visitor: Visitor, keys: str, name: str) -> None:
    wait_until_idle(visitor.page)
    visitor.page.keyboard.type(keys)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text(name)


def tab_to(page: Page, target: Locator, *, key: str = "Tab") -> None:
    """Move the focus to an element, and check that the focus is visible on the way."""
    expect(target).to_be_visible()
    wait_until_idle(page)
    for _ in range(MAX_TABS):
        if target.evaluate("element => element === document.activeElement"):
            return
        page.keyboard.press(key)
        assert page.evaluate(FOCUS_WITHOUT_INDICATOR) is None
    raise AssertionError(f"{target} is not within {MAX_TABS} presses of {key}")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def check_focus_is_returned(page: Page, opener: Locator, *, role: str = "dialog") -> None:
    """Check that the focus moves into the overlay, stays there, and returns after Escape."""
    overlay = page.locator(f"[role={role}]")
    tab_to(page, opener)
    page.keyboard.press("Enter")
    expect(overlay).to_be_visible()
    wait_until_idle(page)
    assert overlay.evaluate("one => one.contains(document.activeElement)")
    if role == "dialog":
        for _ in range(3):
            page.keyboard.press("Tab")
            wait_until_idle(page)
            assert overlay.evaluate("one => one.contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(overlay).to_have_count(0)
    expect(opener).to_be_focused()


def test_bot_is_created_by_keyboard(visit: Visit):
    visitor = visit()
    page = visitor.page
    go(visitor, "gb", "Bots")
    tab_to(page, page.get_by_role("link", name="Runs", exact=True))  # the dialog returns the focus to it
    visitor.press("c")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Quill")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Quill")
    expect(page.get_by_label(re.compile("^Message Quill"))).to_be_focused()
    page.keyboard.type("An unsent draft")
    tab_to(page, page.get_by_role("link", name="Soul"), key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="SOUL.md")).to_be_visible()
    tab_to(page, page.get_by_role("textbox", name="SOUL.md"))
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox", name="SOUL.md")).not_to_be_focused()
    check_focus_is_returned(page, button(page, "More"), role="menu")
    tab_to(page, page.get_by_role("link", name="Chat"), key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label(re.compile("^Message Quill"))).to_have_value("An unsent draft")


def test_gate_is_answered_by_keyboard(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("self-test")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Self-test")
    expect(page.get_by_role("region", name=re.compile("^Needs you"))).to_be_visible()
    check_focus_is_returned(page, page.get_by_role("button", name=re.compile("^Cancel")))
    tab_to(page, button(page, "Add a comment"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Comment (saved with the answer)")).to_be_focused()
    page.keyboard.type("By keyboard.")
    tab_to(page, page.get_by_role("button", name=re.compile("^Yes")))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Output")).to_be_visible()


def test_secret_is_added_by_keyboard(visit: Visit):
    visitor = visit()
    page = visitor.page
    go(visitor, "g,", "Settings")
    tab_to(page, page.get_by_role("navigation", name="Settings").get_by_role("link", name="Secrets"))
    page.keyboard.press("Enter")
    opener = button(page, "Add a secret").first
    check_focus_is_returned(page, opener)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("SEA_KEY")
    tab_to(page, page.get_by_label("Value"))
    page.keyboard.type("not-a-real-key")
    tab_to(page, button(page, "Save"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="SEA_KEY", exact=True)).to_be_visible()
    check_focus_is_returned(page, button(page, "Remove SEA_KEY"))


def test_workflow_is_created_by_keyboard(visit: Visit):
    visitor = visit()
    page = visitor.page
    go(visitor, "gw", "Workflows")
    visitor.press("c")
    tab_to(page, page.get_by_role("button", name=re.compile("^Blank")))
    page.keyboard.press("Enter")
    nodes = page.locator(".react-flow__node")
    tab_to(page, nodes.first)
    page.keyboard.press("Delete")
    expect(nodes).to_have_count(0)
    tab_to(page, page.get_by_role("button", name=re.compile("^Wait")), key="Shift+Tab")
    page.keyboard.press("Enter")
    tab_to(page, nodes.first)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name=re.compile("^Step wait"))).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit my-workflow")


def test_phone_menu_traps_and_returns_focus(visit: Visit):
    page = visit(viewport=PHONE).page
    check_focus_is_returned(page, button(page, "Menu"))
