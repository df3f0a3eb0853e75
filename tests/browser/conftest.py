"""A real Chromium, signed in to a real server. A JavaScript error or CSP violation fails the test."""

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Page,
    StorageState,
    ViewportSize,
    WebSocket,
    expect,
    sync_playwright,
)
from tests.support.server import Server

ColorScheme = Literal["light", "dark"]

BROWSER_NAMES = (
    "chromium-headless-shell",  # uses half the CPU time of the others
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TIMEOUT_MS = 60_000
"""Long, because test machines may be busy; correct pages do not need it."""
DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=375, height=812)
PAGES = {
    "/": "Home",
    "/forge": "Forge",
    "/bots": "Bots",
    "/skills": "Skills",
    "/workflows": "Workflows",
    "/runs": "Runs",
    "/workspaces": "Workspaces",
    "/audits": "Audits",
    "/settings": "Account",
    "/settings/models": "Roles",
    "/settings/github": "Connect to GitHub",
    "/settings/team": "Members",
    "/settings/keys": "API keys",
    "/settings/secrets": "Secrets",
    "/settings/registries": "Registries",
    "/settings/memory": "Forge\u2019s memory",
    "/settings/about": "Server",
    "/no/such/page": "Not found",
}
"""Every page with the heading of its content."""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Open the installed Chromium if there is one, otherwise the one from Playwright."""
    executable = next((path for name in BROWSER_NAMES if (path := shutil.which(name))), None)
    expect.set_options(timeout=TIMEOUT_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """A browser for the whole package: while it is open, Playwright's event loop runs in this thread."""
    with open_browser() as browser_instance:
        yield browser_instance


@dataclass(frozen=True)
class Visitor:
    """A browser page with the server it shows."""

    page: Page
    server: Server

    def sign_in(self) -> None:
        self.page.goto(new_link(self.server))
        self.page.wait_for_url(f"{self.server.url}/")

    def open(self, path: str) -> None:
        self.page.goto(self.server.url + path)

    def open_and_wait(self, path: str) -> None:
        """Open one of PAGES and wait until it is complete."""
        self.open(path)
        main = self.page.get_by_role("main")
        expect(main.get_by_role("heading", name=PAGES[path], exact=True)).to_be_visible()
        expect(self.page.get_by_role("status", name=re.compile("^Loading"))).to_have_count(0)
        expect(self.page.get_by_text("Live", exact=True)).to_be_attached()
        wait_until_idle(self.page)

    def press(self, keys: str) -> None:
        """Press keys once the page is idle: it binds its keys shortly after rendering."""
        wait_until_idle(self.page)
        self.page.keyboard.press(keys)


def wait_until_idle(page: Page) -> None:
    """Wait until the page has rendered, bound its keys and finished its animations."""
    page.evaluate(f"() => new Promise(done => {NEXT_IDLE})")
    page.evaluate(f"() => Promise.race([({ANIMATIONS_FINISHED})(), {ANIMATION_TIMEOUT}]).then(() => null)")


NEXT_IDLE = "requestAnimationFrame(() => requestIdleCallback(() => done(), { timeout: 5000 }))"
"""Requests a frame, because a page with nothing to render may never become idle."""
ANIMATION_TIMEOUT = "new Promise(done => setTimeout(done, 5000))"
"""Animations that take longer are ignored: a busy browser may not finish them."""
ANIMATIONS_FINISHED = """() => Promise.allSettled(document.getAnimations().filter(
    one => one.playState === "running" && one.effect.getComputedTiming().iterations !== Infinity
).map(one => one.finished))"""


class WebSocketMonitor:
    """Watch the WebSocket of a page."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._sockets: list[WebSocket] = []
        self._is_subscribed = False
        page.on("websocket", self._on_socket)

    def wait_for_subscription(self) -> None:
        """Wait until the page receives events from the server."""
        if not self._sockets:
            self._page.wait_for_event("websocket", timeout=TIMEOUT_MS)
        while not self._is_subscribed:
            self._sockets[-1].wait_for_event("framereceived", timeout=TIMEOUT_MS)

    def _on_socket(self, socket: WebSocket) -> None:
        self._sockets.append(socket)
        socket.on("framereceived", self._on_frame)

    def _on_frame(self, frame: str | bytes) -> None:
        self._is_subscribed = self._is_subscribed or '"subscribed"' in str(frame)


def new_link(server: Server) -> str:
    return server.call("POST", "/api/v1/login-links")["url"]


@pytest.fixture(scope="module")
def session(browser: Browser, server: Server) -> StorageState:
    """The cookies of a signed-in session, shared by a test file because logins are rate-limited."""
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    Visitor(context.new_page(), server).sign_in()
    cookies = context.storage_state()
    context.close()
    return cookies


@pytest.fixture
def visit(browser: Browser, server: Server, session: StorageState) -> Iterator[Callable[..., Visitor]]:
    """Open Home in a new browser context: `visit(viewport=PHONE)`, `visit(is_signed_in=False)`."""
    errors: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(
        *, viewport: ViewportSize = DESKTOP, scheme: ColorScheme = "light", is_signed_in: bool = True
    ) -> Visitor:
        cookies = session if is_signed_in else None
        context = browser.new_context(viewport=viewport, color_scheme=scheme, storage_state=cookies)
        context.set_default_timeout(TIMEOUT_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda message: errors.extend(violations(message)))
        visitor = Visitor(page, server)
        if is_signed_in:
            monitor = WebSocketMonitor(page)
            visitor.open_and_wait("/")
            monitor.wait_for_subscription()
        return visitor

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []


def violations(message: ConsoleMessage) -> list[str]:
    return [message.text] if "Content Security Policy" in message.text else []
