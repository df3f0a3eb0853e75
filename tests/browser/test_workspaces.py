"""Workspaces in the browser: create, add, browse, search and remove."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def write_sample_files(folder: Path) -> None:
    (folder / "src/deep").mkdir(parents=True)
    (folder / "README.md").write_text("# Basket\n\nIt adds up.\n")
    (folder / "src/deep/basket.py").write_text("def total():\n    return 41 + 1\n")
    (folder / "logo.bin").write_bytes(b"\0\1\2")
    (folder / "large.txt").write_text("one of many equal lines\n" * 40_000)


def test_workspace_is_created_from_the_empty_page(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/workspaces")
    expect(page.get_by_text("A workspace is a directory agents work in")).to_be_visible()
    page.get_by_role("button", name="Create a workspace").click()
    page.get_by_label("Name").fill("basket")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", name="basket", level=1)).to_be_visible()
    expect(page.get_by_text("Empty directory.")).to_be_visible()
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Workspaces").click()
    expect(page.get_by_role("list", name="Workspaces").get_by_role("link")).to_contain_text("basket")


def test_invalid_workspace_name_is_marked(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/workspaces?new=true")
    page.get_by_label("Name").fill("no/slashes")
    page.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_label("Name")).to_have_attribute("aria-invalid", "true")


def test_existing_directory_can_be_added_and_browsed(visit: Visit, tmp_path: Path):
    write_sample_files(tmp_path)
    visitor = visit()
    page = visitor.page
    visitor.open("/workspaces?new=true")
    page.get_by_label("Name").fill("existing")
    page.get_by_text("Existing directory").click()
    page.get_by_role("textbox", name="Directory").fill(str(tmp_path))
    page.get_by_role("button", name="Create", exact=True).click()

    files = page.get_by_role("list", name="Files")
    expect(files.get_by_role("link", name="README.md")).to_be_visible()
    expect(page.get_by_text("basket.py")).to_have_count(0)
    files.get_by_role("button", name="src").click()
    files.get_by_role("button", name="deep").click()
    files.get_by_role("link", name="basket.py").click()
    preview = page.get_by_role("region", name="src/deep/basket.py")
    expect(preview).to_contain_text("return 41 + 1")
    page.reload()
    expect(preview).to_contain_text("return 41 + 1")
    expect(files.get_by_role("link", name="basket.py")).to_have_attribute("aria-current", "page")
    files.get_by_role("link", name="logo.bin").click()
    expect(page.get_by_text("This file is not text.")).to_be_visible()
    files.get_by_role("link", name="large.txt").click()
    expect(page.get_by_role("note")).to_contain_text("Only the first")


def test_search_result_opens_its_file(visit: Visit):
    visitor = visit()
    page = visitor.page
    workspace = visitor.server.call("POST", "/api/v1/workspaces", {"name": "searched"})
    write_sample_files(Path(workspace["path"]))
    visitor.open(f"/workspaces/{workspace['id']}")
    expect(page.get_by_role("list", name="Files")).to_be_visible()
    visitor.press("/")
    expect(page.get_by_label("Search files")).to_be_focused()
    page.keyboard.type("def t.*l")
    page.keyboard.press("Enter")
    results = page.get_by_role("region", name="Found")
    expect(results).to_contain_text("1 line in 1 file")
    results.get_by_role("link").click()
    expect(page.get_by_role("region", name="src/deep/basket.py")).to_contain_text("def total")
    page.get_by_label("Search files").fill("zebra")
    page.keyboard.press("Enter")
    expect(results).to_contain_text("No matches for “zebra”.")
    page.get_by_label("Search files").fill("")
    expect(page.get_by_role("list", name="Files")).to_be_visible()


def test_removal_requires_the_workspace_name(visit: Visit):
    visitor = visit()
    page = visitor.page
    workspace = visitor.server.call("POST", "/api/v1/workspaces", {"name": "doomed"})
    visitor.open(f"/workspaces/{workspace['id']}")
    page.get_by_role("button", name="Remove workspace").click()
    dialog = page.get_by_role("dialog")
    remove = dialog.get_by_role("button", name="Remove workspace")
    expect(remove).to_be_disabled()
    dialog.get_by_role("textbox").fill("doomed")
    remove.click()
    expect(page.get_by_role("list", name="Workspaces")).not_to_contain_text("doomed")
    expect(page.get_by_label("Notifications")).to_contain_text("Removed doomed.")
    assert not Path(workspace["path"]).exists()
