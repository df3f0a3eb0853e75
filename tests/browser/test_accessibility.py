"""axe finds nothing on any page with nothing on it; `test_scenes` looks at them with something."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize
from tests.browser.conftest import DESKTOP, PAGES, PHONE, ColorScheme, Visitor, at_rest

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
LOOKS: list[tuple[ColorScheme, ViewportSize]] = [("light", DESKTOP), ("dark", PHONE)]

everywhere = pytest.mark.parametrize(
    ("scheme", "viewport"), LOOKS, ids=[f"{scheme}-{size['width']}" for scheme, size in LOOKS]
)


def problems(page: Page) -> list[str]:
    at_rest(page)
    page.evaluate(AXE.read_text())
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{one['impact']} {one['id']}: {one['nodes'][0]['html']}" for one in found]


@pytest.mark.sample(1)
@everywhere
def test_empty_pages(visit: Visit, scheme: ColorScheme, viewport: ViewportSize):
    visitor = visit(scheme=scheme, viewport=viewport)
    found: dict[str, list[str]] = {}
    for path in PAGES:
        visitor.open_all_of(path)
        found[path] = problems(visitor.page)
    assert found == {path: [] for path in PAGES}
