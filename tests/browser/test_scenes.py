"""Every page with data: accessible, in both themes, and without horizontal scrolling on a phone."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.conftest import TIMEOUT_MS, Visitor
from tests.browser.gallery.areas import SCENES
from tests.browser.gallery.gallery_server import open_gallery_server
from tests.browser.gallery.scene import GalleryServer, Scene
from tests.browser.gallery.views import LOOKS, apply_look, open_scene, overflow
from tests.browser.test_accessibility import problems

pytestmark = pytest.mark.browser

CHECKED_LOOKS = ("light-1440", "dark-375")
"""Two looks that cover both themes and both widths."""


@pytest.fixture(scope="module")
def gallery(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GalleryServer]:
    with open_gallery_server(tmp_path_factory.mktemp("gallery")) as gallery_server:
        yield gallery_server


@pytest.fixture(scope="module")
def page(browser: Browser, gallery: GalleryServer) -> Iterator[Page]:
    context = browser.new_context()
    context.set_default_timeout(TIMEOUT_MS)
    page = context.new_page()
    Visitor(page, gallery.server).sign_in()
    yield page
    context.close()


def test_every_page_has_a_scene(page: Page):
    routes = page.evaluate("Object.keys(__TSR_ROUTER__.routesByPath)")
    assert {scene.route for scene in SCENES} == set(routes)


@pytest.mark.sample(20)
@pytest.mark.parametrize("scene", SCENES, ids=[scene.name for scene in SCENES])
def test_scene_is_accessible_and_fits_the_viewport(page: Page, gallery: GalleryServer, scene: Scene):
    open_scene(page, gallery.server.url, scene, gallery.ids, "full")
    for name in CHECKED_LOOKS:
        apply_look(page, *LOOKS[name])
        assert [*overflow(page), *problems(page)] == [], name
