"""`python -m tests.browser.gallery FOLDER [NAME...]`: a picture of every page, or of those whose name begins so.

A picture is named after its scene, its state and its look: `run-gate.full.dark-375.png`.
"""

import sys
import tempfile
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from playwright.sync_api import Browser, Page
from tests.browser.conftest import Visitor, open_browser
from tests.browser.gallery.areas import SCENES
from tests.browser.gallery.camera import State, enter, looks, overflow
from tests.browser.gallery.house import open_house, open_server
from tests.browser.gallery.scene import Scene
from tests.support.server import Server


def main(folder: Path, names: list[str]) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def is_chosen(scene: Scene, state: State) -> bool:
        return not names or f"{scene.name}.{state}".startswith(tuple(names))

    with ExitStack() as stack:
        home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        house = stack.enter_context(open_house(home / "full"))
        nothing = stack.enter_context(open_server(home / "empty"))
        browser = stack.enter_context(open_browser())
        page = _sign_in(browser, house.server)
        for scene in SCENES:
            for state in filter(partial(is_chosen, scene), _states(scene)):
                enter(page, house.server.url, scene, house.made, state)
                _keep(page, folder, scene, state)
        page = _sign_in(browser, nothing)
        for scene in SCENES:
            if not scene.is_of_things and is_chosen(scene, "empty"):
                enter(page, nothing.url, scene, {}, "empty")
                _keep(page, folder, scene, "empty")


def _states(scene: Scene) -> tuple[State, ...]:
    return ("full", "loading", "error") if scene.asks and not scene.act else ("full",)


def _sign_in(browser: Browser, server: Server) -> Page:
    page = browser.new_context().new_page()
    page.on("pageerror", lambda error: print("thrown:", error))
    Visitor(page, server).sign_in()
    return page


def _keep(page: Page, folder: Path, scene: Scene, state: State) -> None:
    for look in looks(page):
        page.screenshot(path=folder / f"{scene.name}.{state}.{look}.png")
        for problem in overflow(page):
            print(f"{scene.name}.{state}.{look}: {problem}", flush=True)
    print(f"{scene.name}.{state}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
