"""Steps of an interview in a browser."""

import re

from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Visitor, at_rest

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
    expect(answers(page).or_(go_on(page)).first).to_be_visible()
    at_rest(page)
    return page.url.rsplit("/", 1)[-1]


def question(page: Page) -> Locator:
    """Locate the text above the answers; in the chat, that of the last bubble."""
    return page.get_by_role("main").get_by_role("heading", level=2).first


def answers(page: Page) -> Locator:
    return page.get_by_role("list", name="Answers").get_by_role("button")


def go_on(page: Page) -> Locator:
    return page.get_by_role("button", name="Continue")


def create(page: Page) -> Locator:
    return page.get_by_role("button", name=re.compile(r"^(Create|Change the bot)"))


def choose(page: Page, which: int | str = 0) -> None:
    """Choose an answer by index or text and wait for the next turn."""
    asked = question(page).inner_text()
    all_of_them = answers(page)
    chosen = all_of_them.nth(which) if isinstance(which, int) else all_of_them.filter(has_text=which)
    chosen.click()
    expect(question(page)).not_to_have_text(asked)


def to_review(page: Page) -> None:
    """Choose the first answers until the review."""
    for _ in range(30):
        expect(answers(page).or_(go_on(page)).or_(create(page)).first).to_be_visible()
        if create(page).is_visible():
            return
        if go_on(page).is_visible():
            go_on(page).click()
            expect(go_on(page)).to_have_count(0)
        else:
            choose(page)
    raise AssertionError(f"no end in sight: {question(page).inner_text()}")


def in_chat(page: Page) -> None:
    page.get_by_text("Chat", exact=True).click()
    expect(page.get_by_role("region", name="Conversation")).to_be_visible()


def bubbles(page: Page, who: str) -> Locator:
    return page.get_by_role("region", name="Conversation").get_by_role("article", name=who)
