"""A real Chromium, signed in to a real server. A page that throws or breaks its security policy fails its test."""

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

PROGRAMS = (
    "chromium-headless-shell",  # half the processor time of the others
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
PATIENCE_MS = 60_000
"""Machines that run tests are busy; a page that is right is right at once all the same."""
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
    "/settings/keys": "API keys",
    "/settings/secrets": "Secrets",
    "/settings/registries": "Registries",
    "/settings/memory": "Forge\u2019s memory",
    "/settings/about": "Server",
    "/no/such/page": "Not found",
}
"""Every page, and the heading that comes with its content."""


@contextmanager
def open_browser() -> Iterator[Browser]:
    """The machine's own Chromium if it has one, else the one Playwright brought."""
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=OPTIONS)
        yield browser
        browser.close()


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Ended with the last browser test: while it lives, Playwright's own event loop runs in this thread."""
    with open_browser() as opened:
        yield opened


@dataclass(frozen=True)
class Visitor:
    """Somebody at a browser, for one server."""

    page: Page
    server: Server

    def sign_in(self) -> None:
        self.page.goto(new_link(self.server))
        self.page.wait_for_url(f"{self.server.url}/")

    def open(self, path: str) -> None:
        self.page.goto(self.server.url + path)

    def open_all_of(self, path: str) -> None:
        """Open one of PAGES and wait until nothing of it is missing."""
        self.open(path)
        main = self.page.get_by_role("main")
        expect(main.get_by_role("heading", name=PAGES[path], exact=True)).to_be_visible()
        expect(self.page.get_by_role("status", name=re.compile("^Loading"))).to_have_count(0)
        expect(self.page.get_by_text("Live", exact=True)).to_be_attached()
        at_rest(self.page)

    def press(self, keys: str) -> None:
        """Type, once the page is at rest: it binds its keys a moment after it is drawn."""
        at_rest(self.page)
        self.page.keyboard.press(keys)


def at_rest(page: Page) -> None:
    """The page has done all it had to do: drawn what it knows, bound its keys, ended what moves."""
    page.evaluate(f"() => new Promise(done => {IDLE})")
    page.evaluate(f"() => Promise.race([({MOVING})(), {LATEST}]).then(() => null)")


IDLE = "requestAnimationFrame(() => requestIdleCallback(() => done(), { timeout: 5000 }))"
"""In a new frame: without one, a page that has nothing to draw may never count as idle."""
LATEST = "new Promise(done => setTimeout(done, 5000))"
"""What moves for longer is not on its way to rest: a browser that is too busy to draw may leave it as it is."""
MOVING = """() => Promise.allSettled(document.getAnimations().filter(
    one => one.playState === "running" && one.effect.getComputedTiming().iterations !== Infinity
).map(one => one.finished))"""


class Ear:
    """Hears what the server says on the page's WebSocket."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._lines: list[WebSocket] = []
        self._is_subscribed = False
        page.on("websocket", self._follow)

    def wait_for_subscription(self) -> None:
        """From here on, whatever happens on the server is told to the page."""
        if not self._lines:
            self._page.wait_for_event("websocket", timeout=PATIENCE_MS)
        while not self._is_subscribed:
            self._lines[-1].wait_for_event("framereceived", timeout=PATIENCE_MS)

    def _follow(self, line: WebSocket) -> None:
        self._lines.append(line)
        line.on("framereceived", self._hear)

    def _hear(self, frame: str | bytes) -> None:
        self._is_subscribed = self._is_subscribed or '"subscribed"' in str(frame)


def new_link(server: Server) -> str:
    return server.call("POST", "/api/v1/login-links")["url"]


@pytest.fixture(scope="module")
def session(browser: Browser, server: Server) -> StorageState:
    """The cookies of one signed-in session, shared by a file: signing in is limited to a few times a minute."""
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    Visitor(context.new_page(), server).sign_in()
    cookies = context.storage_state()
    context.close()
    return cookies


@pytest.fixture
def visit(browser: Browser, server: Server, session: StorageState) -> Iterator[Callable[..., Visitor]]:
    """Opens Home, each time in a browser of its own: `visit(viewport=PHONE)`, `visit(is_signed_in=False)`."""
    defects: list[str] = []
    contexts: list[BrowserContext] = []

    def open_page(
        *, viewport: ViewportSize = DESKTOP, scheme: ColorScheme = "light", is_signed_in: bool = True
    ) -> Visitor:
        cookies = session if is_signed_in else None
        context = browser.new_context(viewport=viewport, color_scheme=scheme, storage_state=cookies)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: defects.append(str(error)))
        page.on("console", lambda message: defects.extend(violations(message)))
        visitor = Visitor(page, server)
        if is_signed_in:
            ear = Ear(page)
            visitor.open_all_of("/")
            ear.wait_for_subscription()
        return visitor

    yield open_page
    for context in contexts:
        context.close()
    assert defects == []


def violations(message: ConsoleMessage) -> list[str]:
    return [message.text] if "Content Security Policy" in message.text else []
