"""Somebody without a mouse makes a bot, a secret and a workflow, answers a question, and always sees where they are."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import PHONE, Visitor, at_rest

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

FURTHEST = 60
"""How many times somebody presses Tab before they give up."""
RING = """() => {
  const ringed = one => getComputedStyle(one).outlineStyle !== "none";
  const at = document.activeElement;
  const frame = at.closest("label") ?? at;
  const isSeen = at === document.body || ringed(at) || ringed(frame) || at.closest("[class*='focus-within:']");
  return isSeen ? null : at.outerHTML.slice(0, 200);
}"""
"""What has the focus without anything around it that says so: a field in a frame has its ring there."""


def go(visitor: Visitor, letters: str, name: str) -> None:
    at_rest(visitor.page)
    visitor.page.keyboard.type(letters)
    expect(visitor.page.get_by_role("heading", level=1)).to_have_text(name)


def tab_to(page: Page, wanted: Locator, *, key: str = "Tab") -> None:
    """What has the focus on the way is always to be seen."""
    expect(wanted).to_be_visible()
    at_rest(page)
    for _ in range(FURTHEST):
        if wanted.evaluate("one => one === document.activeElement"):
            return
        page.keyboard.press(key)
        assert page.evaluate(RING) is None
    raise AssertionError(f"{wanted} is not within {FURTHEST} times {key}")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def open_and_leave(page: Page, opener: Locator, *, opened: str = "dialog") -> None:
    """The focus goes in, stays in, and is back where it was after Escape."""
    over = page.locator(f"[role={opened}]")
    tab_to(page, opener)
    page.keyboard.press("Enter")
    expect(over).to_be_visible()
    at_rest(page)
    assert over.evaluate("one => one.contains(document.activeElement)")
    if opened == "dialog":
        for _ in range(3):
            page.keyboard.press("Tab")
            at_rest(page)
            assert over.evaluate("one => one.contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(over).to_have_count(0)
    expect(opener).to_be_focused()


def test_a_bot_is_made_and_looked_at(visit: Visit):
    visitor = visit()
    page = visitor.page
    go(visitor, "gb", "Bots")
    tab_to(page, page.get_by_role("link", name="Runs", exact=True))  # a dialog gives the focus back to it
    visitor.press("c")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("Quill")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Quill")
    expect(page.get_by_label(re.compile("^Message Quill"))).to_be_focused()
    page.keyboard.type("Half a word")
    tab_to(page, page.get_by_role("link", name="Soul"), key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="SOUL.md")).to_be_visible()
    tab_to(page, page.get_by_role("textbox", name="SOUL.md"))
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(page.get_by_role("textbox", name="SOUL.md")).not_to_be_focused()
    open_and_leave(page, button(page, "More"), opened="menu")
    tab_to(page, page.get_by_role("link", name="Chat"), key="Shift+Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_label(re.compile("^Message Quill"))).to_have_value("Half a word")


def test_a_question_is_found_and_answered(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.press("Control+k")
    expect(page.get_by_role("combobox")).to_be_focused()
    page.keyboard.type("self-test")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Self-test")
    expect(page.get_by_role("region", name=re.compile("^Needs you"))).to_be_visible()
    open_and_leave(page, page.get_by_role("button", name=re.compile("^Cancel")))
    tab_to(page, button(page, "Add a comment"))
    page.keyboard.press("Enter")
    expect(page.get_by_label("Comment (saved with the answer)")).to_be_focused()
    page.keyboard.type("By keyboard.")
    tab_to(page, page.get_by_role("button", name=re.compile("^Yes")))
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Output")).to_be_visible()


def test_a_secret_is_kept(visit: Visit):
    visitor = visit()
    page = visitor.page
    go(visitor, "g,", "Settings")
    tab_to(page, page.get_by_role("navigation", name="Settings").get_by_role("link", name="Secrets"))
    page.keyboard.press("Enter")
    opener = button(page, "Add a secret").first
    open_and_leave(page, opener)
    page.keyboard.press("Enter")
    expect(page.get_by_label("Name")).to_be_focused()
    page.keyboard.type("SEA_KEY")
    tab_to(page, page.get_by_label("Value"))
    page.keyboard.type("not-a-real-key")
    tab_to(page, button(page, "Save"))
    page.keyboard.press("Enter")
    expect(page.get_by_role("cell", name="SEA_KEY", exact=True)).to_be_visible()
    open_and_leave(page, button(page, "Remove SEA_KEY"))


def test_a_workflow_is_drawn_and_saved(visit: Visit):
    visitor = visit()
    page = visitor.page
    go(visitor, "gw", "Workflows")
    visitor.press("c")
    tab_to(page, page.get_by_role("button", name=re.compile("^Blank")))
    page.keyboard.press("Enter")
    boxes = page.locator(".react-flow__node")
    tab_to(page, boxes.first)
    page.keyboard.press("Delete")
    expect(boxes).to_have_count(0)
    tab_to(page, page.get_by_role("button", name=re.compile("^Wait")), key="Shift+Tab")
    page.keyboard.press("Enter")
    tab_to(page, boxes.first)
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name=re.compile("^Step wait"))).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_role("heading", level=1)).to_have_text("Edit my-workflow")


def test_on_a_phone_the_menu_takes_the_focus_and_gives_it_back(visit: Visit):
    page = visit(viewport=PHONE).page
    open_and_leave(page, button(page, "Menu"))
