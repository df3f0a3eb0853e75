"""Open scenes in each state and look: light and dark, wide and narrow."""

import json
import re
from collections.abc import Iterator
from typing import Literal

from playwright.sync_api import Page, Route, ViewportSize, expect
from tests.browser.conftest import ColorScheme, wait_until_idle
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
LOADING_DELAY_MS = 700
"""Pages show a loading message after 200 ms."""
UNAVAILABLE = {"code": "unavailable", "message": "The database is unavailable.", "hint": "Retrying shortly."}


def open_scene(page: Page, url: str, scene: Scene, ids: dict[str, str], state: State) -> None:
    """Open the page of a scene and wait for the given state."""
    page.unroute_all(behavior="ignoreErrors")
    page.goto("about:blank")
    if state == "loading":
        page.route(_is_intercepted, lambda _: None)
    if state == "error":
        page.route(_is_intercepted, _respond_unavailable)
    page.goto(url + scene.path.format(**ids))
    if state == "error":
        # The alert may be behind a dialog; a page that makes only required requests has none.
        alert = page.get_by_role("alert", include_hidden=True)
        alert.or_(page.get_by_text(scene.marker)).first.wait_for(state="attached")
        page.wait_for_timeout(LOADING_DELAY_MS)
    if state == "loading":
        page.get_by_role("main").wait_for()
        page.wait_for_timeout(LOADING_DELAY_MS)
    if state in ("loading", "error"):
        return
    if state == "full":
        expect(page.get_by_text(scene.marker).first).to_be_attached()
    expect(page.get_by_role("status", name=re.compile("^Loading"))).to_have_count(0)
    wait_until_idle(page)
    if scene.interaction:
        scene.interaction(page)
    wait_until_idle(page)


def _is_intercepted(url: str) -> bool:
    """Return whether to intercept a request: all except those without which there is no page."""
    return ("/api/" in url or "/audit/" in url) and not REQUIRED_REQUESTS.search(url)


REQUIRED_REQUESTS = re.compile(
    r"/me$|/(bots|skills|workflows|workflow-runs|runs|workspaces|builder/sessions)/[^/?]+$"
)


def _respond_unavailable(route: Route) -> None:
    body = {"data": None, "errors": [UNAVAILABLE], "meta": {"request_id": "0198c0de"}, "_links": {}}
    route.fulfill(status=503, content_type="application/json", body=json.dumps(body))


def each_look(page: Page) -> Iterator[str]:
    """Apply each look to the page and yield its name."""
    for name, look in LOOKS.items():
        apply_look(page, *look)
        yield name


def apply_look(page: Page, scheme: ColorScheme, viewport: ViewportSize) -> None:
    page.set_viewport_size(viewport)
    page.emulate_media(color_scheme=scheme)
    wait_until_idle(page)


def overflow(page: Page) -> list[str]:
    """Return the elements that make the page scroll horizontally."""
    return page.evaluate(OVERFLOWING_ELEMENTS)


OVERFLOWING_ELEMENTS = """() => {
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= width) return [];
  return [...document.querySelectorAll("main *")]
    .filter(one => one.getBoundingClientRect().right > width + 1)
    .slice(0, 3).map(one => `too wide: ${one.outerHTML.slice(0, 120)}`);
}"""
