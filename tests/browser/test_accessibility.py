"""axe finds no violations on empty pages; `test_scenes` checks pages with data."""

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, ViewportSize
from tests.browser.conftest import DESKTOP, PAGES, PHONE, ColorScheme, Visitor, wait_until_idle

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

AXE = Path(__file__).parents[2] / "web/node_modules/axe-core/axe.min.js"
LOOKS: list[tuple[ColorScheme, ViewportSize]] = [("light", DESKTOP), ("dark", PHONE)]

each_look = pytest.mark.parametrize(
    ("scheme", "viewport"), LOOKS, ids=[f"{scheme}-{size['width']}" for scheme, size in LOOKS]
)


def problems(page: Page) -> list[str]:
    wait_until_idle(page)
    page.evaluate(AXE.read_text())
    violations = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [
        f"{violation['impact']} {violation['id']}: {violation['nodes'][0]['html']}"
        for violation in violations
    ]


@pytest.mark.sample(1)
@each_look
def test_empty_pages_have_no_accessibility_violations(
    visit: Visit, scheme: ColorScheme, viewport: ViewportSize
):
    visitor = visit(scheme=scheme, viewport=viewport)
    violations: dict[str, list[str]] = {}
    for path in PAGES:
        visitor.open_and_wait(path)
        violations[path] = problems(visitor.page)
    assert violations == {path: [] for path in PAGES}
