"""Installing skills in the browser: upload, review, grants and registries."""

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import FilePayload, Locator, Page, ViewportSize, expect
from tests.browser.conftest import ColorScheme, Visitor
from tests.browser.test_accessibility import each_look, problems
from tests.support.server import Server

from forge.kernel.ids import new_id

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def manifest(name: str, *metadata: str) -> str:
    lines = "\n".join(f"  {line}" for line in ('version: "1.0.0"', *metadata))
    return f"---\nname: {name}\ndescription: Tells the weather.\nmetadata:\n{lines}\n---\n\n# Weather\n"


def requesting_files(name: str) -> dict[str, str]:
    """Return the files of a script that requests `http_get` for one host, and `kv`."""
    metadata = ("forge-kind: script", "forge-capabilities: http_get kv", "forge-hosts: api.example.com")
    return {
        f"{name}/SKILL.md": manifest(name, *metadata),
        f"{name}/skill.js": "function run() { return {}; }\n",
    }


def zipped(files: dict[str, str]) -> FilePayload:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return FilePayload(name="skills.zip", mimeType="application/zip", buffer=data.getvalue())


def open_dialog(visitor: Visitor) -> Locator:
    """Open the dialog with its keyboard shortcut."""
    visitor.open("/skills")
    expect(visitor.page.get_by_role("heading", name="Skills", exact=True)).to_be_visible()
    visitor.press("i")
    dialog = visitor.page.get_by_role("dialog")
    expect(dialog).to_contain_text("Install skills")
    return dialog


def upload(page: Page, files: dict[str, str]) -> None:
    page.get_by_label("Zip file with skills").set_input_files(zipped(files))


def unique(word: str) -> str:
    return f"{word}-{new_id()[-6:].lower()}"


def granted_hosts(skill: dict[str, Any]) -> list[tuple[str, list[str]]]:
    return [(one["capability"], one["scope"]["hosts"]) for one in skill["grants"]]


def test_zip_is_reviewed_granted_and_installed(visit: Visit, server: Server):
    name = unique("weather")
    visitor = visit()
    page = visitor.page
    dialog = open_dialog(visitor)
    upload(page, requesting_files(name))
    review = dialog.get_by_role("region", name=name)
    expect(review.get_by_role("checkbox")).to_have_count(2)
    expect(review.get_by_role("checkbox", checked=True)).to_have_count(0)
    expect(review.get_by_role("radio", name="untrusted")).to_be_checked()
    expect(review).to_contain_text("What it fetches is untrusted")
    review.get_by_role("checkbox").first.check()
    expect(review).to_contain_text("api.example.com")
    hosts = review.get_by_label("Hosts")
    hosts.fill("other.example.com")
    hosts.press("Enter")
    review.get_by_role("button", name="Remove api.example.com").click()
    review.get_by_role("radio", name="verified").check()
    expect(dialog).to_contain_text("1 skill selected, 1 granted.")
    dialog.get_by_role("button", name="Install", exact=True).click()
    results = dialog.get_by_role("list", name="Results")
    expect(results).to_contain_text("new")
    results.get_by_role("link", name=name).click()
    page.wait_for_url(f"{server.url}/skills/{name}")
    expect(dialog).to_have_count(0)
    skill = server.call("GET", f"/api/v1/skills/{name}")
    assert skill["tier"] == "verified"
    assert granted_hosts(skill) == [("http_get", ["other.example.com"])]


def test_collection_installs_only_selected_valid_skills(visit: Visit, server: Server):
    good, other, bad = unique("good"), unique("other"), unique("bad")
    files = {f"{one}/SKILL.md": manifest(one) for one in (good, other)}
    visitor = visit()
    dialog = open_dialog(visitor)
    upload(visitor.page, files | {f"{bad}/SKILL.md": f"---\nname: {bad}\n---\n"})
    expect(dialog).to_contain_text("Review 3 skills")
    expect(dialog.get_by_role("checkbox", name=f"Install {bad}")).to_be_disabled()
    dialog.get_by_role("button", name=bad).click()
    expect(dialog.get_by_role("region", name=bad)).to_contain_text("Cannot be installed.")
    expect(dialog.get_by_role("region", name=bad)).to_contain_text("description is missing")
    expect(dialog.get_by_role("button", name="Install", exact=True)).to_be_disabled()
    dialog.get_by_role("button", name="Select all 2").click()
    dialog.get_by_role("checkbox", name=f"Install {other}").uncheck()
    dialog.get_by_role("button", name="Install 1 skill").click()
    expect(dialog.get_by_role("list", name="Results").get_by_role("listitem")).to_have_count(1)
    names = {skill["name"] for skill in server.call("GET", "/api/v1/skills")}
    assert good in names
    assert not names & {other, bad}


def test_replacing_a_skill_shows_the_changes_and_needs_confirmation(visit: Visit, server: Server):
    name = unique("weather")
    server.call("POST", "/api/v1/skills", {"name": name, "files": {"SKILL.md": manifest(name)}})
    visitor = visit()
    dialog = open_dialog(visitor)
    upload(visitor.page, {f"{name}/SKILL.md": manifest(name) + "More.\n", f"{name}/notes.md": "New."})
    expect(dialog.get_by_role("list", name="Files").get_by_text("changed")).to_have_count(2)
    expect(dialog.get_by_role("button", name="Install", exact=True)).to_be_disabled()
    expect(dialog).to_contain_text("The installed version is local.")
    dialog.get_by_role("checkbox", name="Replace version 1.0.0").check()
    dialog.get_by_role("button", name="Install", exact=True).click()
    expect(dialog.get_by_role("list", name="Results")).to_contain_text("replaced")
    assert server.call("GET", f"/api/v1/skills/{name}/files/notes.md")["text"] == "New."


def test_folder_is_packed_in_the_browser(visit: Visit, server: Server, tmp_path: Path):
    name = unique("packed")
    folder = tmp_path / name
    (folder / "references").mkdir(parents=True)
    (folder / "SKILL.md").write_text(manifest(name))
    (folder / "references" / "größe.md").write_text("Ä text.")
    visitor = visit()
    dialog = open_dialog(visitor)
    visitor.page.get_by_label("Folder with skills").set_input_files(folder)
    expect(dialog.get_by_role("heading", name=name)).to_be_visible()
    dialog.get_by_role("button", name="Install", exact=True).click()
    expect(dialog.get_by_role("list", name="Results")).to_contain_text("new")
    assert server.call("GET", f"/api/v1/skills/{name}/files/references/größe.md")["text"] == "Ä text."


def test_error_keeps_the_entered_values(visit: Visit):
    visitor = visit()
    dialog = open_dialog(visitor)
    dialog.get_by_text("Git", exact=True).click()
    dialog.get_by_label("Repository URL").fill("ssh://nowhere.invalid/skills.git")
    dialog.get_by_label("Folder in the repository").fill("skills/one")
    visitor.page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_be_visible()
    dialog.get_by_text("On the server", exact=True).click()
    expect(dialog.get_by_role("alert")).to_have_count(0)
    dialog.get_by_text("Git", exact=True).click()
    expect(dialog.get_by_label("Repository URL")).to_have_value("ssh://nowhere.invalid/skills.git")
    expect(dialog.get_by_label("Folder in the repository")).to_have_value("skills/one")


def test_unreachable_registry_is_not_added(visit: Visit, server: Server):
    visitor = visit()
    page = visitor.page
    visitor.open("/settings/registries")
    page.get_by_role("button", name="Add a registry").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Index URL").fill("https://127.0.0.1:9/index.json")
    dialog.get_by_label("Name").fill("Our Team")
    expect(dialog.get_by_role("button", name="Add", exact=True)).to_be_disabled()
    dialog.get_by_label("Name").fill("team")
    page.keyboard.press("Enter")
    expect(dialog.get_by_role("alert")).to_be_visible()
    expect(dialog.get_by_label("Index URL")).to_have_value("https://127.0.0.1:9/index.json")
    assert server.call("GET", "/api/v1/skill-registries") == []


def test_collection_of_a_thousand_skills_can_be_filtered_and_selected(visit: Visit):
    word = unique("many")
    files = {f"{word}-{at}/SKILL.md": manifest(f"{word}-{at}") for at in range(1000)}
    visitor = visit()
    dialog = open_dialog(visitor)
    upload(visitor.page, files)
    expect(dialog).to_contain_text("Review 1,000 skills")
    assert dialog.get_by_role("listitem").count() < 100
    dialog.get_by_label("Filter found skills").fill(f"{word}-99")
    expect(dialog).to_contain_text("11 found, 11 usable")
    dialog.get_by_role("button", name="Select all 11").click()
    expect(dialog.get_by_role("button", name="Install 11 skills")).to_be_enabled()


@each_look
def test_review_is_accessible(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    name = unique("weather")
    visitor = visit(viewport=viewport, scheme=scheme)
    visitor.open("/skills?install=true")
    page = visitor.page
    dialog = page.get_by_role("dialog")
    upload(page, requesting_files(name) | {f"{unique('bad')}/SKILL.md": "---\n---\n"})
    expect(dialog.get_by_role("region", name=name)).to_be_visible()
    dialog.get_by_role("region", name=name).get_by_role("checkbox", name="Fetch").check()
    assert problems(page) == []
