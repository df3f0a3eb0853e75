"""Text that cannot be stored is rejected or replaced."""

import pytest
from tests.support.live_forge import Live
from tests.workflows.workflow_client import WorkflowClient, code, step

pytestmark = pytest.mark.anyio


INVALID_REQUESTS = (
    ("GET", "/api/v1/workflows/%00"),
    ("GET", "/api/v1/workflows?owner=%00"),
    ("GET", "/api/v1/workflows/here/versions/99999999999999999999"),
    ("GET", "/api/v1/workflow-runs/none/steps?key=%00"),
    ("POST", "/api/v1/workflows/%00/trigger"),
    ("GET", "/api/v1/messages?channel=%00"),
    ("GET", "/api/v1/messages?conversation=%00"),
    ("GET", "/api/v1/messages?bot=%00"),
    ("POST", "/webhooks/%00"),
)


async def test_invalid_parameter_is_rejected(live_forge: Live):
    await WorkflowClient(live_forge).create("here", [step("a", "wait", seconds=0)])
    async with live_forge.client() as client:
        found = {path: (await client.request(method, path)).status_code for method, path in INVALID_REQUESTS}
    assert found == {path: 422 for _, path in INVALID_REQUESTS}


async def test_unstorable_characters_are_replaced(live_forge: Live):
    workflows = WorkflowClient(live_forge)
    steps = [
        code("thrown", "throw new Error('a\\u0000b' + String.fromCharCode(0xd800))", on_error="continue"),
        step("asked", "approval", "thrown", prompt="{{ trigger.text }}"),
    ]
    await workflows.create("odd", steps)
    run = await workflows.until(await workflows.trigger("odd", text="a\0b"), "waiting")
    assert [gate["body"] for gate in run["gates"]] == ["a\ufffdb"]
    found = await workflows.steps(run)
    assert "a\ufffdb\ufffd" in found["thrown"]["error"]["message"]
