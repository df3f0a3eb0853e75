"""Workflows: listed, drawn, run, approved."""

import re
from collections.abc import Callable

from playwright.sync_api import Page
from tests.browser.gallery.scene import Area, House, Scene
from tests.browser.gallery.telling import LINES, tell_of_run
from tests.browser.gallery.words import ARABIC, LONG, UNBROKEN
from tests.browser.test_picture import DIGEST
from tests.support.server import wait_until

from forge.workflows.models import LogLine, WorkflowStepLogged

ODD = f"""\
name: {"x" * 40}-{"y" * 20}
description: "{ARABIC} {UNBROKEN} {LONG}"
inputs:
  topic: {{type: string, required: true, description: "{LONG}"}}
  tone: {{type: string, enum: [plain, grand], default: plain}}
  options: {{type: object, default: {{a: 1}}}}
steps:
  - {{id: a, name: "{ARABIC}", type: wait, config: {{seconds: 0}}}}
  - {{id: b, name: "{UNBROKEN}", type: wait, depends_on: [a], config: {{seconds: 0}}}}
  - {{id: c, name: "{LONG}", type: wait, depends_on: [b], config: {{seconds: 0}}}}
"""
REFUSED = """\
name: refused
steps:
  - {id: ask, name: Ask a server, type: http, on_error: {goto: rescue}, config: {url: "http://127.0.0.1:9/news"}}
  - {id: use, name: Use it, type: wait, depends_on: [ask], config: {seconds: 0}}
  - {id: rescue, name: Say that it is away, type: wait, config: {seconds: 0}}
  - {id: post, name: Post the news, type: http, depends_on: [rescue], config: {url: "http://127.0.0.1:9/"}}
"""
WORKFLOWS = "/api/v1/workflows"


def furnish(house: House) -> None:
    for number in range(12):
        source = f"name: chore-{number}\nsteps:\n  - {{id: a, type: wait, config: {{seconds: 0}}}}\n"
        house.call("POST", WORKFLOWS, {"source": source})
    for source in (DIGEST, ODD, REFUSED):
        house.call("POST", WORKFLOWS, {"source": source})
    later = DIGEST.replace("Collects what happened", "Collects all that happened")
    house.call("PUT", f"{WORKFLOWS}/weekly-letter", {"source": later, "expected_number": 1})
    made = house.made
    made["workflow_run"] = _start(house, "weekly-letter")
    path = f"/api/v1/runs/{made['workflow_run']}"
    wait_until(lambda: house.call("GET", path)["gates"], what="the question")
    made["refused_run"] = _start(house, "refused")
    made["told_run"] = _start(house, "chore-1")
    for run in ("refused_run", "told_run"):
        house.wait_for_end(made[run])
    lines = [LogLine(text=f"line {number} of what it did") for number in range(LINES)]
    told = [WorkflowStepLogged(key="a", lines=lines[at : at + 100]) for at in range(0, LINES, 100)]
    tell_of_run(house, made["told_run"], told)


def _start(house: House, name: str) -> str:
    return house.call("POST", f"{WORKFLOWS}/{name}/trigger", {})["run_id"]


def _look_at(what: str) -> Callable[[Page], None]:
    """One of the choices that lie side by side."""
    return lambda page: page.get_by_text(what, exact=True).first.click()


def _open_step(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("treeitem", name=re.compile(name)).first.click()


def _select_step(step: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f'.react-flow__node[data-id="{step}"]').click()


def _start_with(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Run")).first.click()
    page.get_by_role("dialog").wait_for()


FRAME = "/workflows/$ref"
EDITOR = f"{FRAME}/edit"
LETTER = "/workflows/weekly-letter"
RUN = "/workflows/runs/$runId"
WAITING = "/workflows/runs/{workflow_run}"
TOLD = "/workflows/runs/{told_run}"

AREA = Area(
    scenes=(
        Scene("workflows", "/workflows", "/workflows", "weekly-letter"),
        Scene("new-workflow", "/workflows/new", "/workflows/new", "Blank"),
        Scene("edit-workflow", EDITOR, f"{LETTER}/edit", "May it go out?"),
        Scene("edit-step", EDITOR, f"{LETTER}/edit", "May it go out?", _select_step("review")),
        Scene("edit-yaml", EDITOR, f"{LETTER}/edit", "May it go out?", _look_at("YAML")),
        Scene("workflow", FRAME, LETTER, "Triggers"),
        Scene("workflow-of-a-long-name", FRAME, f"/workflows/{'x' * 40}-{'y' * 20}", "Triggers"),
        Scene("workflow-start", FRAME, f"/workflows/{'x' * 40}-{'y' * 20}", "Triggers", _start_with),
        Scene("workflow-runs", f"{FRAME}/runs", f"{LETTER}/runs", "Started by"),
        Scene("workflow-versions", f"{FRAME}/versions", f"{LETTER}/versions", "Version 2"),
        Scene("workflow-run", RUN, WAITING, "Approve"),
        Scene("workflow-run-loop", RUN, WAITING, "Approve", _open_step("Each place")),
        Scene("workflow-run-timeline", RUN, WAITING, "Approve", _look_at("Timeline")),
        Scene("workflow-run-refused", RUN, "/workflows/runs/{refused_run}", "Post the news"),
        Scene("workflow-run-log", RUN, TOLD, "Run details", _look_at("Log")),
    ),
    furnish=furnish,
)
