"""Bots in the browser: creation, files, memories, skills, settings, deletion and export."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Visitor
from tests.browser.test_accessibility import problems
from tests.support.server import Server

from forge.kernel.ids import new_id

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


@pytest.fixture
def bot(server: Server) -> dict[str, Any]:
    """Create a bot for one test."""
    name = f"Muse {new_id()[-6:]}"
    given = {"name": name, "description": "Short poems.", "tags": ["rhymes"]}
    return server.call("POST", "/api/v1/bots", given)


def soul_of(bot: dict[str, Any]) -> Path:
    return Path(bot["folder"]) / "SOUL.md"


def editor(page: Page, name: str = "SOUL.md") -> Locator:
    return page.get_by_role("textbox", name=f"Text of {name}")


def write_at_end(page: Page, text: str) -> None:
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def versions(page: Page) -> Locator:
    return page.get_by_role("list", name="Versions").get_by_role("link")


def test_bot_is_created_from_a_name(visit: Visit):
    visitor = visit()
    page = visitor.page
    name = f"Notes {new_id()[-6:]}"
    visitor.press("g")
    visitor.press("b")
    expect(page.get_by_role("heading", name="Bots", exact=True)).to_be_visible()
    visitor.press("c")
    page.get_by_label("Name").fill(name)
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile(r"/bots/notes-.+/chat$"))
    expect(page.get_by_role("heading", name=name, level=1)).to_be_visible()
    visitor.open("/bots")
    card = page.get_by_role("list", name="Bots").get_by_role("link", name=name)
    expect(card).to_contain_text("ready")
    expect(card).to_contain_text("0 conversations")


def test_list_is_filtered_and_updated_live(visit: Visit, server: Server, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    name = bot["identity"]["display_name"]
    visitor.open("/bots")
    card = page.get_by_role("list", name="Bots").get_by_role("link", name=name)
    expect(card).to_contain_text("ready")
    expect(card).to_contain_text(bot["slug"])
    visitor.press("/")
    page.keyboard.type(f"{name} rhymes")
    expect(page.get_by_role("list", name="Bots").get_by_role("link")).to_have_count(1)
    page.keyboard.type(" prose")
    expect(page.get_by_text("No bots match")).to_be_visible()
    page.get_by_label("Search bots").fill(name)
    server.call("PATCH", f"/api/v1/bots/{bot['slug']}", {"status": "disabled"})
    expect(card).to_contain_text("disabled")
    server.call("PATCH", f"/api/v1/bots/{bot['slug']}", {"status": "archived"})
    expect(card).to_have_count(0)
    page.get_by_text("Archived", exact=True).click()
    expect(card).to_contain_text("archived")


def test_problem_is_shown_at_its_line(visit: Visit, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/soul")
    editor(page).click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    page.keyboard.type("\ncolour: red")
    problem = page.get_by_role("list", name="Problems").get_by_role("button")
    expect(problem).to_contain_text("line 2")
    expect(problem).to_contain_text("colour")
    expect(page.locator(".cm-lint-marker-error")).to_have_count(1)
    page.keyboard.press("Control+End")
    problem.click()
    expect(page.locator(".cm-activeLine")).to_have_text("colour: red")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("alert")).to_contain_text("line 2")
    assert "colour: red" not in soul_of(bot).read_text()
    page.keyboard.press("Control+Shift+k")
    expect(problem).to_have_count(0)


def test_text_is_saved_byte_for_byte(visit: Visit, server: Server, bot: dict[str, Any]):
    user = Path(bot["folder"]) / "USER.md"
    user.write_bytes(b"Ada\r\nLikes tea.\r\n")
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/soul?file=user")
    editor(page, "USER.md").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("At five.")
    page.get_by_label("Description of the change").fill("When")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved USER.md as version")).to_be_visible()
    expect(versions(page).first).to_contain_text("When")
    assert user.read_bytes() == b"Ada\r\nLikes tea.\r\nAt five."


def test_concurrent_edits_show_a_conflict(visit: Visit, bot: dict[str, Any]):
    first, second = visit(), visit()
    for visitor, words in ((first, "\nFirst words."), (second, "\nSecond words.")):
        visitor.open(f"/bots/{bot['slug']}/soul")
        write_at_end(visitor.page, words)
    first.page.get_by_role("button", name="Save").click()
    expect(first.page.get_by_text("Saved SOUL.md as version 2.")).to_be_visible()
    page = second.page
    expect(page.get_by_text("was changed while you were editing")).to_be_visible()
    expect(editor(page)).to_contain_text("Second words.")
    page.get_by_role("button", name="Save").click()
    conflict = page.get_by_role("dialog", name="SOUL.md was changed by someone else")
    expect(conflict).to_contain_text("First words.")
    expect(conflict).to_contain_text("Second words.")
    assert problems(page) == []
    conflict.get_by_role("button", name="Keep editing").click()
    expect(editor(page)).to_contain_text("Second words.")
    write_at_end(page, "\nFirst words.")
    page.get_by_role("button", name="Save").click()
    conflict.get_by_role("button", name="Overwrite with mine").click()
    expect(page.get_by_text("Saved SOUL.md as version 3.")).to_be_visible()
    assert soul_of(bot).read_text().endswith("\nSecond words.\nFirst words.")
    expect(editor(first.page)).to_contain_text("Second words.")


def test_edit_on_disk_waits_for_acceptance(visit: Visit, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/soul")
    expect(editor(page)).to_be_visible()
    soul_of(bot).write_text(soul_of(bot).read_text() + "\nWritten by hand.\n")
    hand = page.get_by_role("region", name="Edited by hand")
    expect(hand).to_contain_text("Written by hand.")
    expect(page.get_by_text("blocked", exact=True)).to_be_visible()
    assert problems(page) == []
    visitor.open(f"/bots/{bot['slug']}/memory")
    page.get_by_role("link", name="Review").click()
    hand.get_by_role("button", name="Accept").click()
    expect(hand).to_have_count(0)
    expect(page.get_by_text("ready", exact=True)).to_be_visible()
    expect(versions(page)).to_have_count(2)


def test_older_version_is_restored(visit: Visit, bot: dict[str, Any]):
    before = soul_of(bot).read_text()
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/soul")
    write_at_end(page, "\nA second thought.")
    page.get_by_role("button", name="Save").click()
    expect(versions(page)).to_have_count(2)
    versions(page).filter(has_text="v1").click()
    expect(page.get_by_role("textbox", name="Version 1 of SOUL.md")).not_to_contain_text("second thought")
    page.get_by_label("Compare with").select_option("current file")
    expect(page.get_by_role("region", name="version 1 and the file on disk")).to_contain_text(
        "A second thought."
    )
    page.get_by_role("button", name="Roll back to this version").click()
    page.get_by_role("button", name="Roll back to version 1").click()
    expect(versions(page)).to_have_count(3)
    expect(editor(page)).not_to_contain_text("second thought")
    assert soul_of(bot).read_text() == before


def test_leaving_with_unsaved_text_asks_for_confirmation(visit: Visit, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/soul")
    write_at_end(page, "\nUnsaved.")
    page.get_by_text("USER.md", exact=True).click()
    expect(editor(page, "USER.md")).to_be_visible()
    page.get_by_role("link", name="Memory").click()
    dialog = page.get_by_role("dialog", name="Leave without saving?")
    dialog.get_by_role("button", name="Go back").click()
    page.get_by_text("SOUL.md •").click()
    expect(editor(page)).to_contain_text("Unsaved.")
    page.get_by_role("link", name="Memory").click()
    dialog.get_by_role("button", name="Leave", exact=True).click()
    expect(page.get_by_text("No memories yet")).to_be_visible()


def test_memories_are_added_pinned_found_and_forgotten(visit: Visit, server: Server, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/memory")
    expect(page.get_by_text("Memories are found by")).to_be_visible()
    visitor.press("c")
    page.get_by_label("What the bot should know").fill("Releases are on Thursdays.")
    page.keyboard.press("Enter")
    row = page.get_by_role("list", name="Memories").get_by_role("listitem")
    expect(row).to_contain_text("added manually")
    row.get_by_role("button", name="Pin").click()
    expect(row).to_contain_text("pinned")
    row.get_by_role("button", name="Edit").click()
    page.get_by_label("What the bot should know").fill("Releases are on Fridays.")
    page.keyboard.press("Enter")
    expect(row).to_contain_text("Fridays")
    page.get_by_role("searchbox").fill("When are releases?")
    page.keyboard.press("Enter")
    found = page.get_by_role("list", name="What it would recall").get_by_role("listitem")
    expect(found).to_contain_text(re.compile(r"by (words|meaning)"))
    page.get_by_role("searchbox").fill("")
    row.get_by_role("button", name="Forget").click()
    expect(page.get_by_text("No memories yet")).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("Fridays")
    kept = server.call("GET", f"/api/v1/bots/{bot['slug']}/memories")
    assert [(memory["fact"], memory["is_pinned"]) for memory in kept] == [("Releases are on Fridays.", True)]
    page.get_by_role("button", name="Forget all…").click()
    page.get_by_label("Type forget all to confirm").fill("forget all")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No memories yet")).to_be_visible()


def test_skills_show_whether_they_are_used(visit: Visit, server: Server, bot: dict[str, Any]):
    skill = server.data_dir / "skills/haiku/SKILL.md"
    skill.parent.mkdir(parents=True, exist_ok=True)
    skill.write_text("---\nname: haiku\ndescription: Seventeen syllables.\n---\nCount them.\n")
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/skills")
    page.get_by_role("link", name="Edit skills.toml").click()
    editor(page, "skills.toml").click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("[skills.haiku]\n\n[skills.sonnet]\n")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Saved skills.toml")).to_be_visible()
    page.get_by_role("main").get_by_role("link", name="Skills").click()
    rows = page.get_by_role("list", name="Skills").get_by_role("listitem")
    expect(rows.filter(has_text="haiku")).to_contain_text("in use")
    expect(rows.filter(has_text="sonnet")).to_contain_text("not used")
    page.get_by_role("checkbox", name="Use haiku").click()
    expect(rows.filter(has_text="haiku")).to_contain_text("off")


def test_skill_is_attached_configured_and_detached(visit: Visit, server: Server, bot: dict[str, Any]):
    own = f"/api/v1/bots/{bot['slug']}/skills"
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/skills")
    expect(page.get_by_text("No skills", exact=True)).to_be_visible()
    page.keyboard.press("c")
    page.get_by_role("searchbox", name="Search skills").fill("summarize")
    page.get_by_role("button", name="Attach summarize").click()
    expect(page.get_by_role("button", name="Attach summarize")).to_have_count(0)
    assert problems(page) == []
    page.keyboard.press("Escape")
    row = page.get_by_role("list", name="Skills").get_by_role("listitem").filter(has_text="summarize")
    expect(row).to_contain_text("in use")
    assert problems(page) == []
    row.get_by_role("button", name="Actions for summarize").click()
    page.get_by_role("menuitem", name="Set up").click()
    page.get_by_label("Version").fill("^9")
    page.get_by_label("Settings").fill("words = 50")
    assert problems(page) == []
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("skills.toml requires version ^9")
    (attached,) = server.call("GET", own)
    assert (attached["pin"], attached["overrides"]) == ("^9", {"words": "50"})
    row.get_by_role("button", name="Actions for summarize").click()
    page.get_by_role("menuitem", name="Detach").click()
    expect(page.get_by_text("No skills", exact=True)).to_be_visible()
    page.get_by_role("button", name="Undo").click()
    expect(row).to_contain_text("pinned to ^9")
    assert server.call("GET", own) == [attached]


def test_settings_change_only_their_keys_in_the_file(visit: Visit, bot: dict[str, Any]):
    identity = Path(bot["folder"]) / "IDENTITY.md"
    identity.write_text(identity.read_text().replace("tags:", "# what it is for\ntags:"))
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/settings")
    page.get_by_label("Description").fill("Long poems.")
    page.get_by_label("Temperature", exact=True).fill("1.1")
    page.keyboard.press("Control+s")
    expect(page.get_by_text(re.compile("^Saved Muse"))).to_be_visible()
    text = identity.read_text()
    assert "Long poems." in text and "temperature: 1.1" in text and "# what it is for\ntags:" in text


def test_deleted_bot_is_restored(visit: Visit, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    name = bot["identity"]["display_name"]
    card = page.get_by_role("list", name="Bots").get_by_role("link", name=name)

    def delete() -> None:
        page.get_by_role("button", name="More").click()
        page.get_by_role("menuitem", name="Delete…").click()
        page.get_by_label(f"Type {name} to confirm").fill(name)
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("/bots$"))
        expect(card).to_have_count(0)

    visitor.open(f"/bots/{bot['slug']}/settings")
    delete()
    page.get_by_role("button", name="Undo").click()
    expect(card).to_be_visible()
    card.click()
    delete()
    page.get_by_text("Deleted", exact=True).click()
    expect(page.get_by_text("permanently deleted in 30 days").first).to_be_visible()
    page.get_by_role("button", name=f"Restore {name}").click()
    page.get_by_text("All", exact=True).click()
    expect(card).to_be_visible()


def test_page_shows_that_its_bot_was_deleted(visit: Visit, server: Server, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/memory")
    expect(page.get_by_text("No memories yet")).to_be_visible()
    server.call("DELETE", f"/api/v1/bots/{bot['slug']}")
    expect(page.get_by_text("was deleted", exact=False).first).to_be_visible()
    server.call("POST", f"/api/v1/bots/{bot['id']}/restore")
    expect(page.get_by_text("No memories yet")).to_be_visible()


def test_bot_is_exported_and_imported(visit: Visit, tmp_path: Path, bot: dict[str, Any]):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/bots/{bot['slug']}/memory")
    page.get_by_role("button", name="More").click()
    with page.expect_download() as saved:
        page.get_by_role("menuitem", name="Export").click()
    assert saved.value.suggested_filename == f"{bot['slug']}.bot.json"
    exported = tmp_path / "bot.json"
    saved.value.save_as(exported)
    visitor.open("/bots")
    page.get_by_label("Bot file").set_input_files(exported)
    page.wait_for_url(re.compile(rf"/bots/{bot['slug']}-2/chat$"))
    copy = soul_of(bot).parent.parent / f"{bot['slug']}-2"
    assert {file.name: file.read_text() for file in copy.iterdir()} == json.loads(exported.read_text())[
        "files"
    ]
    visitor.open("/bots")
    other = tmp_path / "other.json"
    other.write_text("{}")
    drop(page, other)
    expect(page.get_by_text("This file is not an exported bot.")).to_be_visible()


DROP = """(target, text) => {
    const data = new DataTransfer();
    data.items.add(new File([text], "a.json", { type: "application/json" }));
    for (const type of ["dragenter", "dragover", "drop"]) {
        target.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }));
    }
}"""


def drop(page: Page, file: Path) -> None:
    page.get_by_role("list", name="Bots").evaluate(DROP, file.read_text())
