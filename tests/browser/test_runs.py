import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, WebSocketRoute, expect
from tests.browser.conftest import TIMEOUT_MS, Visitor, wait_until_idle
from tests.support.server import Server, wait_until

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]


def start(server: Server, **run_input: Any) -> str:
    return server.call("POST", "/api/v1/runs", {"kind": "self_test", "input": run_input})["id"]


def status(page: Page, word: str) -> None:
    expect(page.locator("main header").first.get_by_text(word, exact=True)).to_be_visible()


def start_with_gate(server: Server) -> str:
    """Start a run and wait until its gate is open."""
    run_id = start(server, ask=True)
    wait_until(lambda: server.call("GET", f"/api/v1/runs/{run_id}")["gates"], what="the gate")
    return run_id


def test_self_test_is_started_from_home_and_its_gate_answered_by_keyboard(visit: Visit):
    visitor = visit()
    page = visitor.page
    expect(page.get_by_text("No runs yet")).to_be_visible()
    page.get_by_role("button", name="Run the self-test").click()

    gate = page.get_by_role("region", name=re.compile("Needs you"))
    expect(gate).to_contain_text("Can you see this question?")
    status(page, "waiting")
    visitor.press("a")
    status(page, "completed")
    expect(gate).to_have_count(0)
    expect(page.get_by_role("log")).to_contain_text("answered: yes")
    expect(page.get_by_role("region", name="Output")).to_contain_text("yes")
    expect(page.get_by_role("region", name="Child runs").get_by_role("link")).to_have_count(1)


def test_reload_shows_the_same_run(visit: Visit):
    visitor = visit()
    log, steps = visitor.page.get_by_role("log"), visitor.page.get_by_role("region", name="Steps")
    visitor.open(f"/runs/{start(visitor.server)}")
    expect(log).to_contain_text("Completed.")
    wait_until_idle(visitor.page)
    texts = log.inner_text(), steps.inner_text()
    visitor.page.reload()
    expect(log).to_have_text(texts[0], use_inner_text=True)
    expect(steps).to_have_text(texts[1], use_inner_text=True)


def test_home_shows_gates_opened_and_answered_elsewhere(visit: Visit):
    visitor = visit()
    page, server = visitor.page, visitor.server
    run_id = start(server, ask=True)
    needs_you = page.get_by_role("region", name="Needs you")
    expect(needs_you).to_contain_text("Can you see this question?")
    expect(page.get_by_role("navigation", name="Main").get_by_role("link", name="Home")).to_contain_text("1")
    expect(page.get_by_label("Notifications")).to_contain_text("Needs you")

    gate = server.call("GET", f"/api/v1/runs/{run_id}")["gates"][0]
    body = {"option": "no", "shown_hash": gate["shown_hash"]}
    server.call("POST", f"/api/v1/gates/{gate['id']}/answer", body)
    expect(needs_you).to_have_count(0)
    expect(
        page.get_by_role("region", name="Recent").get_by_role("link", name=re.compile("Self-test")).first
    ).to_be_visible()


def test_answer_to_a_closed_gate_shows_a_notification(visit: Visit):
    visitor = visit()
    run_id = start(visitor.server, ask=True)
    visitor.open(f"/runs/{run_id}")
    gate = visitor.page.get_by_role("region", name=re.compile("Needs you"))
    expect(gate).to_be_visible()
    visitor.page.route("**/answer", lambda route: answer_gate(visitor.server, run_id) or route.continue_())
    gate.get_by_role("button", name="Yes").click()
    expect(visitor.page.get_by_label("Notifications")).to_contain_text("answered")
    expect(gate).to_have_count(0)


def answer_gate(server: Server, run_id: str) -> None:
    gate = server.call("GET", f"/api/v1/runs/{run_id}")["gates"][0]
    server.call(
        "POST", f"/api/v1/gates/{gate['id']}/answer", {"option": "no", "shown_hash": gate["shown_hash"]}
    )


def test_comment_is_stored_with_the_answer(visit: Visit):
    visitor = visit()
    visitor.open(f"/runs/{start(visitor.server, ask=True)}")
    visitor.page.get_by_role("button", name="Add a comment").click()
    visitor.page.get_by_label(re.compile("Comment")).fill("loud and clear")
    visitor.page.get_by_role("button", name="Yes").click()
    expect(visitor.page.get_by_role("log")).to_contain_text("“loud and clear”")


def test_cancel_requires_confirmation(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open(f"/runs/{start_with_gate(visitor.server)}")
    status(page, "waiting")
    visitor.press("x")
    page.get_by_role("dialog").get_by_role("button", name="Go back").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    status(page, "waiting")
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel run").click()
    status(page, "cancelled")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.get_by_role("region", name=re.compile("Needs you"))).to_have_count(0)


def test_closed_websocket_reconnects_and_replays_missed_events(visit: Visit):
    visitor = visit()
    page, server = visitor.page, visitor.server
    run_id = start_with_gate(server)
    sockets: list[WebSocketRoute] = []

    def connect(socket: WebSocketRoute) -> None:
        if sockets:  # on reconnection, cause the missed event first
            answer_gate(server, run_id)
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket("**/ws", connect)
    visitor.open(f"/runs/{run_id}")
    status(page, "waiting")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()

    page.evaluate(OBSERVE_RECONNECTING)
    sockets[-1].close(code=4408)
    page.evaluate("() => reconnecting")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    status(page, "completed")
    expect(page.get_by_role("log")).to_contain_text("Completed.")


OBSERVE_RECONNECTING = """() => {
    window.reconnecting = new Promise(done => new MutationObserver(
        () => document.querySelector("main header").innerText.includes("Reconnecting") && done()
    ).observe(document.body, { subtree: true, childList: true, characterData: true }));
}"""
"""The message is shown for only a quarter of a second, too short for polling."""


def test_ended_session_leads_to_the_login_page_with_return_path(visit: Visit):
    visitor = visit()
    page = visitor.page
    sockets: list[WebSocketRoute] = []
    page.route_web_socket("**/ws", lambda socket: (socket.connect_to_server(), sockets.append(socket)))
    visitor.open("/runs?status=failed")
    expect(page.get_by_text("Live", exact=True)).to_be_visible()
    page.context.clear_cookies()
    sockets[-1].close(code=4401)
    expect(page).to_have_url(re.compile(r"/login\?next="))


def test_run_list_filters_by_status_and_supports_keyboard_navigation(visit: Visit):
    visitor = visit()
    page = visitor.page
    run_id = start_with_gate(visitor.server)
    visitor.open("/runs")
    page.get_by_label("Status").select_option("waiting")
    expect(page).to_have_url(re.compile("status=waiting"))
    rows = page.get_by_role("list", name="Runs").get_by_role("link")
    expect(rows.filter(has_text="completed")).to_have_count(0)
    expect(rows.first).to_have_attribute("href", f"/runs/{run_id}")
    page.get_by_role("heading", level=1).click()
    visitor.press("j")
    expect(rows.first).to_be_focused()
    page.keyboard.press("Enter")
    status(page, "waiting")


def test_log_follows_until_scrolled_and_resumes_on_end(visit: Visit):
    visitor = visit()
    page = visitor.page
    page.set_viewport_size({"width": 1280, "height": 420})
    visitor.open(f"/runs/{start(visitor.server, width=50, step_ms=1)}")
    status(page, "completed")
    log = page.get_by_role("log")
    expect(log).to_contain_text("Completed.")
    wait_for_scroll(log, "fromEnd <= 1")
    log.hover()
    page.mouse.wheel(0, -400)
    follow = page.get_by_role("button", name="Follow")
    expect(follow).to_be_visible()
    wait_for_scroll(log, "fromEnd > 100")
    visitor.press("End")
    expect(follow).to_have_count(0)
    wait_for_scroll(log, "fromEnd <= 1")


def wait_for_scroll(log: Locator, scroll_condition: str) -> None:
    from_end = "Math.round(log.scrollHeight - log.scrollTop - log.clientHeight)"
    predicate = f"log => {{ const fromEnd = {from_end}; return {scroll_condition}; }}"
    log.page.wait_for_function(predicate, arg=log.element_handle(), timeout=TIMEOUT_MS)
