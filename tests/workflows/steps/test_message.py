"""Steps that write to a bot or a channel. On both databases."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.messages.office import SCENES, Office, open_office
from tests.support.chats import data
from tests.support.live import Live
from tests.support.models import StartModels
from tests.workflows.steps.attempts import Attempt

from forge.workflows.definition.models import MessageConfig
from forge.workflows.engine.hands import Done, StepError
from forge.workflows.steps.message import MessageHand


@pytest.fixture
async def office(live_forge: Live, model_server: StartModels) -> AsyncIterator[Office]:
    models = model_server({"scenes": SCENES})
    async with live_forge.client() as client:
        yield await open_office(live_forge, client, models, "Ada")


async def attempt(office: Office, **config: Any) -> Attempt:
    run = data(await office.client.post("/api/v1/runs", json={"kind": "self_test", "input": {}}))
    given = {"type": "message", "body": "When does the tide turn?", **config}
    return Attempt(office.live.forge.store, office.live.account_id, run["id"], given)


async def do(office: Office, step: Attempt) -> Done:
    return await MessageHand(office.live.forge.messages).do(step, MessageConfig.model_validate(step.config))


async def test_a_workflow_writes_to_a_bot_and_has_its_reply(office: Office):
    step = await attempt(office, to="ada", wait=True)
    done = await do(office, step)
    output: Any = done.output
    assert (output["type"], output["reply"]) == ("message", "It turns at six.") and done.cost_micros > 0
    again = await do(office, step)
    assert again.output == output, "after a crash it is found, not sent again"
    message = await office.message(output["message_id"])
    assert message["sender"] == {
        "type": "workflow",
        "name": "digest",
        "workflow_id": step.workflow_id,
        "run_id": step.run_id,
        "step": "gather",
    }
    (delivery,) = message["deliveries"]
    run = data(await office.client.get(f"/api/v1/runs/{delivery['run_id']}"))["run"]
    assert run["parent_id"] == step.run_id and delivery["run_id"] in step.linked
    assert len(office.asked()) == 1
    with pytest.raises(StepError) as quiet:
        await do(office, await attempt(office, to="ada", wait=True, message_type="information"))
    assert quiet.value.problem.code == "no_reply"


async def test_a_message_that_cannot_be_sent_or_answered_fails_its_step(office: Office):
    async def code(**config: Any) -> str:
        with pytest.raises(StepError) as caught:
            await do(office, await attempt(office, **config))
        return caught.value.problem.code

    assert await code(to="nobody") == "unknown_bot"
    assert await code(to="ada", body="") == "bad_message"
    assert await code(to="ada", body="half \ud83d") == "bad_message"
    assert await code(channel="No Such Name!") == "bad_message"
    data(await office.client.patch("/api/v1/bots/ada", json={"status": "disabled"}))
    assert await code(to="ada", wait=True) == "bot_blocked"
    sent = await do(office, await attempt(office, to="ada"))
    output: Any = sent.output
    delivered = await office.delivered(output["message_id"])
    assert delivered["deliveries"][0]["status"] == "failed", "who does not wait does not fail"
