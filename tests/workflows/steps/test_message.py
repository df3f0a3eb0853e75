"""Message steps, on both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.messages.messaging import SCENES, Messaging, open_messaging
from tests.support.chat_client import data
from tests.support.live_forge import Live
from tests.support.models import StartModels
from tests.workflows.steps.step_calls import RecordedCall, call_of

from forge.kernel.ids import new_id
from forge.workflows.engine.step_executor import RunInfo, StepError, StepResult
from forge.workflows.steps.message import MessageStepExecutor


@pytest.fixture
async def messaging(live_forge: Live, model_server: StartModels) -> AsyncIterator[Messaging]:
    models = model_server({"scenes": SCENES})
    async with live_forge.client() as client:
        yield await open_messaging(live_forge, client, models, "Ada")


async def attempt(messaging: Messaging, **config: Any) -> RecordedCall:
    run = data(await messaging.client.post("/api/v1/runs", json={"kind": "self_test", "input": {}}))
    live = messaging.live
    info = RunInfo(run["id"], live.account_id, new_id(), "digest", depth=0)
    values = {"body": "When does the tide turn?", **config}
    return call_of("message", step_id="gather", run=info, database=live.forge.store, **values)


async def execute(messaging: Messaging, step: RecordedCall) -> StepResult:
    return await MessageStepExecutor(messaging.live.forge.messages).execute(step, step.config())


async def test_message_step_returns_reply(messaging: Messaging):
    step = await attempt(messaging, to="ada", wait=True)
    done = await execute(messaging, step)
    output: Any = done.output
    assert (output["type"], output["reply"]) == ("message", "It turns at six.") and done.cost_micros > 0
    again = await execute(messaging, step)
    assert again.output == output, "a repeated step finds its message instead of sending another"
    message = await messaging.message(output["message_id"])
    assert message["sender"] == {
        "type": "workflow",
        "name": "digest",
        "workflow_id": step.workflow_id,
        "run_id": step.run_id,
        "step": "gather",
    }
    (delivery,) = message["deliveries"]
    run = data(await messaging.client.get(f"/api/v1/runs/{delivery['run_id']}"))["run"]
    assert run["parent_id"] == step.run_id and delivery["run_id"] in step.linked
    assert len(messaging.bot_requests()) == 1
    with pytest.raises(StepError) as raised:
        await execute(messaging, await attempt(messaging, to="ada", wait=True, message_type="information"))
    assert raised.value.problem.code == "no_reply"


async def test_failed_message_fails_step(messaging: Messaging):
    async def code(**config: Any) -> str:
        with pytest.raises(StepError) as caught:
            await execute(messaging, await attempt(messaging, **config))
        return caught.value.problem.code

    assert await code(to="unknown") == "unknown_bot"
    assert await code(to="ada", body="") == "bad_message"
    assert await code(to="ada", body="half \ud83d") == "bad_message"
    assert await code(channel="No Such Name!") == "bad_message"
    data(await messaging.client.patch("/api/v1/bots/ada", json={"status": "disabled"}))
    assert await code(to="ada", wait=True) == "bot_blocked"
    sent = await execute(messaging, await attempt(messaging, to="ada"))
    output: Any = sent.output
    delivered = await messaging.wait_for_delivery(output["message_id"])
    assert delivered["deliveries"][0]["status"] == "failed", "a step that does not wait does not fail"
