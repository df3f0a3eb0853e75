"""The chat page in the browser: streaming, stop, retry, edit, search and export."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import PHONE, Visitor
from tests.browser.test_accessibility import problems
from tests.support.chat_server import ChatServer, open_chat_server
from tests.support.server import Server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

CODE = """Here it **is**, as a [function](https://example.org) and as a table:

```python
def area(width: int, height: int) -> int:
    \"\"\"Of a rectangle.\"\"\"
    return width * height  # in metres
```

| side | metres |
|------|-------:|
| long |     12 |
| short |     4 |

- [x] measured
- [ ] built

1. Dig.
2. Plant.

<script>alert("no")</script>
"""


def paragraph(number: int) -> str:
    """Return a paragraph unlike the others: the same one again and again would be stopped as repetition."""
    words = " ".join(
        f"{word}{number * place % 977}" for place, word in enumerate(("reed", "moss", "fern", "oak"), 3)
    )
    return f"Counting on, {number}, with **{words}** and `{number * 7919 % 10007:x}`.\n\n"


SCENES: dict[str, Any] = {
    "title": {"match": {"system": "Give the conversation"}, "turns": [{"text": "A talk about gardens"}]},
    "code": {"match": {"latest": "code"}, "turns": [{"text": CODE}]},
    "long": {"match": {"latest": "long"}, "turns": [{"text": "".join(map(paragraph, range(240)))}]},
    "slow": {
        "match": {"latest": "slow"},
        "turns": [{"text": " ".join(f"sheep{number}" for number in range(20_000)), "delay_s": 0.05}],
    },
    "steady": {
        "match": {"latest": "steady"},
        "turns": [{"text": " ".join(f"goat{number}" for number in range(200)), "delay_s": 0.05}],
    },
    "numbers": {
        "match": {"latest": "numbers"},
        "turns": [
            {
                "text": "I add them up.",
                "tools": [
                    {"use_skill": {"name": "add-up"}},
                    {"run_skill": {"name": "add-up", "input": {"numbers": [20, 22]}}},
                    {"run_skill": {"name": "add-up", "input": {}}},
                ],
            },
            {"text": "It is **42**."},
        ],
    },
    "broken": {"match": {"latest": "broken"}, "turns": [{"text": "no", "fault": "400"}]},
    "tree": {"match": {"latest": "tree"}, "turns": [{"text": "A willow."}]},
    "bush": {"match": {"latest": "bush"}, "turns": [{"text": "A rose."}]},
}


@pytest.fixture(scope="module")
def chat_server(server: Server) -> Iterator[ChatServer]:
    with open_chat_server(server, SCENES) as opened:
        yield opened


@pytest.fixture
def slug(chat_server: ChatServer) -> str:
    return chat_server.make_bot("Iris", description="Knows gardens. And what grows there.")["slug"]


def log(page: Page) -> Locator:
    return page.get_by_role("log", name="Messages")


def field(page: Page) -> Locator:
    return page.get_by_label("Message Iris")


def say(page: Page, text: str) -> None:
    field(page).fill(text)
    field(page).press("Enter")


def send(page: Page) -> Locator:
    return page.get_by_role("button", name="Send", exact=True)


def test_answer_is_rendered_as_markdown_without_scripts(visit: Visit, slug: str):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    page.get_by_role("button", name="“Knows gardens”: where do we start?").wait_for()
    say(page, "Show me code.")
    page.wait_for_url(re.compile(rf"/bots/{slug}/chat/.+"))
    expect(log(page).get_by_role("cell", name="12")).to_be_visible()
    expect(log(page).locator("pre span[style*='--code-keyword']").first).to_have_text(re.compile("def"))
    expect(log(page).locator("pre")).to_contain_text("return width * height  # in metres")
    expect(log(page).get_by_role("checkbox", name="Done")).to_be_checked()
    expect(log(page).get_by_role("link", name="function")).to_have_attribute("rel", re.compile("noopener"))
    expect(log(page).get_by_text('<script>alert("no")</script>')).to_be_visible()
    expect(
        log(page).get_by_text(re.compile(r"^scripted:talker · temp 0\.7 · .* in .* out · \$"))
    ).to_be_visible()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    log(page).get_by_role("button", name="Copy code").click()
    expect(log(page).get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("def area(")
    row = page.get_by_role("complementary", name="Conversations").get_by_role("link")
    expect(row).to_contain_text("A talk about gardens")


ADDING = """\
---
name: add-up
description: Adds numbers up.
metadata:
  forge-kind: script
---
Give it `numbers`.
"""


def test_skill_uses_are_shown_live_and_after_a_reload(visit: Visit, chat_server: ChatServer, slug: str):
    source = "var run = (input) => ({ sum: input.numbers.reduce((a, b) => a + b), note: '<b>no</b>' });\n"
    files = {"SKILL.md": ADDING, "skill.js": source}
    chat_server.server.call("POST", "/api/v1/skills", {"name": "add-up", "files": files})
    chat_server.server.call("POST", f"/api/v1/bots/{slug}/skills", {"skill_name": "add-up"})
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    say(page, "Add the numbers up.")
    uses = log(page).get_by_role("list", name="Skills used").get_by_role("listitem")
    expect(log(page)).to_contain_text("It is 42.")
    expect(log(page)).to_contain_text("I add them up.")
    for _ in range(2):
        expect(uses).to_have_count(3)
        expect(uses.nth(0)).to_contain_text(re.compile(r"opened\s*add-up\s*ok"))
        expect(uses.nth(1)).to_contain_text(re.compile(r"ran\s*add-up\s*ok"))
        expect(uses.nth(2)).to_contain_text(re.compile(r"ran\s*add-up\s*failed"))
        page.reload()
    uses.nth(1).get_by_text("add-up").first.click()
    expect(uses.nth(1).get_by_text('"sum": 42')).to_be_visible()
    expect(uses.nth(1)).to_contain_text("<b>no</b>")
    assert problems(page) == []


def test_stopped_answer_is_kept(visit: Visit, slug: str):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    say(page, "Count slowly.")
    expect(log(page)).to_contain_text("sheep20")
    expect(page.get_by_text("answering").first).to_be_visible()
    field(page).fill("Later")
    expect(page.get_by_text("You can send when the answer is complete")).to_be_visible()
    field(page).press("Escape")
    expect(log(page).get_by_text("stopped")).to_be_visible()
    expect(log(page)).to_contain_text("sheep20")
    expect(field(page)).to_have_value("Later")
    page.reload()
    expect(log(page).get_by_text("stopped")).to_be_visible()
    expect(log(page)).to_contain_text("sheep20")
    expect(field(page)).to_have_value("Later")


def test_reload_during_an_answer_loses_no_text(visit: Visit, slug: str):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    say(page, "Count at a steady pace.")
    expect(log(page)).to_contain_text("goat10")
    page.reload()
    expect(log(page)).to_contain_text("goat199")
    expect(send(page)).to_be_visible()
    answer = log(page).get_by_role("article", name="Iris").locator("p").first
    expect(answer).to_have_text(" ".join(f"goat{number}" for number in range(200)))


def test_two_pages_show_the_same_text(visit: Visit, slug: str):
    visitor, other = visit(), visit()
    visitor.open(f"/bots/{slug}/chat")
    say(visitor.page, "Count at a steady pace, please.")
    visitor.page.wait_for_url(re.compile(r"/chat/.+"))
    other.page.goto(visitor.page.url)
    for page in (visitor.page, other.page):
        expect(log(page)).to_contain_text("goat199")
        expect(send(page)).to_be_visible()
    assert log(visitor.page).inner_text() == log(other.page).inner_text()


def test_retry_and_edit_create_branches(visit: Visit, slug: str):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    say(page, "Which tree?")
    expect(log(page)).to_contain_text("A willow.")
    log(page).get_by_role("button", name="Try again").click()
    expect(log(page).get_by_text("2/2")).to_be_visible()
    expect(send(page)).to_be_visible()
    log(page).get_by_role("button", name="Previous answer").click()
    expect(log(page).get_by_text("1/2")).to_be_visible()

    field(page).press("ArrowUp")
    editor = page.get_by_label("Edit message")
    expect(editor).to_have_value("Which tree?")
    editor.fill("Which bush?")
    editor.press("Enter")
    expect(log(page)).to_contain_text("A rose.")
    expect(log(page)).not_to_contain_text("willow")
    page.reload()
    expect(log(page)).to_contain_text("A rose.")
    log(page).get_by_role("button", name="Previous question").click()
    expect(log(page)).to_contain_text("A willow.")


def test_conversations_run_concurrently(visit: Visit, slug: str):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    aside = page.get_by_role("complementary", name="Conversations")
    for number in (1, 2):
        say(page, f"Count slowly, number {number}.")
        expect(log(page)).to_contain_text("sheep5")
        aside.get_by_role("button", name="New conversation").click()
        page.get_by_role("list", name="Suggestions").wait_for()
    answering = aside.get_by_role("link").filter(has_text="answering")
    expect(answering).to_have_count(2)
    say(page, "Which tree?")
    expect(log(page)).to_contain_text("A willow.")
    expect(aside.get_by_role("link")).to_have_count(3)
    expect(answering).to_have_count(2)
    for left in (1, 0):
        answering.first.click()
        expect(log(page)).to_contain_text("sheep5")
        page.get_by_role("button", name="Stop").click()
        expect(log(page).get_by_text("stopped")).to_be_visible()
        expect(answering).to_have_count(left)


def test_conversation_is_searched_renamed_exported_and_deleted(
    visit: Visit, slug: str, chat_server: ChatServer
):
    chat_server.ask(slug, "Which tree do you like?")
    chat_server.ask(slug, "Which bush?")
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    aside = page.get_by_role("complementary", name="Conversations")
    expect(aside.get_by_role("link")).to_have_count(2)
    page.get_by_role("button", name="“Knows gardens”").focus()
    visitor.press("/")
    page.keyboard.type("willow")
    expect(aside.locator("mark")).to_have_text("willow")
    aside.get_by_role("link").click()
    expect(log(page).get_by_role("article", name="Iris")).to_be_focused()

    page.get_by_role("searchbox").fill("")
    row = aside.get_by_role("listitem").last
    row.hover()
    row.get_by_role("button").click()
    page.get_by_role("menuitem", name="Rename").click()
    page.get_by_label("Title").fill("Trees only")
    page.get_by_role("button", name="Rename").click()
    expect(aside.get_by_role("link", name="Trees only")).to_be_visible()

    row = aside.get_by_role("listitem").filter(has_text="Trees only")
    row.hover()
    row.get_by_role("button").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export as Markdown").click()
    assert "A willow." in download.value.path().read_text()

    row.hover()
    row.get_by_role("button").click()
    page.get_by_role("menuitem", name="Delete").click()
    page.get_by_role("button", name="Delete conversation").click()
    expect(aside.get_by_role("link")).to_have_count(1)
    expect(page.get_by_role("list", name="Suggestions")).to_be_visible()


def test_failed_answer_shows_the_reason_and_can_be_retried(visit: Visit, slug: str):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    say(page, "Something broken.")
    expect(log(page).get_by_role("alert")).to_be_visible()
    log(page).get_by_role("button", name="Retry").click()
    expect(log(page).get_by_text("2/2")).to_be_visible()


def test_page_follows_the_answer_until_the_reader_scrolls(visit: Visit, slug: str):
    """The end of a long answer stays in view."""
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    say(page, "Something long.")
    expect(send(page)).to_be_visible()
    expect(log(page).locator("p").filter(has_text="Counting on")).to_have_count(240)
    expect(log(page).get_by_text(re.compile("^scripted:talker"))).to_be_in_viewport()
    log(page).hover()
    page.mouse.wheel(0, -800)
    latest = page.get_by_role("button", name="Jump to latest")
    expect(latest).to_be_visible()
    say(page, "Which tree?")
    expect(latest).to_have_count(0)
    expect(log(page).get_by_text("A willow.")).to_be_in_viewport()


def test_missing_key_shows_how_to_add_one(visit: Visit, slug: str, chat_server: ChatServer):
    chat_server.server.call(
        "PATCH", f"/api/v1/bots/{slug}", {"provider": "anthropic", "model": "claude-sonnet-5"}
    )
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{slug}/chat")
    say(page, "Which tree?")
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("forge models serve")
    expect(field(page)).to_have_value("Which tree?")
    alert.get_by_role("link", name="Settings → Models").click()
    expect(page.get_by_role("heading", name="Roles")).to_be_visible()


def test_conversations_are_an_accessible_drawer_on_a_phone(visit: Visit, slug: str, chat_server: ChatServer):
    visitor = visit(scheme="dark", viewport=PHONE)
    page = visitor.page
    session_id = chat_server.ask(slug, "Show me code.")["session_id"]
    visitor.open(f"/bots/{slug}/chat/{session_id}")
    page.get_by_role("button", name="Conversations").click()
    expect(page.get_by_role("dialog", name="Conversations").get_by_role("link").first).to_be_visible()
    assert problems(page) == []
    page.get_by_role("dialog").get_by_role("link").first.click()
    expect(page.get_by_role("dialog")).to_have_count(0)
