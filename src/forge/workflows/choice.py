"""Which workflow, and which run of one, a person means at the command line."""

import re
from urllib.parse import quote

from forge.errors import NotFound
from forge.terminal.choice import SEARCHED, choose, is_id
from forge.terminal.client import Client
from forge.workflows.models import WorkflowCard, WorkflowDetail, WorkflowRun

_REF = re.compile(r"([^\W_]|-){1,64}")


def find_workflow(client: Client, given: str) -> WorkflowDetail:
    """By its name, its id or the beginning of its id."""
    if _REF.fullmatch(given):
        try:
            return client.get(workflow_path(given), WorkflowDetail)
        except NotFound:
            if is_id(given):
                raise
    found = client.get("/workflows", list[WorkflowCard])
    card = choose(given, "workflow", found, lambda one: one.id, listed_by="workflow list")
    return client.get(workflow_path(card.id), WorkflowDetail)


def find_workflow_run(client: Client, given: str) -> str:
    """The id of a run from its beginning, or the newest run of the workflow of that name."""
    if is_id(given):
        return given
    newest = _newest_of(client, given)
    if newest is not None:
        return newest
    runs = client.pages("/workflow-runs", WorkflowRun, SEARCHED)
    return choose(given, "run", runs, lambda run: run.id, listed_by="workflow runs").id


def workflow_path(ref: str) -> str:
    """Of the API."""
    return f"/workflows/{quote(ref, safe='')}"


def run_path(run_id: str) -> str:
    return f"/workflow-runs/{run_id}"


def _newest_of(client: Client, name: str) -> str | None:
    if not _REF.fullmatch(name):
        return None
    try:
        found = list(client.pages(f"{workflow_path(name)}/runs", WorkflowRun, 1))
    except NotFound:
        return None
    if not found:
        raise NotFound(f"{name} was not run yet.", hint=f"Start it: forge workflow trigger {name}")
    return found[0].id
