"""Scenes of skills: library, editor, runs and tests."""

import re

from playwright.sync_api import Page
from tests.browser.gallery.sample_texts import ARABIC, UNBROKEN
from tests.browser.gallery.scene import Area, GalleryServer, Scene
from tests.skills.greeter import greeter_files

SOURCE = 'function run(input) { console.log("greeting"); return { text: "Hello " + input.name }; }\n'


def create_data(gallery: GalleryServer) -> None:
    gallery.call("POST", "/api/v1/skills", {"name": "greeter", "files": greeter_files("greeter", SOURCE)})
    for number in range(12):
        _create(gallery, f"skill-{number}", "Does one thing.")
    _create(gallery, "w" * 60, f"{ARABIC} {UNBROKEN}")
    for skill_input in ({"name": "Ada"}, {}):
        gallery.call("POST", "/api/v1/skills/greeter/run", {"input": skill_input})


def _create(gallery: GalleryServer, name: str, description: str) -> None:
    text = f"---\nname: {name}\ndescription: {description}\n---\n{UNBROKEN}\n"
    gallery.call("POST", "/api/v1/skills", {"name": name, "files": {"SKILL.md": text}})


RUN = re.compile("^Run")


def _run(page: Page) -> None:
    page.get_by_role("button", name=RUN).click()
    drawer = page.get_by_role("dialog")
    drawer.get_by_role("textbox", name="Input").fill('{"name": "Ada"}')
    drawer.get_by_role("button", name=RUN).click()
    drawer.get_by_role("region", name="Result").wait_for()


def _try_skill(page: Page) -> None:
    opener = page.get_by_role("button", name="Try it")
    if opener.get_attribute("aria-expanded") == "false":
        opener.click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("region", name="Result").wait_for()


def _run_tests(page: Page) -> None:
    page.get_by_role("button", name="Run tests").click()
    page.get_by_text("greets Ada").wait_for()


def _expand(page: Page) -> None:
    page.get_by_role("button", name="Details of run").first.click()


FRAME = "/skills/$name"

AREA = Area(
    scenes=(
        Scene("skills", "/skills", "/skills", "greeter"),
        Scene("install-skill", "/skills", "/skills?install=true", "Drop a zip"),
        Scene("new-skill", "/skills/_new", "/skills/_new", "Continue"),
        Scene("edit-skill", f"{FRAME}/edit", "/skills/greeter/edit", "SKILL.md"),
        Scene("edit-skill-result", f"{FRAME}/edit", "/skills/greeter/edit", "SKILL.md", _try_skill),
        Scene("skill", FRAME, "/skills/greeter", "Greets people"),
        Scene("skill-source", f"{FRAME}/source", "/skills/greeter/source", "SKILL.md"),
        Scene("skill-permissions", f"{FRAME}/permissions", "/skills/greeter/permissions", "api.example.com"),
        Scene("skill-of-a-long-name", FRAME, f"/skills/{'w' * 60}", "Description"),
        Scene("skill-run", FRAME, "/skills/greeter", "Greets people", _run),
        Scene("skill-runs", f"{FRAME}/runs", "/skills/greeter/runs", "Result"),
        Scene("skill-runs-expanded", f"{FRAME}/runs", "/skills/greeter/runs", "Result", _expand),
        Scene("skill-tests", f"{FRAME}/tests", "/skills/greeter/tests", "greets.json"),
        Scene("skill-test-results", f"{FRAME}/tests", "/skills/greeter/tests", "greets.json", _run_tests),
    ),
    create_data=create_data,
)
