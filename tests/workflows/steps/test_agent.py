"""Agent steps, with a complete Forge and scripted models."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from typing import Any

import httpx2
import pytest
from tests.support.chat_client import PRICE, BotClient, data, open_bot_client
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels
from tests.workflows.steps.step_calls import RecordedCall, call_of

from forge.errors import ForgeError
from forge.kernel.ids import new_id
from forge.workflows.engine.step_executor import RunInfo, StepError, StepResult
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
    talk: BotClient

    async def attempt(self, prompt: str, **more: Any) -> RecordedCall:
        """Return an attempt of a step in a running run."""
        run = data(await self.client.post("/api/v1/runs", json={"kind": "self_test", "input": {}}))
        info = RunInfo(run["id"], self.live.account_id, new_id(), "digest", depth=0)
        config = {"bot": "ada", "prompt": prompt, **more}
        return call_of("agent", step_id="gather", run=info, database=self.live.forge.store, **config)

    async def execute(self, attempt: RecordedCall) -> StepResult:
        bots = self.live.forge.bots
        executor = AgentStepExecutor(bots.bots, bots.questions, bots.answers)
        return await executor.execute(attempt, attempt.config())

    async def fails(self, attempt: RecordedCall) -> StepError:
        with pytest.raises(StepError) as caught:
            await self.execute(attempt)
        return caught.value


@pytest.fixture
async def environment(live_forge: Live, model_server: StartModels) -> AsyncIterator[Environment]:
    models = model_server({"scenes": SCENES})
    async with live_forge.client() as client:
        yield Environment(live_forge, client, models, await open_bot_client(client, models))


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
    assert "workflow digest" in str(request.body["system"]), "the bot knows that it runs unattended"


async def test_repeated_step_finds_its_answer(environment: Environment):
    attempt = await environment.attempt("Count badly", output_schema=COUNT)
    first = await environment.execute(attempt)
    asked = len(environment.models.requests())
    again = await environment.execute(attempt)
    assert (again.output, again.cost_micros) == (first.output, first.cost_micros)
    assert len(environment.models.requests()) == asked == 2
    output: Any = again.output
    assert output["json"] == {"count": 4}, "the bot was asked to correct its answer"


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
    missing = await environment.fails(await environment.attempt("Which tea?", bot="unknown"))
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
    session: Any = attempt.row.ticket
    await environment.talk.post(f"/sessions/{session['session_id']}/stop")
    assert (await working).problem.code == "stopped"


async def test_reused_conversation_takes_one_question_at_a_time(environment: Environment):
    first = await environment.attempt("Tell it slowly", session="reuse")
    second = await environment.attempt("Which tea?", session="reuse")
    second.facts = replace(second.facts, workflow_id=first.workflow_id)
    working = asyncio.create_task(environment.execute(first))
    while not first.linked:
        await asyncio.sleep(0.02)
    second_output: Any = (await environment.execute(second)).output
    assert working.done() and second.waited
    first_output: Any = (await working).output
    assert second_output["session_id"] == first_output["session_id"]
    assert [one["role"] for one in await environment.talk.messages(first_output["session_id"])] == [
        "user",
        "assistant",
    ] * 2
