"""The skill editor: new skills from templates, problems while typing, trial runs and conflicts."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Visitor
from tests.support.server import Server

from forge.kernel.ids import new_id

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


@pytest.fixture
def skill(server: Server) -> dict[str, Any]:
    """Create a script that requests one capability."""
    name = f"echo-{new_id()[-6:].lower()}"
    head = f"---\nname: {name}\ndescription: Says it again.\nmetadata:\n"
    metadata = "  forge-kind: script\n  forge-capabilities: kv\n---\n\n# Echo\n"
    files = {"SKILL.md": head + metadata, "skill.js": "function run(input) { return input; }\n"}
    return server.call("POST", "/api/v1/skills", {"name": name, "files": files})


def editor(page: Page, path: str = "SKILL.md") -> Locator:
    return page.get_by_role("textbox", name=f"Text of {path}")


def file(page: Page, path: str) -> Locator:
    return page.get_by_role("navigation", name="Files").get_by_role("button", name=path).first


def write_at_end(page: Page, path: str, text: str) -> None:
    editor(page, path).click()
    page.keyboard.press("Control+End")
    page.keyboard.type(text)


def open_editor(visitor: Visitor, skill: dict[str, Any]) -> Page:
    visitor.open(f"/skills/{skill['name']}/edit")
    expect(editor(visitor.page)).to_be_visible()
    return visitor.page


@pytest.mark.parametrize("template", ["Script in JavaScript", "Script in Python"])
def test_script_is_created_checked_tried_and_saved(visit: Visit, server: Server, template: str):
    name = f"counter-{new_id()[-6:].lower()}"
    visitor = visit()
    page = visitor.page
    visitor.open("/skills/_new")
    page.get_by_label("Name").fill(name)
    page.get_by_label("What it does").fill('Counts: "words"')
    page.get_by_text(template).click()
    page.keyboard.press("Enter")
    editor(page).click()
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    page.keyboard.type("\ncolour: red")
    problem = page.get_by_role("list", name="Problems").get_by_role("button")
    expect(problem).to_contain_text("line 2")
    expect(problem).to_contain_text("colour")
    page.keyboard.press("Control+End")
    problem.click()
    expect(page.locator(".cm-activeLine")).to_have_text("colour: red")
    page.keyboard.press("Control+Shift+k")
    expect(problem).to_have_count(0)
    expect(page.get_by_label("Input")).to_have_value(re.compile(r"two\s+words"))
    page.get_by_role("button", name="Run", exact=True).click()
    result = page.get_by_role("region", name="Result")
    expect(result).to_contain_text("done")
    expect(result).to_contain_text('"words": 2')
    page.keyboard.press("Control+s")
    page.wait_for_url(f"{server.url}/skills/{name}/edit")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    created = server.call("GET", f"/api/v1/skills/{name}")
    assert (created["state"], created["tier"], created["kind"]) == ("ready", "local", "script")
    assert created["problems"] == []
    assert created["description"] == 'Counts: "words"'
    assert server.call("POST", f"/api/v1/skills/{name}/test", {})["passed"]


@pytest.mark.parametrize("template", ["Instructions", "Program"])
def test_other_templates_are_valid(visit: Visit, server: Server, template: str):
    name = f"frame-{new_id()[-6:].lower()}"
    visitor = visit()
    page = visitor.page
    visitor.open("/skills/_new")
    page.get_by_label("Name").fill(name)
    page.get_by_label("What it does").fill("Something, when asked.")
    page.get_by_role("radio", name=template).check()
    page.get_by_role("button", name="Continue").click()
    expect(editor(page)).to_be_visible()
    expect(page.get_by_role("region", name="Try it")).to_contain_text("Save")
    page.get_by_role("button", name="Save", exact=True).click()
    page.wait_for_url(f"{server.url}/skills/{name}/edit")
    assert server.call("GET", f"/api/v1/skills/{name}")["problems"] == []


def test_save_warns_that_grants_lose_their_effect(visit: Visit, server: Server, skill: dict[str, Any]):
    body = {"grants": [{"capability": "kv"}], "folder_hash": skill["folder_hash"]}
    server.call("PUT", f"/api/v1/skills/{skill['name']}/grants", body)
    page = open_editor(visit(), skill)
    write_at_end(page, "SKILL.md", "More.")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("its grants no longer apply")).to_be_visible()
    page.get_by_role("link", name="Review").click()
    page.wait_for_url(f"{server.url}/skills/{skill['name']}/permissions")


def test_files_are_added_renamed_and_removed(visit: Visit, skill: dict[str, Any]):
    folder = Path(skill["folder"])
    page = open_editor(visit(), skill)
    page.get_by_role("button", name="Add a file").click()
    path = page.get_by_label("Path in the folder")
    path.fill("../outside.md")
    expect(page.get_by_role("dialog")).to_contain_text("Use names separated by slashes")
    path.fill("references/a.md")
    path.press("Enter")
    write_at_end(page, "references/a.md", "A note.")
    page.get_by_role("button", name="Actions for references/a.md").click()
    page.get_by_role("menuitem", name="Rename").click()
    path.fill("references/b.md")
    path.press("Enter")
    expect(editor(page, "references/b.md")).to_have_text("A note.")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    assert (folder / "references" / "b.md").read_text() == "A note."
    assert not (folder / "references" / "a.md").exists()
    page.get_by_role("button", name="Actions for references/b.md").click()
    page.get_by_role("menuitem", name="Remove").click()
    page.get_by_role("button", name="Remove file").click()
    expect(editor(page)).to_be_visible()
    page.keyboard.press("Control+s")
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    assert not (folder / "references" / "b.md").exists()


def change_elsewhere(server: Server, skill: dict[str, Any], text: str) -> None:
    current = server.call("GET", f"/api/v1/skills/{skill['name']}")
    main = server.call("GET", f"/api/v1/skills/{skill['name']}/files/SKILL.md")["text"]
    body = {"files": {"SKILL.md": main, "skill.js": text}, "base_hash": current["folder_hash"]}
    server.call("PUT", f"/api/v1/skills/{skill['name']}", body)


THEIRS = "function run() { return 'theirs'; }\n"


def test_editor_without_changes_follows_the_folder(visit: Visit, server: Server, skill: dict[str, Any]):
    page = open_editor(visit(), skill)
    file(page, "skill.js").click()
    expect(editor(page, "skill.js")).to_contain_text("return input")
    change_elsewhere(server, skill, THEIRS)
    expect(editor(page, "skill.js")).to_contain_text("theirs")


@pytest.mark.parametrize("button", ["Overwrite with mine", "Use theirs"])
def test_concurrent_change_shows_a_conflict(visit: Visit, server: Server, skill: dict[str, Any], button: str):
    page = open_editor(visit(), skill)
    write_at_end(page, "SKILL.md", "Mine.")
    change_elsewhere(server, skill, THEIRS)
    expect(page.get_by_text("was changed while you were editing")).to_be_visible()
    page.keyboard.press("Control+s")
    differing = page.get_by_role("dialog").get_by_role("list", name="Files that differ")
    expect(differing).to_contain_text("changed by you")
    expect(differing).to_contain_text("changed by someone else")
    page.get_by_role("button", name=button).click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_text("saved", exact=True)).to_be_visible()
    folder = Path(skill["folder"])
    is_mine = button == "Overwrite with mine"
    assert ("Mine." in (folder / "SKILL.md").read_text()) == is_mine
    assert ((folder / "skill.js").read_text() == THEIRS) != is_mine
    expect(page.get_by_text("was changed while you were editing")).to_have_count(0)


def test_leaving_with_unsaved_changes_asks_for_confirmation(
    visit: Visit, server: Server, skill: dict[str, Any]
):
    page = open_editor(visit(), skill)
    write_at_end(page, "SKILL.md", "Unsaved.")
    page.get_by_role("link", name="Bots").click()
    expect(page.get_by_role("dialog")).to_contain_text("Leave without saving?")
    page.get_by_role("button", name="Go back").click()
    expect(editor(page)).to_contain_text("Unsaved.")
    page.get_by_role("link", name="Bots").click()
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url(f"{server.url}/bots")
