"""A real Chromium, signed in to a real server. A page that throws or breaks its security policy fails its test."""

import shutil
from collections.abc import Callable, Iterator
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
    expect,
    sync_playwright,
)
from tests.support.server import Server

ColorScheme = Literal["light", "dark"]

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
PATIENCE_MS = 20_000
"""Machines that run tests are busy; a page that is right is right at once all the same."""
DESKTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=375, height=812)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The machine's own Chromium if it has one, else the one Playwright brought.

    Ended with the last browser test: while it lives, Playwright's own event loop runs in this thread.
    """
    found = next((path for name in PROGRAMS if (path := shutil.which(name))), None)
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=OPTIONS)
        yield browser
        browser.close()


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


def new_link(server: Server) -> str:
    return server.call("POST", "/api/v1/login-links")["url"]


@pytest.fixture(scope="module")
def session(browser: Browser, server: Server) -> StorageState:
    """The cookies of one signed-in session, shared by a file: signing in is limited to a few times a minute."""
    context = browser.new_context()
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
            visitor.open("/")
            expect(page.get_by_text("Live", exact=True)).to_be_attached()
        return visitor

    yield open_page
    for context in contexts:
        context.close()
    assert defects == []


def violations(message: ConsoleMessage) -> list[str]:
    return [message.text] if "Content Security Policy" in message.text else []
