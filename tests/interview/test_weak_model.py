"""Interviews led by a weak model, through the API and the real client. On both databases."""

from collections.abc import AsyncIterator

import pytest
from tests.support.chat_client import PRICE, data
from tests.support.interview_client import Interviewee
from tests.support.interview_scripts import STORIES
from tests.support.live_forge import Live
from tests.support.models import ModelServer, StartModels

from forge.demo.model_script import find_script


@pytest.fixture
async def interviewee(live_forge: Live) -> AsyncIterator[Interviewee]:
    async with live_forge.client() as client:
        yield Interviewee(client)


async def start(interviewee: Interviewee, server: ModelServer, model: str) -> None:
    client, ref = interviewee.client, f"small:{model}"
    provider = {"kind": "openai", "base_url": f"{server.url}/v1"}
    data(await client.put("/api/v1/models/providers/small", json=provider))
    data(await client.put("/api/v1/models/prices", params={"model": ref}, json=PRICE))
    for role in ("interviewer", "bot"):
        data(await client.put(f"/api/v1/models/roles/{role}", json={"chain": [ref]}))
    await interviewee.start(STORIES)


async def test_schema_in_the_request_requires_a_question(interviewee: Interviewee, model_server: StartModels):
    server = model_server(find_script("weak"))
    await start(interviewee, server, "weak-question")
    sent = server.requests()[0].body["response_format"]["json_schema"]["schema"]
    assert sent["$defs"]["ModelQuestion"]["required"] == ["action", "question", "options"]
    assert [one["$ref"] for one in sent["properties"]["turn"]["anyOf"]] == [
        "#/$defs/ModelQuestion",
        "#/$defs/ModelClarification",
        "#/$defs/ModelPreview",
        "#/$defs/ModelReady",
    ]


async def test_omitted_question_is_repaired(interviewee: Interviewee, model_server: StartModels):
    server = model_server(find_script("weak"))
    await start(interviewee, server, "weak-question")
    assert interviewee.view["spoken_by"]["speaker"] == "model"
    assert interviewee.turn["question"] == "What should it be called?"
    assert [option["label"] for option in interviewee.turn["options"]] == ["Juniper", "Scout"]
    first, repair = (entry.body for entry in server.requests())
    sent = str(repair["messages"])
    assert "turn.ask_question.question: Field required" in sent
    assert "Marmalade" not in sent
    assert "temperature" not in first and repair["temperature"] == 1.0


async def test_guide_takes_over_after_an_identical_repair(
    interviewee: Interviewee, model_server: StartModels
):
    server = model_server(find_script("weak"))
    await start(interviewee, server, "weak-repeat")
    assert interviewee.view["spoken_by"]["speaker"] == "guide"
    assert "Field required" in interviewee.view["spoken_by"]["why"]
    first, repair = (entry.body for entry in server.requests())  # and no third
    assert first["messages"] != repair["messages"]
    example = interviewee.turn["question"]
    assert example in str(repair["messages"])  # the guide's question was the example
