import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def test_key_is_shown_once_and_revoked_after_confirmation(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/settings/keys")
    page.get_by_role("button", name="Create key").first.click()
    page.get_by_label("Name").fill("nightly audit")
    page.get_by_role("button", name="Create", exact=True).click()
    key = page.get_by_role("dialog").get_by_text(re.compile("^forge_")).inner_text()
    with visitor.server.client(Authorization=f"Bearer {key}") as client:
        assert client.get("/api/v1/me").json()["data"]["scopes"] == ["read"]
    page.get_by_role("button", name="Done").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    row = page.get_by_role("row", name=re.compile("nightly audit"))
    expect(row).to_contain_text(key[-4:])
    assert key not in page.content()

    row.get_by_role("button", name="Revoke").click()
    revoke = page.get_by_role("button", name="Revoke key")
    expect(revoke).to_be_disabled()
    page.get_by_label(re.compile("to confirm")).fill("nightly audit")
    revoke.click()
    expect(row).to_contain_text("revoked")
    with visitor.server.client(Authorization=f"Bearer {key}") as client:
        assert client.get("/api/v1/me").status_code == 401


def test_secret_can_be_added_replaced_and_removed(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/settings/secrets")
    page.get_by_role("button", name="Add a secret").first.click()
    page.get_by_label("Name").fill("STRIPE_KEY")
    page.get_by_label("Value").fill("not-a-real-key-0001")
    page.get_by_role("button", name="Save").click()
    row = page.get_by_role("row", name=re.compile("STRIPE_KEY"))
    expect(row).to_contain_text("••••0001")

    row.get_by_role("button", name="Replace").click()
    page.get_by_label("Value").fill("not-a-real-key-0002")
    page.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("••••0002")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert "not-a-real-key" not in page.content()

    row.get_by_role("button", name="Remove").click()
    page.get_by_label(re.compile("to confirm")).fill("STRIPE_KEY")
    page.get_by_role("button", name="Remove secret").click()
    expect(row).to_have_count(0)


def test_invalid_secret_name_is_marked(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/settings/secrets")
    page.get_by_role("button", name="Add a secret").first.click()
    page.get_by_label("Name").fill("no spaces, please")
    page.get_by_label("Value").fill("not-a-real-key-0001")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog").get_by_label("Name")).to_have_attribute("aria-invalid", "true")


def test_account_can_be_renamed(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/settings")
    page.get_by_label("Name").fill("Robin")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("navigation", name="Main")).to_contain_text("Robin")


def test_about_page_shows_database_and_workers(visit: Visit):
    visitor = visit()
    visitor.open("/settings/about")
    expect(visitor.page.get_by_role("region", name="Server")).to_contain_text("SQLite")
    expect(visitor.page.get_by_role("table", name="Workers").get_by_role("row")).to_have_count(2)
