"""Interviews in a browser without a model."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, ViewportSize, expect
from tests.browser.conftest import ColorScheme, Visitor, wait_until_idle
from tests.browser.gallery.views import overflow
from tests.browser.test_accessibility import each_look, problems
from tests.interview.browser.steps import (
    TUTOR,
    advance_to_review,
    answers,
    begin,
    bubbles,
    choose,
    create_button,
    question,
    switch_to_chat,
    wait_for_interview,
)
from tests.support.server import Server

from forge.kernel.ids import new_id

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def view(server: Server, session_id: str) -> dict[str, Any]:
    return server.call("GET", f"/api/v1/builder/sessions/{session_id}")


def drafts(page: Page):
    return page.get_by_role("list", name="Drafts").get_by_role("listitem")


def test_bot_is_created_with_the_keyboard_only(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    visitor.press("g")
    visitor.press("f")
    expect(page.get_by_role("textbox", name="What should your bot do")).to_be_focused()
    page.keyboard.type(TUTOR)
    page.keyboard.press("Control+Enter")
    session_id = wait_for_interview(page)
    expect(question(page)).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(answers(page).first).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(answers(page).nth(1)).to_be_focused()
    current = question(page).inner_text()
    page.keyboard.press("Enter")
    while not create_button(page).is_visible():
        expect(question(page)).not_to_have_text(current)
        expect(question(page)).to_be_focused()
        expect(page.get_by_role("status").filter(has_text=question(page).inner_text())).to_be_attached()
        if create_button(page).is_visible():
            break
        current = question(page).inner_text()
        page.keyboard.press("1")
    name = view(server, session_id)["preview"]["name"]
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/bots/[^/]+/chat$"))
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    made = view(server, session_id)["made"]["bots"]
    assert [bot["bot_name"] for bot in made] == [name]
    assert Path(made[0]["soul_path"]).read_text().startswith("---")


def test_settings_can_be_edited_in_the_review(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    begin(visitor)
    advance_to_review(page)
    name = f"Euler {new_id()[-6:]}"
    page.get_by_label("Name").fill(name)
    skills = page.get_by_role("list", name="Skills").get_by_role("listitem")
    skill_count = skills.count()
    page.get_by_role("button", name=re.compile("^Remove ")).first.click()
    expect(skills).to_have_count(skill_count - 1)
    page.get_by_role("button", name="Show files").click()
    preview = page.get_by_role("complementary", name="Preview")
    expect(preview.get_by_role("figure")).to_contain_text(f"name: {name}")
    soul_text = preview.get_by_role("figure").locator("code").inner_text()
    preview.get_by_text("skills.toml", exact=True).click()
    expect(preview.get_by_role("figure")).to_contain_text("[skills.")
    page.get_by_label("Description").fill("Numbers, kindly.")
    expect(preview).to_contain_text("These files do not include your last change.")
    page.get_by_label("Description").fill(TUTOR)
    expect(preview).not_to_contain_text("These files do not include your last change.")
    create_button(page).click()
    page.wait_for_url(re.compile(r"/bots/euler-[^/]+/chat$"))
    slug = page.url.split("/")[-2]
    bot = server.call("GET", f"/api/v1/bots/{slug}")
    assert bot["identity"]["display_name"] == name
    assert (Path(bot["folder"]) / "SOUL.md").read_text().rstrip() == soul_text.rstrip()
    assert len(server.call("GET", f"/api/v1/bots/{slug}/skills")) == skill_count - 1


def test_chat_creates_the_same_bot(visit: Visit):
    visitor = visit()
    page = visitor.page
    begin(visitor)
    switch_to_chat(page)
    expect(bubbles(page, "You")).to_have_text([TUTOR])
    choose_in_chat(page)
    composer = page.get_by_label("Answer Forge")
    composer.fill(f"Gauss {new_id()[-6:]}")
    page.keyboard.press("Enter")
    expect(bubbles(page, "You").last).to_contain_text("Gauss")
    while not create_button(page).is_visible():
        choose_in_chat(page)
        expect(answers(page).or_(create_button(page)).first).to_be_visible()
    expect(answers(page)).to_have_count(0)
    create_button(page).click()
    page.wait_for_url(re.compile(r"/bots/gauss-[^/]+/chat$"))


def choose_in_chat(page: Page) -> None:
    message_count = bubbles(page, "You").count()
    answers(page).first.click()
    expect(bubbles(page, "You")).to_have_count(message_count + 1)


def test_wizard_and_chat_share_one_session(visit: Visit):
    visitor = visit()
    page = visitor.page
    begin(visitor)
    choose(page)
    current = question(page).inner_text()
    switch_to_chat(page)
    expect(bubbles(page, "Forge").last.get_by_role("heading")).to_have_text(current)
    page.reload()
    expect(bubbles(page, "Forge").last.get_by_role("heading")).to_have_text(current)
    choose_in_chat(page)
    current = bubbles(page, "Forge").last.get_by_role("heading").inner_text()
    page.get_by_text("Wizard", exact=True).click()
    expect(question(page)).to_have_text(current)
    page.reload()
    expect(question(page)).to_have_text(current)


def test_going_back_to_a_step_and_forward_again(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    session_id = begin(visitor)
    first = question(page).inner_text()
    for _ in range(3):
        choose(page)
    later, lines = question(page).inner_text(), view(server, session_id)["lines"]
    page.get_by_role("button", name="Back to Basics").click()
    expect(question(page)).to_have_text(first)
    choose(page)
    expect(question(page)).to_have_text(later)
    assert view(server, session_id)["lines"] == lines
    visitor.press("b")
    expect(question(page)).not_to_have_text(later)
    answers(page).nth(1).click()
    expect(question(page)).to_have_text(later)


def test_double_click_answers_once(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    session_id = begin(visitor)
    current = question(page).inner_text()
    answers(page).first.dblclick()
    expect(question(page)).not_to_have_text(current)
    wait_until_idle(page)
    assert view(server, session_id)["question_count"] == 1


def test_two_tabs_show_the_same_turn(visit: Visit, server: Server):
    first, second = visit(), visit()
    session_id = begin(first)
    second.open(f"/forge/{session_id}")
    expect(question(second.page)).to_have_text(question(first.page).inner_text())
    choose(first.page)
    expect(question(second.page)).to_have_text(question(first.page).inner_text())
    choose(second.page, 1)
    expect(question(first.page)).to_have_text(question(second.page).inner_text())
    server.call("DELETE", f"/api/v1/builder/sessions/{session_id}")
    for visitor in (first, second):
        expect(visitor.page.get_by_text("This interview was discarded")).to_be_visible()


def test_draft_is_resumed_and_deleted(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    description = f"Tells {new_id()[-6:]} jokes about mathematics"
    session_id = begin(visitor, description)
    choose(page)
    current = question(page).inner_text()
    page.get_by_role("link", name="Forge", exact=True).first.click()
    row = drafts(page).filter(has=page.locator(f"a[href$='{session_id}']"))
    row.get_by_role("link", name="Resume").click()
    expect(question(page)).to_have_text(current)
    assert view(server, session_id)["question_count"] == 1
    page.go_back()
    row.get_by_role("button", name="Delete").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete draft").click()
    expect(row).to_have_count(0)
    visitor.open(f"/forge/{session_id}")
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()


def test_skill_is_written_tested_and_created(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    session_id = begin(visitor, "Counts the words of a text", kind="skill")
    for _ in range(3):
        choose(page)
    choose(page, "script")
    advance_to_review(page)
    cases = page.get_by_role("list", name="Cases").get_by_role("listitem")
    expect(cases.first).to_contain_text("passed")
    page.get_by_role("button", name="Show files").click()
    preview = page.get_by_role("complementary", name="Preview")
    expect(preview.get_by_role("figure")).to_contain_text("forge-kind: script")
    create_button(page).click()
    expect(page.get_by_role("heading", name="The skill is created")).to_be_visible()
    made = view(server, session_id)["made"]["skill"]
    assert (Path(made["folder"]) / "SKILL.md").read_text() == made["skill_md_content"]
    page.reload()
    expect(page.get_by_role("heading", name="The skill is created")).to_be_visible()
    visitor.open("/settings/memory")
    entry = (
        page.get_by_role("list", name="Remembered")
        .get_by_role("listitem")
        .filter(has_text="Counts the words")
    )
    entry.get_by_role("button", name="Forget").click()
    expect(entry).to_have_count(0)


def test_batch_creates_several_bots(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    session_id = begin(visitor, "A writing partner for short stories", kind="batch")
    advance_to_review(page)
    create_button(page).click()
    expect(page.get_by_role("heading", name="Bots created")).to_be_visible()
    made = page.get_by_role("list", name="Bots").get_by_role("listitem")
    expect(made).to_have_count(3)
    bots = view(server, session_id)["made"]["bots"]
    for bot in bots:
        expect(made.filter(has_text=bot["bot_name"])).to_have_count(1)
    page.get_by_role("link", name=f"Chat with {bots[1]['bot_name']}").click()
    page.wait_for_url(re.compile(f"/bots/{bots[1]['bot_slug']}/chat$"))


def test_reconfiguration_shows_the_diff_first(visit: Visit, server: Server):
    bot = server.call("POST", "/api/v1/bots", {"name": f"Noether {new_id()[-6:]}", "description": "Algebra."})
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/chat")
    page.get_by_role("button", name="Reconfigure with Forge").click()
    wait_for_interview(page)
    page.get_by_role("button", name="Continue").click()
    expect(question(page)).to_have_text("What should change?")
    choose(page)
    expect(question(page)).to_have_text("How should it talk?")
    choose(page, 1)
    while not create_button(page).is_visible():
        choose(page)
    page.get_by_role("button", name="Show files").click()
    diff = page.get_by_role("region", name="current and new")
    expect(diff).to_contain_text("tone: ")
    assert problems(page) == []
    before = (Path(bot["folder"]) / "SOUL.md").read_text()
    create_button(page).click()
    page.wait_for_url(re.compile(f"/bots/{bot['slug']}/chat$"))
    assert (Path(bot["folder"]) / "SOUL.md").read_text() != before
    assert server.call("GET", f"/api/v1/bots/{bot['slug']}")["soul_version"] == 2


def test_existing_soul_is_used_unchanged_in_the_browser(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/forge")
    page.get_by_text("Import a SOUL.md").click()
    soul = page.get_by_label("Text of the SOUL.md")
    soul.fill("You draw before you calculate.")
    page.get_by_label("What should your bot do").fill(TUTOR)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_role("alert")).to_contain_text("front matter")
    soul.fill("---\nname: Hypatia\n---\nYou draw before you calculate.\n")
    page.get_by_role("button", name="Start").click()
    wait_for_interview(page)
    advance_to_review(page)
    page.get_by_role("button", name="Show files").click()
    expect(page.get_by_role("figure")).to_contain_text("You draw before you calculate.")


@each_look
def test_opened_dialogs_are_accessible(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    visitor = visit(scheme=scheme, viewport=viewport)
    page = visitor.page
    problems_by_view: dict[str, list[str]] = {}

    def check(label: str) -> None:
        problems_by_view[label] = [*problems(page), *overflow(page)]

    begin(visitor)
    page.get_by_role("button", name="Set up a model").click()
    expect(page.get_by_role("dialog").get_by_label("Key")).to_be_visible()
    check("dialog")
    page.keyboard.press("Escape")
    advance_to_review(page)
    page.get_by_role("button", name="Show files").click()
    expect(page.get_by_role("figure")).to_be_visible()
    check("files")
    page.get_by_text("Chat", exact=True).click()
    check("ready")
    assert problems_by_view == {label: [] for label in problems_by_view}
