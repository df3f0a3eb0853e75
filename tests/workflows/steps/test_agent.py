"""Agent steps, with a complete Forge and scripted models."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
from tests.support.chat_client import PRICE, Talk, data, open_talk
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels
from tests.workflows.steps.step_calls import Attempt

from forge.errors import ForgeError
from forge.workflows.definition.models import AgentConfig
from forge.workflows.engine.step_executor import StepError, StepResult
from forge.workflows.steps.agent import AgentStepExecutor

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
class Environment:
    live: Live
    client: httpx2.AsyncClient
    models: ModelServer
    talk: Talk

    async def attempt(self, prompt: str, **more: Any) -> Attempt:
        """Of a step in a run that goes on."""
        run = data(await self.client.post("/api/v1/runs", json={"kind": "self_test", "input": {}}))
        config = {"type": "agent", "bot": "ada", "prompt": prompt, **more}
        return Attempt(self.live.forge.store, self.live.account_id, run["id"], config)

    async def execute(self, attempt: Attempt) -> StepResult:
        bots = self.live.forge.bots
        executor = AgentStepExecutor(bots.bots, bots.questions, bots.answers)
        return await executor.execute(attempt, AgentConfig.model_validate(attempt.config))

    async def fails(self, attempt: Attempt) -> StepError:
        with pytest.raises(StepError) as caught:
            await self.execute(attempt)
        return caught.value


@pytest.fixture
async def environment(live_forge: Live, model_server: StartModels) -> AsyncIterator[Environment]:
    models = model_server({"scenes": SCENES})
    async with live_forge.client() as client:
        yield Environment(live_forge, client, models, await open_talk(client, models))


async def test_conversation_records_workflow_origin(environment: Environment):
    price = PRICE | {"input": 1}
    model = "scripted:other"
    data(await environment.client.put("/api/v1/models/prices", params={"model": model}, json=price))
    attempt = await environment.attempt("Which tea?", model=model)
    done = await environment.execute(attempt)
    output: Any = done.output
    assert (output["type"], output["bot"], output["response"]) == ("agent", "ada", "Green tea.")
    assert output["model"] == model and output["usage"]["output_tokens"] > 0 and done.cost_micros > 0
    session = await environment.talk.session(output["session_id"])
    assert session["title"] == "digest: gather"
    assert session["origin"] == {
        "type": "workflow",
        "workflow": "digest",
        "workflow_id": attempt.workflow_id,
        "run_id": attempt.run_id,
        "step": "gather",
    }
    (linked,) = attempt.linked
    run = data(await environment.client.get(f"/api/v1/runs/{linked}"))["run"]
    assert (run["kind"], run["parent_id"]) == ("chat", attempt.run_id)
    (request,) = environment.models.requests()
    assert "workflow digest" in str(request.body["system"]), "the bot knows that nobody reads along"


async def test_repeated_step_finds_its_answer(environment: Environment):
    attempt = await environment.attempt("Count badly", output_schema=COUNT)
    first = await environment.execute(attempt)
    asked = len(environment.models.requests())
    again = await environment.execute(attempt)
    assert (again.output, again.cost_micros) == (first.output, first.cost_micros)
    assert len(environment.models.requests()) == asked == 2
    output: Any = again.output
    assert output["json"] == {"count": 4}, "the bot was told what did not fit"


async def test_answer_must_match_schema(environment: Environment):
    good: Any = (
        await environment.execute(await environment.attempt("Count well", output_schema=COUNT))
    ).output
    assert good["json"] == {"count": 3}
    bad = await environment.fails(await environment.attempt("Count never", output_schema=COUNT))
    assert bad.problem.code == "bad_output" and bad.cost_micros > 0
    assert "not JSON" in bad.problem.message
    wrong = await environment.fails(
        await environment.attempt("Count well", output_schema={"type": "number of things"})
    )
    assert wrong.problem.code == "bad_schema"


async def test_missing_or_disabled_bot_is_not_asked(environment: Environment):
    missing = await environment.fails(await environment.attempt("Which tea?", bot="nobody"))
    assert (missing.problem.code, missing.problem.retryable) == ("unknown_bot", False)
    data(await environment.client.patch("/api/v1/bots/ada", json={"status": "disabled"}))
    with pytest.raises(ForgeError) as off:
        await environment.execute(await environment.attempt("Which tea?"))
    assert off.value.code == "bot_blocked"
    assert environment.models.requests() == []


async def test_refused_or_stopped_answer_fails_step(environment: Environment):
    refused = await environment.fails(await environment.attempt("Something forbidden"))
    assert (refused.problem.code, refused.problem.retryable) == ("agent_refused", False)
    attempt = await environment.attempt("Tell it slowly")
    working = asyncio.create_task(environment.fails(attempt))
    while not attempt.linked:
        await asyncio.sleep(0.02)
    session: Any = attempt.tickets[0]
    await environment.talk.post(f"/sessions/{session['session_id']}/stop")
    assert (await working).problem.code == "stopped"


async def test_reused_conversation_takes_one_question_at_a_time(environment: Environment):
    first = await environment.attempt("Tell it slowly", session="reuse")
    second = await environment.attempt("Which tea?", session="reuse")
    second.workflow_id = first.workflow_id
    working = asyncio.create_task(environment.execute(first))
    while not first.linked:
        await asyncio.sleep(0.02)
    answered: Any = (await environment.execute(second)).output
    assert working.done() and second.waited
    told: Any = (await working).output
    assert answered["session_id"] == told["session_id"]
    assert [one["role"] for one in await environment.talk.messages(told["session_id"])] == [
        "user",
        "assistant",
    ] * 2
