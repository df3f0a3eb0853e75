"""Audits: asked for, watched, looked through."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from tests.audits.git_project import git, make_project, spoil
from tests.browser.conftest import PHONE, Visitor
from tests.support.server import Server, wait_until

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]
MANY = 1500


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("projects")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, projects: Path) -> Iterator[Server]:
    """One that lets what lies in `projects` be audited."""
    running = Server(tmp_path_factory.mktemp("server"), FORGE_AUDIT_ROOTS=str(projects))
    running.start()
    yield running
    running.stop()


@pytest.fixture(scope="module")
def spoiled(projects: Path) -> Path:
    root = make_project(projects / "basket")
    spoil(root)
    return root


def start(server: Server, **body: Any) -> str:
    """An audit that has ended."""
    run_id = server.call("POST", "/audit/run", {"ledger": False, **body})["id"]
    wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["run"]["finished_at"], what="the audit")
    return run_id


def findings(page: Page) -> Locator:
    return page.get_by_role("feed", name="Findings").get_by_role("article")


def check(page: Page, code: str) -> Locator:
    return page.get_by_role("list", name="Checks").get_by_role("button").filter(has_text=code)


def test_an_audit_is_started_watched_and_looked_through(visit: Visit, spoiled: Path):
    visitor = visit()
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    start_an_audit(visitor, spoiled)
    look_at_what_was_audited(page, spoiled)
    copy_the_command_of_a_finding(page, spoiled)
    filter_the_findings(visitor)

    check(page, "W3").click()
    page.get_by_label("Severity").select_option("")
    expect(page.get_by_text("W3 ", exact=False).first).to_be_visible()
    first = page.url
    page.get_by_role("button", name="Run again").click()
    page.wait_for_url(lambda url: url != first)
    expect(check(page, "A4")).to_contain_text("FAIL")
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Audits").click()
    expect(page.get_by_role("list", name="Audits").get_by_role("link")).to_have_count(2)


def start_an_audit(visitor: Visitor, spoiled: Path) -> None:
    page = visitor.page
    visitor.press("g")
    visitor.page.keyboard.press("a")
    expect(page.get_by_role("heading", name="Audits", level=1)).to_be_visible()
    page.get_by_role("button", name="Audit a project").first.click()
    folder = page.get_by_role("combobox", name="Folder")
    expect(page.locator("form")).to_contain_text(f"A git repository in {spoiled.parent}.")
    expect(page.locator(f"datalist option[value='{spoiled}']")).to_have_count(1)
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    expect(page.get_by_role("checkbox", name="Append to the ledger")).to_be_checked()
    folder.fill(str(spoiled))
    page.get_by_role("textbox", name="Claimed files").fill("app/routers/items.py")
    page.get_by_role("textbox", name="Phase").fill("Phase 3")
    page.get_by_role("button", name="Start").click()


def look_at_what_was_audited(page: Page, spoiled: Path) -> None:
    expect(page.get_by_role("heading", name="Audit of basket, Phase 3", level=1)).to_be_visible()
    expect(check(page, "A4")).to_contain_text("FAIL")
    expect(check(page, "A1")).to_contain_text("PASS")
    expect(check(page, "W3")).to_contain_text("SKIP")
    about = page.get_by_role("region", name="Audited")
    expect(about.get_by_text("FAIL", exact=True)).to_be_visible()
    for said in (str(spoiled), "Phase 3", "main", "1 file", "entry 1"):
        expect(about).to_contain_text(said)
    about.get_by_role("button", name="Copy HEAD").click()
    assert page.evaluate("navigator.clipboard.readText()") == git(spoiled, "rev-parse", "HEAD")
    expect(about.get_by_text("app/routers/items.py")).to_be_hidden()
    about.locator("summary").click()
    expect(about.get_by_text("app/routers/items.py")).to_be_visible()
    nav = page.get_by_role("navigation", name="Main")
    expect(nav.get_by_role("link", name="Audits")).to_have_attribute("aria-current", "page")
    expect(nav.get_by_role("link", name="Runs")).not_to_have_attribute("aria-current", "page")


def copy_the_command_of_a_finding(page: Page, spoiled: Path) -> None:
    check(page, "A4").click()
    found = findings(page).filter(has_text="asyncpg").first
    expect(found).to_contain_text("app/routers/items.py:1")
    expect(found.locator("pre")).to_have_text("import asyncpg")
    found.get_by_role("button", name="Copy command").click()
    expect(found.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith(f"forge audit {spoiled} --only A4 --file app/routers/items.py")


def filter_the_findings(visitor: Visitor) -> None:
    page = visitor.page
    check(page, "A4").click()
    visitor.press("/")
    page.keyboard.type("leftpad")
    expect(findings(page)).to_have_count(1)
    expect(findings(page)).to_contain_text("leftpad_of_python")
    page.keyboard.type(" nowhere")
    expect(page.get_by_text("No findings match")).to_be_visible()
    page.get_by_role("button", name="Clear the filter").click()
    expect(page.get_by_role("searchbox", name="Filter findings")).to_be_focused()
    page.get_by_label("Severity").select_option("error")
    expect(page.get_by_text("No findings match")).to_be_visible()


def test_a_folder_that_may_not_be_audited_is_explained(visit: Visit, projects: Path):
    visitor = visit()
    page = visitor.page
    visitor.open("/audits?new=true")
    page.get_by_role("combobox", name="Folder").fill("/etc")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("FORGE_AUDIT_ROOTS")


def test_many_findings_are_walked_through_and_few_are_drawn(visit: Visit, projects: Path):
    root = make_project(projects / "many")
    (root / "app/many.py").write_text("".join(f"import nobody_knows_{i}\n" for i in range(MANY)))
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{start(visitor.server, path=str(root), only=['A9'])}")
    expect(page.get_by_role("status").filter(has_text=f"{MANY}")).to_be_visible()
    expect(findings(page).first).to_have_attribute("aria-setsize", str(MANY))
    assert findings(page).count() < 60
    for _ in range(3):
        visitor.press("j")
    visitor.press("k")
    expect(page.locator("article:focus")).to_have_attribute("aria-posinset", "2")
    page.get_by_role("searchbox", name="Filter findings").fill(f"nobody_knows_{MANY - 1}")
    expect(findings(page)).to_have_count(1)


def test_an_audit_that_finds_nothing_says_so(visit: Visit, projects: Path):
    root = make_project(projects / "fine")
    visitor = visit()
    visitor.open(f"/runs/{start(visitor.server, path=str(root), only=['A4', 'A9'])}")
    expect(visitor.page.get_by_text("No problems found")).to_be_visible()
    expect(visitor.page.get_by_text("2 checks passed.")).to_be_visible()
    expect(visitor.page.get_by_text("A4 A9 only")).to_be_visible()
    visitor.open("/audits")
    row = visitor.page.get_by_role("list", name="Audits").get_by_role("link").first
    expect(row).to_contain_text("A4 A9 only")


def test_a_ledger_that_takes_no_entry_is_a_warning_beside_the_verdict(visit: Visit, projects: Path):
    root = make_project(projects / "tampered")
    (root / "Forge/evidence").mkdir()
    (root / "Forge/evidence/audit_ledger.jsonl").write_text("{}\n")
    visitor = visit(viewport=PHONE)
    visitor.open(f"/runs/{start(visitor.server, path=str(root), ledger=True)}")
    about = visitor.page.get_by_role("region", name="Audited")
    expect(about.get_by_role("status")).to_contain_text("No ledger entry")
    expect(about.get_by_text("FAIL", exact=True)).to_be_visible()
    visitor.open("/audits")
    row = visitor.page.get_by_role("list", name="Audits").get_by_role("link").first
    expect(row.get_by_text("W2")).to_be_visible()
    expect(row.get_by_text("finding")).to_be_visible()
