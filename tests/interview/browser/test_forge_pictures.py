"""Take the screenshots of interviews for the guides."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor
from tests.browser.test_screenshots import save_screenshot
from tests.interview.browser.steps import advance_to_review, begin, choose, create_button, switch_to_chat

pytestmark = pytest.mark.browser


def test_screenshots_of_an_interview(visit: Callable[..., Visitor], tmp_path: Path):
    visitor = visit()
    page = visitor.page
    begin(visitor, "Answers customers' questions about our bicycles")
    choose(page)
    choose(page)
    save_screenshot(page, "forge-wizard.png", tmp_path)
    switch_to_chat(page)
    save_screenshot(page, "forge-chat.png", tmp_path)
    page.get_by_text("Wizard", exact=True).click()
    advance_to_review(page)
    page.get_by_role("button", name="Show files").click()
    expect(page.get_by_role("figure").locator("span[style]").first).to_be_visible()
    expect(create_button(page)).to_be_visible()
    save_screenshot(page, "forge-review.png", tmp_path)
    visitor.open("/forge")
    expect(page.get_by_role("list", name="Drafts")).to_be_visible()
    page.get_by_role("button", name="A patient tutor").click()
    save_screenshot(page, "forge-start.png", tmp_path)
