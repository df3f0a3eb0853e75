"""Steps of an interview in a browser."""

import re

from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Visitor, wait_until_idle

TUTOR = "A patient tutor who explains mathematics to a twelve-year-old"
LABELS = {
    "bot": "What should your bot do",
    "skill": "What should the skill do",
    "batch": "What should they do",
}


def begin(visitor: Visitor, description: str = TUTOR, *, kind: str = "bot") -> str:
    """Start an interview, wait for its first turn and return its id."""
    visitor.open(f"/forge?mode={kind}")
    visitor.page.get_by_label(LABELS[kind]).fill(description)
    visitor.page.keyboard.press("Control+Enter")
    return wait_for_interview(visitor.page)


def wait_for_interview(page: Page) -> str:
    page.wait_for_url(re.compile("/forge/.+"))
    expect(answers(page).or_(continue_button(page)).first).to_be_visible()
    wait_until_idle(page)
    return page.url.rsplit("/", 1)[-1]


def question(page: Page) -> Locator:
    """Locate the text above the answers; in the chat, that of the last bubble."""
    return page.get_by_role("main").get_by_role("heading", level=2).first


def answers(page: Page) -> Locator:
    return page.get_by_role("list", name="Answers").get_by_role("button")


def continue_button(page: Page) -> Locator:
    return page.get_by_role("button", name="Continue")


def create_button(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile(r"^(Create|Change the bot)"))


def choose(page: Page, which: int | str = 0) -> None:
    """Choose an answer by index or text and wait for the next turn."""
    current = question(page).inner_text()
    options = answers(page)
    chosen = options.nth(which) if isinstance(which, int) else options.filter(has_text=which)
    chosen.click()
    expect(question(page)).not_to_have_text(current)


def advance_to_review(page: Page) -> None:
    """Choose the first answers until the review."""
    for _ in range(30):
        expect(answers(page).or_(continue_button(page)).or_(create_button(page)).first).to_be_visible()
        if create_button(page).is_visible():
            return
        if continue_button(page).is_visible():
            continue_button(page).click()
            expect(continue_button(page)).to_have_count(0)
        else:
            choose(page)
    raise AssertionError(f"the interview did not reach the review: {question(page).inner_text()}")


def switch_to_chat(page: Page) -> None:
    page.get_by_text("Chat", exact=True).click()
    expect(page.get_by_role("region", name="Conversation")).to_be_visible()


def bubbles(page: Page, author: str) -> Locator:
    return page.get_by_role("region", name="Conversation").get_by_role("article", name=author)
