"""Every page there is, with something on it: for everybody, in both themes, and no wider than a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.conftest import PATIENCE_MS, Visitor
from tests.browser.gallery.areas import SCENES
from tests.browser.gallery.camera import LOOKS, enter, look_as, overflow
from tests.browser.gallery.house import open_house
from tests.browser.gallery.scene import House, Scene
from tests.browser.test_accessibility import problems

pytestmark = pytest.mark.browser

SEEN = ("light-1440", "dark-375")
"""Both themes and both widths: what is wrong with one of them is seen in one of these."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with open_house(tmp_path_factory.mktemp("house")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(browser: Browser, house: House) -> Iterator[Page]:
    context = browser.new_context()
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    Visitor(page, house.server).sign_in()
    yield page
    context.close()


def test_every_page_has_a_scene(page: Page):
    routes = page.evaluate("Object.keys(__TSR_ROUTER__.routesByPath)")
    assert {scene.route for scene in SCENES} == set(routes)


@pytest.mark.sample(20)
@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_scene(page: Page, house: House, scene: Scene):
    enter(page, house.server.url, scene, house.made, "full")
    for name in SEEN:
        look_as(page, *LOOKS[name])
        assert [*overflow(page), *problems(page)] == [], name
