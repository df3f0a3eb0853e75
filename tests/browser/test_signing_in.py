import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor, new_link

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def test_a_link_signs_in_and_leaves_no_token_in_the_address(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.page.goto(new_link(visitor.server))
    expect(visitor.page.get_by_role("heading", name="Home")).to_be_visible()
    expect(visitor.page).to_have_url(f"{visitor.server.url}/")


def test_a_used_link_says_so_and_what_to_do(visit: Visit):
    first = visit(is_signed_in=False)
    link = new_link(first.server)
    first.page.goto(link)
    expect(first.page.get_by_role("heading", name="Home")).to_be_visible()

    second = visit(is_signed_in=False)
    second.page.goto(link)
    expect(second.page.get_by_role("alert")).to_contain_text("forge login --link")
    expect(second.page.get_by_label("Link or token")).to_be_visible()
    expect(second.page).not_to_have_url(re.compile("token"))


def test_a_pasted_link_leads_to_the_page_that_was_asked_for(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.open("/settings/about")
    expect(visitor.page).to_have_url(re.compile("/login"))
    visitor.page.get_by_label("Link or token").fill(new_link(visitor.server))
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page.get_by_role("heading", name="Server")).to_be_visible()


def test_a_link_to_another_site_is_not_followed_after_signing_in(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.open("/login?next=//example.com/")
    visitor.page.get_by_label("Link or token").fill(new_link(visitor.server))
    visitor.page.get_by_role("button", name="Sign in").click()
    expect(visitor.page).to_have_url(f"{visitor.server.url}/")


def test_signing_out_ends_the_session(visit: Visit):
    visitor = visit(is_signed_in=False)
    visitor.sign_in()
    visitor.open("/settings")
    visitor.page.get_by_role("button", name="Sign out").click()
    expect(visitor.page).to_have_url(f"{visitor.server.url}/login")
    visitor.open("/runs")
    expect(visitor.page).to_have_url(re.compile("/login"))
