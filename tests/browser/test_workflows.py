"""Workflows in the browser: list, start form, approval and run page."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import expect
from tests.browser.conftest import Visitor
from tests.support.server import Server

pytestmark = pytest.mark.browser

Visit = Callable[..., Visitor]

DIGEST = """\
name: digest
description: Squares numbers, and asks for approval before it ends.
inputs:
  topic: {type: string, required: true}
triggers:
  - {type: webhook, path: /digest}
steps:
  - id: each
    name: Each number
    type: loop
    config: {items: [1, 2, 3], body_steps: [pause]}
  - {id: pause, type: wait, config: {seconds: 0}}
  - id: ask
    name: Ask a person
    type: approval
    depends_on: [each]
    config: {prompt: "Tell of **{{ inputs.topic }}**?"}
  - {id: tell, name: Tell, type: wait, depends_on: [ask], config: {seconds: 0}}
outputs:
  told: "{{ inputs.topic }}"
"""


@pytest.fixture(scope="module")
def digest(server: Server) -> str:
    return server.call("POST", "/api/v1/workflows", {"source": DIGEST})["id"]


def start(server: Server, topic: str) -> str:
    return server.call("POST", "/api/v1/workflows/digest/trigger", {"topic": topic})["run_id"]


@pytest.mark.usefixtures("digest")
def test_workflow_is_started_with_a_form_and_approved(visit: Visit):
    visitor = visit()
    page = visitor.page
    visitor.open("/workflows")
    page.get_by_role("button", name="Run digest").click()
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page.get_by_text("Required.")).to_be_visible()
    page.get_by_role("textbox", name=re.compile("topic")).fill("cats")
    page.get_by_role("button", name="Run", exact=True).click()
    expect(page).to_have_url(re.compile("/workflows/runs/"))
    expect(page.get_by_role("treeitem", name=re.compile("Iteration 3"))).to_be_visible()
    expect(page.get_by_text("Tell of cats?")).to_be_visible()
    visitor.press("a")
    expect(page.get_by_role("region", name="Output")).to_contain_text("cats")
    expect(page.get_by_role("button", name="Run again")).to_be_visible()


@pytest.mark.usefixtures("digest")
def test_run_page_redirects_to_the_workflow_run(visit: Visit):
    visitor = visit()
    run_id = start(visitor.server, "dogs")
    visitor.open(f"/runs/{run_id}")
    expect(visitor.page).to_have_url(re.compile(f"/workflows/runs/{run_id}$"))
    visitor.page.get_by_role("treeitem", name=re.compile("Each number")).click()
    expect(visitor.page.get_by_role("region", name="Step", exact=True)).to_contain_text("Each number")
