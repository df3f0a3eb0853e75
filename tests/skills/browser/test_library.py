"""The skill library in the browser: search, grants, runs, source, tests, export and removal."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.browser.conftest import Visitor
from tests.browser.test_accessibility import problems
from tests.skills.greeter import greeter_files
from tests.support.server import Server

from forge.kernel.ids import new_id

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

SOURCE = """\
function run(input) {
  const times = Number(kv.get(input.name) || 0) + 1;
  kv.set(input.name, String(times));
  console.log("greeting " + input.name);
  return { text: "Hello " + input.name, times };
}
"""


@pytest.fixture
def skill(server: Server) -> dict[str, Any]:
    """Create a script that requests `http_get` and `kv`, without grants."""
    name = f"greeter-{new_id()[-6:].lower()}"
    return server.call("POST", "/api/v1/skills", {"name": name, "files": greeter_files(name, SOURCE)})


def row(page: Page, capability: str) -> Locator:
    return (
        page.get_by_role("list", name="Requested capabilities")
        .get_by_role("listitem")
        .filter(has_text=capability)
    )


def run_in_drawer(page: Page, text: str) -> Locator:
    """Run the skill in the drawer and return the region of the result."""
    page.get_by_role("button", name=re.compile("^Run")).click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("textbox", name="Input").fill(text)
    drawer.get_by_role("button", name=re.compile("^Run")).click()
    return drawer.get_by_role("region", name="Result")


def test_library_filters_are_kept_in_the_url(visit: Visit, server: Server, skill: dict[str, Any]):
    visitor = visit()
    page, name = visitor.page, skill["name"]
    visitor.press("g")
    visitor.press("s")
    card = page.get_by_role("list", name="Skills").get_by_role("link", name=name)
    expect(card).to_contain_text("needs review")
    expect(card).to_contain_text("fetch from the web, not granted")
    visitor.press("/")
    page.keyboard.type(f"{name} knows")
    expect(page.get_by_role("list", name="Skills").get_by_role("link")).to_have_count(1)
    page.get_by_label("Kind").select_option("prompt")
    expect(page.get_by_text("No skills match")).to_be_visible()
    page.get_by_label("Kind").select_option("script")
    expect(card).to_be_visible()
    page.wait_for_url(re.compile(r"kind=script"))
    page.reload()
    expect(page.get_by_label("Search skills")).to_have_value(f"{name} knows")
    expect(page.get_by_role("list", name="Skills").get_by_role("link")).to_have_count(1)
    kv = {"grants": [{"capability": "kv"}, {"capability": "http_get"}], "folder_hash": skill["folder_hash"]}
    server.call("PUT", f"/api/v1/skills/{name}/grants", kv)
    expect(card).not_to_contain_text("needs review")
    page.get_by_role("button", name="Clear").click()
    page.wait_for_url(re.compile(r"/skills$"))


def test_skill_is_granted_run_and_revoked(visit: Visit, server: Server, skill: dict[str, Any]):
    visitor = visit()
    page, name = visitor.page, skill["name"]
    visitor.open("/skills")
    page.get_by_role("list", name="Skills").get_by_role("link", name=name).click()
    expect(page.get_by_text("Greeter", exact=True)).to_be_visible()
    result = run_in_drawer(page, '{"name": "Ada"}')
    expect(result).to_contain_text("refused")
    page.get_by_role("dialog").get_by_role("link", name="View permissions").click()
    page.wait_for_url(re.compile(r"/permissions$"))

    page.get_by_role("checkbox", name="Fetch from the web").check()
    page.get_by_role("checkbox", name="Keep notes").check()
    hosts = row(page, "http_get").get_by_label("Hosts")
    hosts.fill("no host at all")
    hosts.press("Enter")
    expect(row(page, "http_get")).to_contain_text("Use api.example.com")
    hosts.fill("example.org")
    hosts.press("Enter")
    page.get_by_role("button", name="Grant 2").click()
    expect(row(page, "kv").get_by_text("granted", exact=True)).to_be_visible()
    granted = {one["capability"]: one["scope"]["hosts"] for one in fetch_skill(server, name)["grants"]}
    assert granted == {"http_get": ["api.example.com", "example.org"], "kv": []}

    result = run_in_drawer(page, '{"name": "Ada"}')
    expect(result).to_contain_text('"Hello Ada"')
    expect(result).to_contain_text("greeting Ada")
    expect(result).to_contain_text(re.compile("keep notes .2"))
    assert problems(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Revoke kv").click()
    expect(row(page, "kv").get_by_text("not granted")).to_be_visible()
    assert [one["capability"] for one in fetch_skill(server, name)["grants"]] == ["http_get"]
    page.get_by_role("link", name="Runs", exact=True).last.click()
    rows = page.get_by_role("table", name="Runs").get_by_role("row")
    expect(rows).to_have_count(3)
    rows.nth(1).get_by_role("button").click()
    expect(page.get_by_role("region", name="Log")).to_contain_text("greeting Ada")


def fetch_skill(server: Server, name: str) -> dict[str, Any]:
    return server.call("GET", f"/api/v1/skills/{name}")


def test_concurrent_edit_is_detected_before_granting(visit: Visit, server: Server, skill: dict[str, Any]):
    visitor = visit()
    page, name = visitor.page, skill["name"]
    visitor.open(f"/skills/{name}/permissions")
    expect(page.get_by_text("Live", exact=True)).to_be_attached()  # then the skill is not fetched again
    page.get_by_role("checkbox", name="Keep notes").check()
    with (Path(skill["folder"]) / "skill.js").open("a") as source:
        source.write("// and more\n")
    page.get_by_role("button", name="Grant 1").click()
    expect(page.get_by_text("was edited while you were reviewing it")).to_be_visible()
    assert fetch_skill(server, name)["grants"] == []
    page.get_by_role("checkbox", name="Keep notes").check()
    page.get_by_role("button", name="Grant 1").click()
    expect(row(page, "kv").get_by_text("granted", exact=True)).to_be_visible()
    with (Path(skill["folder"]) / "skill.js").open("a") as source:
        source.write("// and still more\n")
    page.reload()
    expect(row(page, "kv").get_by_text("edited since")).to_be_visible()
    expect(page.get_by_text("its grants no longer apply")).to_be_visible()


def test_source_is_shown_and_tests_are_run(visit: Visit, server: Server, skill: dict[str, Any]):
    visitor = visit()
    page, name = visitor.page, skill["name"]
    (Path(skill["folder"]) / "icon.bin").write_bytes(bytes(range(256)))
    visitor.open(f"/skills/{name}/source")
    files = page.get_by_role("navigation", name="Files")
    expect(page.get_by_role("region", name="File")).to_contain_text("description: Greets people")
    files.get_by_role("link", name="skill.js").click()
    expect(page.get_by_role("region", name="File")).to_contain_text("function run(input)")
    files.get_by_role("link", name="icon.bin").click()
    expect(page.get_by_role("region", name="File")).to_contain_text("Binary file, 256 B")
    page.get_by_role("link", name="Tests", exact=True).click()
    page.get_by_role("button", name="Run tests").click()
    cases = page.get_by_role("region", name="Result").get_by_role("list", name="Cases")
    expect(cases).to_contain_text("greets Ada")
    expect(cases).to_contain_text("failed")
    body = {"grants": [{"capability": "kv"}], "folder_hash": fetch_skill(server, name)["folder_hash"]}
    server.call("PUT", f"/api/v1/skills/{name}/grants", body)
    page.get_by_role("button", name="Run tests").click()
    expect(cases).to_contain_text("passed")


def test_skill_is_exported_and_removed(visit: Visit, skill: dict[str, Any]):
    visitor = visit()
    page, name = visitor.page, skill["name"]
    visitor.open(f"/skills/{name}")
    page.get_by_role("button", name="More").click()
    with page.expect_download() as download:
        page.get_by_role("menuitem", name="Export").click()
    assert download.value.suggested_filename == f"{name}.zip"
    assert download.value.path().read_bytes().startswith(b"PK")
    page.get_by_role("button", name="More").click()
    page.get_by_role("menuitem", name="Remove…").click()
    page.get_by_label(f"Type {name} to confirm").fill(name)
    page.get_by_role("button", name="Remove skill").click()
    page.wait_for_url(re.compile(r"/skills$"))
    expect(page.get_by_role("list", name="Skills").get_by_role("link").first).to_be_visible()
    expect(page.get_by_role("list", name="Skills").get_by_role("link", name=name)).to_have_count(0)
