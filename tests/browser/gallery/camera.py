"""Goes to a scene, and looks at it in every way there is: light and dark, wide and narrow."""

import json
import re
from collections.abc import Iterator
from typing import Literal

from playwright.sync_api import Page, Route, ViewportSize, expect
from tests.browser.conftest import ColorScheme, at_rest
from tests.browser.gallery.scene import Scene

State = Literal["full", "empty", "loading", "error"]

WIDE = ViewportSize(width=1440, height=900)
NARROW = ViewportSize(width=375, height=812)
LOOKS: dict[str, tuple[ColorScheme, ViewportSize]] = {
    "light-1440": ("light", WIDE),
    "light-375": ("light", NARROW),
    "dark-1440": ("dark", WIDE),
    "dark-375": ("dark", NARROW),
}
SETTLED_MS = 700
"""A page that waits says so after 200 ms."""
DOWN = {"code": "unavailable", "message": "The database is away.", "hint": "It is asked again in a moment."}


def enter(page: Page, url: str, scene: Scene, made: dict[str, str], state: State) -> None:
    """Open the scene's page and wait for what it shows in that state."""
    page.unroute_all(behavior="ignoreErrors")
    page.goto("about:blank")
    if state == "loading":
        page.route(_is_slow, lambda _: None)
    if state == "error":
        page.route(_is_slow, _refuse)
    page.goto(url + scene.path.format(**made))
    if state == "error":
        # Also of a page behind a dialog; and one that asks for nothing but what it is named after is simply there.
        told = page.get_by_role("alert", include_hidden=True)
        told.or_(page.get_by_text(scene.sign)).first.wait_for(state="attached")
        page.wait_for_timeout(SETTLED_MS)
    if state == "loading":
        page.get_by_role("main").wait_for()
        page.wait_for_timeout(SETTLED_MS)
    if state in ("loading", "error"):
        return
    if state == "full":
        expect(page.get_by_text(scene.sign).first).to_be_attached()
    expect(page.get_by_role("status", name=re.compile("^Loading"))).to_have_count(0)
    at_rest(page)
    if scene.act:
        scene.act(page)
    at_rest(page)


def _is_slow(url: str) -> bool:
    """Everything but who is there and what the page is named after: without those there is no page at all."""
    return ("/api/" in url or "/audit/" in url) and not NAMED.search(url)


NAMED = re.compile(r"/me$|/(bots|skills|workflows|workflow-runs|runs|workspaces|builder/sessions)/[^/?]+$")


def _refuse(route: Route) -> None:
    body = {"data": None, "errors": [DOWN], "meta": {"request_id": "0198c0de"}, "_links": {}}
    route.fulfill(status=503, content_type="application/json", body=json.dumps(body))


def looks(page: Page) -> Iterator[str]:
    """The names of the looks, one after the other, with the page looking so."""
    for name, look in LOOKS.items():
        look_as(page, *look)
        yield name


def look_as(page: Page, scheme: ColorScheme, viewport: ViewportSize) -> None:
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=scheme)
    at_rest(page)


def overflow(page: Page) -> list[str]:
    """What makes the page scroll sideways, if it does."""
    return page.evaluate(TOO_WIDE)


TOO_WIDE = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("main *")]
    .filter(one => one.getBoundingClientRect().right > width + 1)
    .slice(0, 3).map(one => `too wide: ${one.outerHTML.slice(0, 120)}`);
}"""
