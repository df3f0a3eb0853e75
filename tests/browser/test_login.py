import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor, new_link

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def test_link_signs_in_and_removes_the_token_from_the_url(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.page.goto(new_link(visitor.server))
    expect(visitor.page.get_by_role("heading", name="Home")).to_be_visible()
    expect(visitor.page).to_have_url(f"{visitor.server.url}/")


def test_used_link_shows_how_to_get_a_new_one(visit: Visit):
    first = visit(is_signed_in=False)
    link = new_link(first.server)
    first.page.goto(link)
    expect(first.page.get_by_role("heading", name="Home")).to_be_visible()

    second = visit(is_signed_in=False)
    second.page.goto(link)
    expect(second.page.get_by_role("alert")).to_contain_text("forge login --link")
    expect(second.page.get_by_label("Link or token")).to_be_visible()
    expect(second.page).not_to_have_url(re.compile("token"))


def test_pasted_link_returns_to_the_requested_page(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.open("/settings/about")
    expect(visitor.page).to_have_url(re.compile("/login"))
    visitor.page.get_by_label("Link or token").fill(new_link(visitor.server))
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page.get_by_role("heading", name="Server")).to_be_visible()


def test_login_does_not_redirect_to_another_site(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.open("/login?next=//example.com/")
    visitor.page.get_by_label("Link or token").fill(new_link(visitor.server))
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page).to_have_url(f"{visitor.server.url}/")


def test_sign_out_ends_the_session(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.sign_in()
    visitor.open("/settings")
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page).to_have_url(f"{visitor.server.url}/login")
    visitor.open("/runs")
    expect(visitor.page).to_have_url(re.compile("/login"))
