"""Scenes of workflows: list, editor, runs and approvals."""

import re
from collections.abc import Callable

from playwright.sync_api import Page
from tests.browser.gallery.bulk_events import LINES, append_run_events
from tests.browser.gallery.sample_texts import ARABIC, LONG, UNBROKEN
from tests.browser.gallery.scene import Area, GalleryServer, Scene
from tests.browser.test_screenshots import DIGEST
from tests.support.server import wait_until

from forge.workflows.models import LogLine, WorkflowStepLogged

LONG_NAMES = f"""\
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
FAILING = """\
name: failing
steps:
  - {id: ask, name: Ask a server, type: http, on_error: {goto: rescue}, config: {url: "http://127.0.0.1:9/news"}}
  - {id: use, name: Use the answer, type: wait, depends_on: [ask], config: {seconds: 0}}
  - {id: rescue, name: Handle the error, type: wait, config: {seconds: 0}}
  - {id: post, name: Post the news, type: http, depends_on: [rescue], config: {url: "http://127.0.0.1:9/"}}
"""
WORKFLOWS = "/api/v1/workflows"


def create_data(gallery: GalleryServer) -> None:
    for number in range(12):
        source = f"name: task-{number}\nsteps:\n  - {{id: a, type: wait, config: {{seconds: 0}}}}\n"
        gallery.call("POST", WORKFLOWS, {"source": source})
    for source in (DIGEST, LONG_NAMES, FAILING):
        gallery.call("POST", WORKFLOWS, {"source": source})
    updated = DIGEST.replace("Collects what happened", "Collects everything that happened")
    gallery.call("PUT", f"{WORKFLOWS}/weekly-letter", {"source": updated, "expected_number": 1})
    ids = gallery.ids
    ids["workflow_run"] = _start(gallery, "weekly-letter")
    path = f"/api/v1/runs/{ids['workflow_run']}"
    wait_until(lambda: gallery.call("GET", path)["gates"], what="the gate")
    ids["failed_run"] = _start(gallery, "failing")
    ids["log_run"] = _start(gallery, "task-1")
    for run in ("failed_run", "log_run"):
        gallery.wait_for_end(ids[run])
    lines = [LogLine(text=f"line {number} of the log") for number in range(LINES)]
    events = [WorkflowStepLogged(key="a", lines=lines[start : start + 100]) for start in range(0, LINES, 100)]
    append_run_events(gallery, ids["log_run"], events)


def _start(gallery: GalleryServer, name: str) -> str:
    return gallery.call("POST", f"{WORKFLOWS}/{name}/trigger", {})["run_id"]


def _select_view(name: str) -> Callable[[Page], None]:
    """Return an interaction that selects a tab."""
    return lambda page: page.get_by_text(name, exact=True).first.click()


def _open_step(name: str) -> Callable[[Page], None]:
    return lambda page: page.get_by_role("treeitem", name=re.compile(name)).first.click()


def _select_step(step: str) -> Callable[[Page], None]:
    return lambda page: page.locator(f'.react-flow__node[data-id="{step}"]').click()


def _open_start_dialog(page: Page) -> None:
    page.get_by_role("button", name=re.compile("^Run")).first.click()
    page.get_by_role("dialog").wait_for()


FRAME = "/workflows/$ref"
EDITOR = f"{FRAME}/edit"
LETTER = "/workflows/weekly-letter"
RUN = "/workflows/runs/$runId"
WAITING = "/workflows/runs/{workflow_run}"
LOG_RUN = "/workflows/runs/{log_run}"

AREA = Area(
    scenes=(
        Scene("workflows", "/workflows", "/workflows", "weekly-letter"),
        Scene("new-workflow", "/workflows/new", "/workflows/new", "Blank"),
        Scene("edit-workflow", EDITOR, f"{LETTER}/edit", "May it go out?"),
        Scene("edit-step", EDITOR, f"{LETTER}/edit", "May it go out?", _select_step("review")),
        Scene("edit-yaml", EDITOR, f"{LETTER}/edit", "May it go out?", _select_view("YAML")),
        Scene("workflow", FRAME, LETTER, "Triggers"),
        Scene("workflow-of-a-long-name", FRAME, f"/workflows/{'x' * 40}-{'y' * 20}", "Triggers"),
        Scene("workflow-start", FRAME, f"/workflows/{'x' * 40}-{'y' * 20}", "Triggers", _open_start_dialog),
        Scene("workflow-runs", f"{FRAME}/runs", f"{LETTER}/runs", "Started by"),
        Scene("workflow-versions", f"{FRAME}/versions", f"{LETTER}/versions", "Version 2"),
        Scene("workflow-run", RUN, WAITING, "Approve"),
        Scene("workflow-run-loop", RUN, WAITING, "Approve", _open_step("Each place")),
        Scene("workflow-run-timeline", RUN, WAITING, "Approve", _select_view("Timeline")),
        Scene("workflow-run-failed", RUN, "/workflows/runs/{failed_run}", "Post the news"),
        Scene("workflow-run-log", RUN, LOG_RUN, "Run details", _select_view("Log")),
    ),
    create_data=create_data,
)
