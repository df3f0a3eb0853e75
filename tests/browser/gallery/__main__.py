"""`python -m tests.browser.gallery FOLDER [NAME...]`: take screenshots of all scenes, or of those with these prefixes.

A file is named after its scene, state and look: `run-gate.full.dark-375.png`.
"""

import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page
from tests.browser.conftest import Visitor, open_browser
from tests.browser.gallery.areas import SCENES
from tests.browser.gallery.gallery_server import open_gallery_server, open_server
from tests.browser.gallery.scene import Scene
from tests.browser.gallery.views import State, each_look, open_scene, overflow
from tests.support.server import Server


def main(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def is_selected(scene: Scene, state: State) -> bool:
        return not names or f"{scene.name}.{state}".startswith(tuple(names))

    with ExitStack() as stack:
        data_folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gallery = stack.enter_context(open_gallery_server(data_folder / "full"))
        empty_server = stack.enter_context(open_server(data_folder / "empty"))
        browser = stack.enter_context(open_browser())
        page = _sign_in(browser, gallery.server)
        for scene in SCENES:
            for state in filter(partial(is_selected, scene), _states(scene)):
                open_scene(page, gallery.server.url, scene, gallery.ids, state)
                _save_screenshots(page, folder, scene, state)
        page = _sign_in(browser, empty_server)
        for scene in SCENES:
            if not scene.needs_data and is_selected(scene, "empty"):
                open_scene(page, empty_server.url, scene, {}, "empty")
                _save_screenshots(page, folder, scene, "empty")


def _states(scene: Scene) -> tuple[State, ...]:
    return ("full", "loading", "error") if scene.loads_data and not scene.interaction else ("full",)


def _sign_in(browser: Browser, server: Server) -> Page:
    page = browser.new_context().new_page()
    page.on("pageerror", lambda error: print("JavaScript error:", error))
    Visitor(page, server).sign_in()
    return page


def _save_screenshots(page: Page, folder: Path, scene: Scene, state: State) -> None:
    for look in each_look(page):
        page.screenshot(path=folder / f"{scene.name}.{state}.{look}.png")
        for problem in overflow(page):
            print(f"{scene.name}.{state}.{look}: {problem}", flush=True)
    print(f"{scene.name}.{state}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
