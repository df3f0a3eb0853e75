import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, WebSocketRoute, expect
from tests.browser.conftest import Visitor
from tests.support.server import Server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def start(server: Server, **given: Any) -> str:
    return server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": given})["id"]


def status(page: Page, word: str) -> None:
    expect(page.locator("main header").first.get_by_text(word, exact=True)).to_be_visible()


def test_the_first_visit_starts_the_self_test_and_answers_its_question_from_the_keyboard(visit: Visit):
    page = visit().page
    expect(page.get_by_text("Nothing has run yet")).to_be_visible()
    page.get_by_role("button", name="Run the self-test").click()

    gate = page.get_by_role("region", name=re.compile("Needs you"))
    expect(gate).to_contain_text("Does this reach you?")
    status(page, "waiting")
    page.keyboard.press("a")
    status(page, "completed")
    expect(gate).to_have_count(0)
    expect(page.get_by_role("log")).to_contain_text("answered: yes")
    expect(page.get_by_role("region", name="Output")).to_contain_text("yes")
    expect(page.get_by_role("region", name="Runs it started").get_by_role("link")).to_have_count(1)


def test_a_reload_shows_the_same_run(visit: Visit):
    visitor = visit()
    log, steps = visitor.page.get_by_role("log"), visitor.page.get_by_role("region", name="Steps")
    visitor.open(f"/runs/{start(visitor.server)}")
    expect(log).to_contain_text("Completed.")
    seen = log.inner_text(), steps.inner_text()
    visitor.page.reload()
    expect(log).to_contain_text("Completed.")
    assert (log.inner_text(), steps.inner_text()) == seen


def test_home_follows_what_happens_elsewhere(visit: Visit):
    visitor = visit()
    page, server = visitor.page, visitor.server
    run_id = start(server, ask=True)
    needs_you = page.get_by_role("region", name="Needs you")
    expect(needs_you).to_contain_text("Does this reach you?")
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Home")).to_contain_text("1")
    expect(page.get_by_label("Notifications")).to_contain_text("Needs you")

    gate = server.call("GET", f"/api/v1/runs/{run_id}")["gates"][0]
    answer = {"option": "no", "shown_hash": gate["shown_hash"]}
    server.call("POST", f"/api/v1/gates/{gate['id']}/answer", answer)
    expect(needs_you).to_have_count(0)
    expect(
        page.get_by_role("region", name="Recent").get_by_role("link", name=re.compile("Self-test")).first
    ).to_be_visible()


def test_an_answer_that_came_too_late_is_explained(visit: Visit):
    visitor = visit()
    run_id = start(visitor.server, ask=True)
    visitor.open(f"/runs/{run_id}")
    gate = visitor.page.get_by_role("region", name=re.compile("Needs you"))
    expect(gate).to_be_visible()
    visitor.page.route(
        "**/answer", lambda route: answered_before(visitor.server, run_id) or route.continue_()
    )
    gate.get_by_role("button", name="Yes").click()
    expect(visitor.page.get_by_label("Notifications")).to_contain_text("answered")
    expect(gate).to_have_count(0)


def answered_before(server: Server, run_id: str) -> None:
    gate = server.call("GET", f"/api/v1/runs/{run_id}")["gates"][0]
    server.call(
        "POST", f"/api/v1/gates/{gate['id']}/answer", {"option": "no", "shown_hash": gate["shown_hash"]}
    )


def test_a_comment_is_kept_with_the_answer(visit: Visit):
    visitor = visit()
    visitor.open(f"/runs/{start(visitor.server, ask=True)}")
    visitor.page.get_by_role("button", name="Add a comment").click()
    visitor.page.get_by_label(re.compile("Comment")).fill("loud and clear")
    visitor.page.get_by_role("button", name="Yes").click()
    expect(visitor.page.get_by_role("log")).to_contain_text("“loud and clear”")


def test_cancelling_asks_first(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{start(visitor.server, ask=True)}")
    status(page, "waiting")
    page.keyboard.press("x")
    page.get_by_role("dialog").get_by_role("button", name="Keep it").click()
    status(page, "waiting")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel the run").click()
    status(page, "cancelled")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_role("region", name=re.compile("Needs you"))).to_have_count(0)


def test_a_cut_line_is_mended_and_nothing_is_missed(visit: Visit):
    visitor = visit()
    page, server = visitor.page, visitor.server
    lines: list[WebSocketRoute] = []
    page.route_web_socket("**/ws", lambda line: (line.connect_to_server(), lines.append(line)))
    run_id = start(server, ask=True)
    visitor.open(f"/runs/{run_id}")
    status(page, "waiting")

    lines[-1].close(code=4408)
    expect(page.get_by_text("Reconnecting", exact=True)).to_be_visible()
    answered_before(server, run_id)
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    status(page, "completed")
    expect(page.get_by_role("log")).to_contain_text("Completed.")


def test_a_session_that_ends_leads_to_the_login_and_back(visit: Visit):
    visitor = visit()
    page = visitor.page
    lines: list[WebSocketRoute] = []
    page.route_web_socket("**/ws", lambda line: (line.connect_to_server(), lines.append(line)))
    visitor.open("/runs?status=failed")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.context.clear_cookies()
    lines[-1].close(code=4401)
    expect(page).to_have_url(re.compile(r"/login\?next="))


def test_the_list_filters_by_status_and_is_walked_by_keys(visit: Visit):
    visitor = visit()
    page = visitor.page
    run_id = start(visitor.server, ask=True)
    visitor.open("/runs")
    page.get_by_label("Status").select_option("waiting")
    expect(page).to_have_url(re.compile("status=waiting"))
    rows = page.get_by_role("list", name="Runs").get_by_role("link")
    expect(rows.filter(has_text="completed")).to_have_count(0)
    expect(rows.first).to_have_attribute("href", f"/runs/{run_id}")
    page.get_by_role("heading", level=1).click()
    page.keyboard.press("j")
    expect(rows.first).to_be_focused()
    page.keyboard.press("Enter")
    status(page, "waiting")


def test_the_log_follows_until_the_reader_scrolls_and_again_on_end(visit: Visit):
    visitor = visit()
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": 420})
    visitor.open(f"/runs/{start(visitor.server, width=50, step_ms=1)}")
    status(page, "completed")
    log = page.get_by_role("log")
    expect(log).to_contain_text("Completed.")
    from_end = "log => Math.round(log.scrollHeight - log.scrollTop - log.clientHeight)"
    assert log.evaluate(from_end) <= 1
    log.hover()
    page.mouse.wheel(0, -400)
    follow = page.get_by_role("button", name="Follow")
    expect(follow).to_be_visible()
    assert log.evaluate(from_end) > 100
    page.keyboard.press("End")
    expect(follow).to_have_count(0)
    assert log.evaluate(from_end) <= 1
