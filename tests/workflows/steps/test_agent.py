"""Steps that ask a bot, in a whole Forge whose models follow a script."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from tests.support.chats import PRICE, Talk, data, open_talk
from tests.support.live import Live
from tests.support.models import ModelServer, StartModels
from tests.workflows.steps.attempts import Attempt

from forge.errors import ForgeError
from forge.workflows.definition.models import AgentConfig
from forge.workflows.engine.hands import Done, StepError
from forge.workflows.steps.agent import AgentHand

COUNT = {"type": "object", "required": ["count"], "properties": {"count": {"type": "integer"}}}
SCENES = {
    "tea": {"match": {"latest": "tea"}, "turns": [{"text": "Green tea."}]},
    "counted": {"match": {"latest": "Count well"}, "turns": [{"text": 'So:\n```json\n{"count": 3}\n```'}]},
    "never": {"match": {"opening": "Count never"}, "turns": [{"text": "I would rather not."}]},
    "repaired": {"match": {"latest": "could not use your answer"}, "turns": [{"json": {"count": 4}}]},
    "miscounted": {"match": {"latest": "Count badly"}, "turns": [{"json": {"count": "three"}}]},
    "refused": {"match": {"latest": "forbidden"}, "turns": [{"fault": "refusal"}]},
    "slow": {"match": {"latest": "slowly"}, "turns": [{"text": "word " * 200, "delay_s": 0.05}]},
}


@dataclass(frozen=True)
class House:
    live: Live
    client: httpx2.AsyncClient
    models: ModelServer
    talk: Talk

    async def attempt(self, prompt: str, **more: Any) -> Attempt:
        """Of a step in a run that goes on."""
        run = data(await self.client.post("/api/v1/runs", json={"kind": "self_test", "input": {}}))
        config = {"type": "agent", "bot": "ada", "prompt": prompt, **more}
        return Attempt(self.live.forge.store, self.live.account_id, run["id"], config)

    async def do(self, attempt: Attempt) -> Done:
        bots = self.live.forge.bots
        hand = AgentHand(bots.bots, bots.asking, bots.answers)
        return await hand.do(attempt, AgentConfig.model_validate(attempt.config))

    async def fails(self, attempt: Attempt) -> StepError:
        with pytest.raises(StepError) as caught:
            await self.do(attempt)
        return caught.value


@pytest.fixture
async def house(live_forge: Live, model_server: StartModels) -> AsyncIterator[House]:
    models = model_server({"scenes": SCENES})
    async with live_forge.client() as client:
        yield House(live_forge, client, models, await open_talk(client, models))


async def test_a_bot_answers_in_a_conversation_that_says_who_asked(house: House):
    price = PRICE | {"input": 1}
    model = "scripted:other"
    data(await house.client.put("/api/v1/models/prices", params={"model": model}, json=price))
    attempt = await house.attempt("Which tea?", model=model)
    done = await house.do(attempt)
    output: Any = done.output
    assert (output["type"], output["bot"], output["response"]) == ("agent", "ada", "Green tea.")
    assert output["model"] == model and output["usage"]["output_tokens"] > 0 and done.cost_micros > 0
    session = await house.talk.session(output["session_id"])
    assert session["title"] == "digest: gather"
    assert session["origin"] == {
        "type": "workflow",
        "workflow": "digest",
        "workflow_id": attempt.workflow_id,
        "run_id": attempt.run_id,
        "step": "gather",
    }
    (linked,) = attempt.linked
    run = data(await house.client.get(f"/api/v1/runs/{linked}"))["run"]
    assert (run["kind"], run["parent_id"]) == ("chat", attempt.run_id)
    (request,) = house.models.requests()
    assert "workflow digest" in str(request.body["system"]), "the bot knows that nobody reads along"


async def test_a_step_that_is_done_again_after_a_crash_finds_its_answer(house: House):
    attempt = await house.attempt("Count badly", output_schema=COUNT)
    first = await house.do(attempt)
    asked = len(house.models.requests())
    again = await house.do(attempt)
    assert (again.output, again.cost_micros) == (first.output, first.cost_micros)
    assert len(house.models.requests()) == asked == 2
    output: Any = again.output
    assert output["json"] == {"count": 4}, "the bot was told what did not fit"


async def test_an_answer_has_to_fit_its_schema(house: House):
    good: Any = (await house.do(await house.attempt("Count well", output_schema=COUNT))).output
    assert good["json"] == {"count": 3}
    bad = await house.fails(await house.attempt("Count never", output_schema=COUNT))
    assert bad.problem.code == "bad_output" and bad.cost_micros > 0
    assert "not JSON" in bad.problem.message
    wrong = await house.fails(await house.attempt("Count well", output_schema={"type": "number of things"}))
    assert wrong.problem.code == "bad_schema"


async def test_a_bot_that_is_not_there_or_off_is_not_asked(house: House):
    missing = await house.fails(await house.attempt("Which tea?", bot="nobody"))
    assert (missing.problem.code, missing.problem.retryable) == ("unknown_bot", False)
    data(await house.client.patch("/api/v1/bots/ada", json={"status": "disabled"}))
    with pytest.raises(ForgeError) as off:
        await house.do(await house.attempt("Which tea?"))
    assert off.value.code == "bot_blocked"
    assert house.models.requests() == []


async def test_what_the_model_refuses_or_a_person_stops_fails_the_step(house: House):
    refused = await house.fails(await house.attempt("Something forbidden"))
    assert (refused.problem.code, refused.problem.retryable) == ("agent_refused", False)
    attempt = await house.attempt("Tell it slowly")
    working = asyncio.create_task(house.fails(attempt))
    while not attempt.linked:
        await asyncio.sleep(0.02)
    session: Any = attempt.tickets[0]
    await house.talk.post(f"/sessions/{session['session_id']}/stop")
    assert (await working).problem.code == "stopped"


async def test_a_conversation_that_is_used_again_takes_one_question_at_a_time(house: House):
    first = await house.attempt("Tell it slowly", session="reuse")
    second = await house.attempt("Which tea?", session="reuse")
    second.workflow_id = first.workflow_id
    working = asyncio.create_task(house.do(first))
    while not first.linked:
        await asyncio.sleep(0.02)
    answered: Any = (await house.do(second)).output
    assert working.done() and second.waited
    told: Any = (await working).output
    assert answered["session_id"] == told["session_id"]
    assert [one["role"] for one in await house.talk.messages(told["session_id"])] == ["user", "assistant"] * 2
