"""From an invitation to a member's first page, and what a failed sign-in shows."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect
from tests.browser.conftest import PHONE, Visitor
from tests.github.team_server import TeamServer

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def authorize_as(page: Page, login: str) -> None:
    """Pick a user on GitHub's page and authorize Forge."""
    page.wait_for_url(re.compile("/login/oauth/authorize"))
    page.get_by_role("button", name=f"Authorize as {login}").click()


def test_invited_person_joins_with_github(visit: Visit, team: TeamServer):
    team.double.add_user("grace")
    owner = visit()
    owner.open("/settings/team")
    owner.page.get_by_role("button", name="Invite").click()
    dialog = owner.page.get_by_role("dialog")
    dialog.get_by_label("GitHub login").fill("grace")
    dialog.get_by_role("button", name="Create link").click()
    link = dialog.get_by_text(re.compile("#invitation=")).inner_text()
    dialog.get_by_role("button", name="Done").click()
    expect(owner.page.get_by_role("list", name="Invitations")).to_contain_text("open")

    guest = visit(is_signed_in=False, viewport=PHONE)
    guest.page.goto(link)
    expect(guest.page.get_by_text("You were invited to this server")).to_be_visible()
    expect(guest.page).not_to_have_url(re.compile("invitation"))
    guest.page.get_by_role("button", name="Sign in with GitHub").click()
    authorize_as(guest.page, "grace")
    expect(guest.page.get_by_role("heading", name="Home")).to_be_visible()
    guest.open("/settings/team")
    expect(guest.page.get_by_text("Skill library")).to_be_visible()
    expect(guest.page.get_by_role("table", name="Members")).to_have_count(0)
    guest.open("/settings/github")
    expect(guest.page.get_by_role("list", name="What GitHub allows")).to_contain_text("Install webhooks")

    owner.page.reload()
    members = owner.page.get_by_role("table", name="Members")
    expect(members).to_contain_text("grace")
    members.get_by_role("button", name="Remove grace").click()
    owner.page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(members).to_contain_text("removed")
    guest.open("/settings")
    expect(guest.page.get_by_role("heading", name="Sign in to Forge")).to_be_visible()


def test_person_without_account_is_told_why(visit: Visit, team: TeamServer):
    team.double.add_user("stranger")
    visitor = visit(is_signed_in=False)
    visitor.open("/login")
    visitor.page.get_by_role("button", name="Sign in with GitHub").click()
    authorize_as(visitor.page, "stranger")
    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("The GitHub user stranger has no account on this server.")
    visitor.page.reload()
    expect(alert).to_have_count(0)


def test_owner_shares_a_provider(visit: Visit):
    owner = visit()
    owner.open("/settings/team")
    owner.page.get_by_role("button", name="Share a provider").click()
    dialog = owner.page.get_by_role("dialog")
    dialog.get_by_label("Provider").select_option("openai")
    dialog.get_by_label("Dollars per member and day").fill("2.5")
    dialog.get_by_role("button", name="Share", exact=True).click()
    shared = owner.page.get_by_role("list", name="Shared")
    expect(shared).to_contain_text("up to $2.50 per member and day")
    shared.get_by_role("button", name="Stop sharing").click()
    expect(shared).not_to_contain_text("openai")
