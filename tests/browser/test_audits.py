"""Audits in the browser: start, summary, findings and filters."""

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
FINDINGS_COUNT = 1500


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("projects")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, projects: Path) -> Iterator[Server]:
    """A server that allows audits in `projects`."""
    test_server = Server(tmp_path_factory.mktemp("server"), FORGE_AUDIT_ROOTS=str(projects))
    test_server.start()
    yield test_server
    test_server.stop()


@pytest.fixture(scope="module")
def project(projects: Path) -> Path:
    root = make_project(projects / "basket")
    spoil(root)
    return root


def finish_audit(server: Server, **body: Any) -> str:
    """Start an audit, wait for its end and return its id."""
    run_id = server.call("POST", "/audit/run", {"ledger": False, **body})["id"]
    wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["run"]["finished_at"], what="the audit")
    return run_id


def findings(page: Page) -> Locator:
    return page.get_by_role("feed", name="Findings").get_by_role("article")


def check(page: Page, code: str) -> Locator:
    return page.get_by_role("list", name="Checks").get_by_role("button").filter(has_text=code)


def test_audit_is_started_and_its_findings_are_shown_and_filtered(visit: Visit, project: Path):
    visitor = visit()
    page = visitor.page
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    start_audit(visitor, project)
    check_summary(page, project)
    copy_finding_command(page, project)
    filter_findings(visitor)

    check(page, "W3").click()
    page.get_by_label("Severity").select_option("")
    expect(page.get_by_text("W3 ", exact=False).first).to_be_visible()
    first_url = page.url
    page.get_by_role("button", name="Run again").click()
    page.wait_for_url(lambda url: url != first_url)
    expect(check(page, "A4")).to_contain_text("FAIL")
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Audits").click()
    expect(page.get_by_role("list", name="Audits").get_by_role("link")).to_have_count(2)


def start_audit(visitor: Visitor, project: Path) -> None:
    page = visitor.page
    visitor.press("g")
    visitor.page.keyboard.press("a")
    expect(page.get_by_role("heading", name="Audits", level=1)).to_be_visible()
    page.get_by_role("button", name="Audit a project").first.click()
    folder = page.get_by_role("combobox", name="Folder")
    expect(page.locator("form")).to_contain_text(f"A git repository in {project.parent}.")
    expect(page.locator(f"datalist option[value='{project}']")).to_have_count(1)
    expect(page.get_by_role("button", name="Start")).to_be_disabled()
    expect(page.get_by_role("checkbox", name="Append to the ledger")).to_be_checked()
    folder.fill(str(project))
    page.get_by_role("textbox", name="Claimed files").fill("app/routers/items.py")
    page.get_by_role("textbox", name="Phase").fill("Phase 3")
    page.get_by_role("button", name="Start").click()


def check_summary(page: Page, project: Path) -> None:
    expect(page.get_by_role("heading", name="Audit of basket, Phase 3", level=1)).to_be_visible()
    expect(check(page, "A4")).to_contain_text("FAIL")
    expect(check(page, "A1")).to_contain_text("PASS")
    expect(check(page, "W3")).to_contain_text("SKIP")
    summary = page.get_by_role("region", name="Audited")
    expect(summary.get_by_text("FAIL", exact=True)).to_be_visible()
    for text in (str(project), "Phase 3", "main", "1 file", "entry 1"):
        expect(summary).to_contain_text(text)
    summary.get_by_role("button", name="Copy HEAD").click()
    assert page.evaluate("navigator.clipboard.readText()") == git(project, "rev-parse", "HEAD")
    expect(summary.get_by_text("app/routers/items.py")).to_be_hidden()
    summary.locator("summary").click()
    expect(summary.get_by_text("app/routers/items.py")).to_be_visible()
    nav = page.get_by_role("navigation", name="Main")
    expect(nav.get_by_role("link", name="Audits")).to_have_attribute("aria-current", "page")
    expect(nav.get_by_role("link", name="Runs")).not_to_have_attribute("aria-current", "page")


def copy_finding_command(page: Page, project: Path) -> None:
    check(page, "A4").click()
    finding = findings(page).filter(has_text="asyncpg").first
    expect(finding).to_contain_text("app/routers/items.py:1")
    expect(finding.locator("pre")).to_have_text("import asyncpg")
    finding.get_by_role("button", name="Copy command").click()
    expect(finding.get_by_role("button", name="Copied")).to_be_visible()
    command = page.evaluate("navigator.clipboard.readText()")
    assert command.startswith(f"forge audit {project} --only A4 --file app/routers/items.py")


def filter_findings(visitor: Visitor) -> None:
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


def test_folder_outside_of_audit_roots_is_rejected_with_a_hint(visit: Visit, projects: Path):
    visitor = visit()
    page = visitor.page
    visitor.open("/audits?new=true")
    page.get_by_role("combobox", name="Folder").fill("/etc")
    page.get_by_role("button", name="Start").click()
    expect(page.get_by_role("alert")).to_contain_text("FORGE_AUDIT_ROOTS")


def test_long_finding_list_renders_only_visible_findings(visit: Visit, projects: Path):
    root = make_project(projects / "many")
    (root / "app/many.py").write_text("".join(f"import unknown_module_{i}\n" for i in range(FINDINGS_COUNT)))
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{finish_audit(visitor.server, path=str(root), only=['A9'])}")
    expect(page.get_by_role("status").filter(has_text=f"{FINDINGS_COUNT}")).to_be_visible()
    expect(findings(page).first).to_have_attribute("aria-setsize", str(FINDINGS_COUNT))
    assert findings(page).count() < 60
    for _ in range(3):
        visitor.press("j")
    visitor.press("k")
    expect(page.locator("article:focus")).to_have_attribute("aria-posinset", "2")
    page.get_by_role("searchbox", name="Filter findings").fill(f"unknown_module_{FINDINGS_COUNT - 1}")
    expect(findings(page)).to_have_count(1)


def test_audit_without_findings_shows_passed_checks(visit: Visit, projects: Path):
    root = make_project(projects / "fine")
    visitor = visit()
    visitor.open(f"/runs/{finish_audit(visitor.server, path=str(root), only=['A4', 'A9'])}")
    expect(visitor.page.get_by_text("No problems found")).to_be_visible()
    expect(visitor.page.get_by_text("2 checks passed.")).to_be_visible()
    expect(visitor.page.get_by_text("A4 A9 only")).to_be_visible()
    visitor.open("/audits")
    row = visitor.page.get_by_role("list", name="Audits").get_by_role("link").first
    expect(row).to_contain_text("A4 A9 only")


def test_rejected_ledger_entry_is_shown_as_a_warning(visit: Visit, projects: Path):
    root = make_project(projects / "tampered")
    (root / "Forge/evidence").mkdir()
    (root / "Forge/evidence/audit_ledger.jsonl").write_text("{}\n")
    visitor = visit(viewport=PHONE)
    visitor.open(f"/runs/{finish_audit(visitor.server, path=str(root), ledger=True)}")
    summary = visitor.page.get_by_role("region", name="Audited")
    expect(summary.get_by_role("status")).to_contain_text("No ledger entry")
    expect(summary.get_by_text("FAIL", exact=True)).to_be_visible()
    visitor.open("/audits")
    row = visitor.page.get_by_role("list", name="Audits").get_by_role("link").first
    expect(row.get_by_text("W2")).to_be_visible()
    expect(row.get_by_text("finding")).to_be_visible()
