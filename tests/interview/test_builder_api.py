import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.support.chat_client import data, problem
from tests.support.interview_client import BUILDER, Interviewee, connect_interviewer
from tests.support.interview_scripts import (
    NAME,
    SOUL,
    STORIES,
    TONE,
    clarify,
    interview_script,
    ready,
    show_preview,
)
from tests.support.live_forge import Live
from tests.support.models import StartModels

from forge.bots.files.identity import parse_identity
from forge.kernel.ids import new_id
from forge.skills.wasm.runtimes import runtimes

TURNS = [
    NAME,
    TONE,
    ready(purpose="Tell a story before sleep."),
]


@pytest.fixture
async def person(live_forge: Live) -> AsyncIterator[Interviewee]:
    async with live_forge.client() as client:
        yield Interviewee(client)


async def test_guide_asks_without_a_model_and_says_why(person: Interviewee):
    turn = await person.start(STORIES)
    assert turn["action"] == "ask_question"
    assert turn["phase"] == "basics"
    assert 2 <= len(turn["options"]) <= 6
    assert all(option["reason"] == option["description"] for option in turn["options"])
    assert person.view["spoken_by"]["speaker"] == "guide"
    assert "ANTHROPIC_API_KEY" in person.view["spoken_by"]["why"]


async def test_created_files_equal_the_dry_run(person: Interviewee):
    await person.start(STORIES)
    ready_turn = await person.to_the_end()
    assert ready_turn["action"] == "ready_to_assemble"
    shown = await person.files()
    made = await person.make(config=ready_turn["config"])
    folder = Path(made["soul_path"]).parent
    assert {
        f"{made['bot_slug']}/{file.name}": file.read_text() for file in folder.iterdir() if file.is_file()
    } == {path: text for path, text in shown.items() if not path.startswith("skills/")}
    identity = parse_identity((folder / "IDENTITY.md").read_text())
    assert identity.problems == []
    assert identity.value is not None
    assert identity.value.temperature == ready_turn["config"]["model_config"]["temperature"]
    view = data(await person.client.get(f"/api/v1/bots/{made['bot_slug']}"))
    assert view["problems"] == []
    assert [
        one["name"] for one in data(await person.client.get(f"/api/v1/bots/{made['bot_slug']}/skills"))
    ] == sorted(made["skills_attached"])


async def test_second_assembly_returns_the_same_bot(person: Interviewee):
    await person.start(STORIES)
    await person.to_the_end()
    made = await asyncio.gather(*(person.make() for _ in range(5)))
    assert len({one["bot_id"] for one in made}) == 1
    assert len(data(await person.client.get("/api/v1/bots"))) == 1
    assert data(await person.client.get(f"{BUILDER}/drafts")) == []
    await person.look()
    assert person.view["made"]["bots"][0]["bot_id"] == made[0]["bot_id"]


async def test_drafts_are_saved_on_every_turn_and_can_be_resumed(person: Interviewee):
    await person.start(STORIES)
    await person.choose(1)
    turn, revision = person.turn, person.view["revision"]
    [draft] = data(await person.client.get(f"{BUILDER}/drafts"))
    assert draft["initial_description"] == STORIES
    assert draft["phase"] == turn["phase"]
    created = draft["created_at"]
    assert await person.look() == turn
    assert person.view["revision"] == revision
    await person.choose()
    [draft] = data(await person.client.get(f"{BUILDER}/drafts"))
    assert draft["created_at"] == created
    for _ in range(2):
        assert data(await person.client.delete(person.path))["deleted"]
    assert problem(await person.client.get(person.path)) == (404, "not_found")


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        ({"OptionIndex": 99}, "bad_answer"),
        ({"Confirm": True}, "bad_answer"),
        ("Back", "bad_answer"),
        ({"Back": {"phase": "review"}}, "bad_answer"),
        ({"OptionIndex": -1}, "invalid"),
        ({"FreeText": ""}, "invalid"),
        ({"FreeText": "a\x00b"}, "invalid"),
        ({"FreeText": "x" * 1_000_000}, "invalid"),
        ({"Nothing": 1}, "invalid"),
        ("Forward", "invalid"),
        (None, "invalid"),
        ([], "invalid"),
    ],
)
async def test_invalid_answer_is_rejected_without_losing_the_turn(
    person: Interviewee, answer: Any, code: str
):
    await person.start(STORIES)
    before = person.view
    refused = await person.client.post(f"{person.path}/answer", json={"answer": answer})
    assert refused.json()["errors"][0]["code"] == code
    assert 400 <= refused.status_code < 500
    await person.look()
    assert person.view == before


async def test_answer_to_an_earlier_turn_is_rejected(person: Interviewee):
    await person.start(STORIES)
    late = person.view["revision"]
    await person.choose()
    body = {"answer": {"OptionIndex": 0}, "turn": late}
    assert problem(await person.client.post(f"{person.path}/answer", json=body)) == (409, "went_on")


async def test_assembly_without_config_uses_the_ready_turn(person: Interviewee):
    await person.start(STORIES)
    await person.to_the_end()
    assert data(await person.client.post(f"{person.path}/assemble"))["result"]["bot_slug"]


async def test_operations_of_the_other_mode_are_rejected(person: Interviewee):
    await person.start("Count the words of a text", mode="skill")
    assert problem(await person.client.post(f"{person.path}/assemble", json={})) == (400, "wrong_mode")
    await person.start(STORIES)
    assert problem(await person.client.post(f"{person.path}/create-skill", json={})) == (400, "wrong_mode")
    assert problem(await person.client.post(f"{person.path}/assemble", json={})) == (409, "conflict")


async def test_next_interview_offers_the_remembered_choices(person: Interviewee):
    await person.start(STORIES)
    while person.turn["phase"] == "basics":
        await person.choose()
    await person.choose(1)
    await person.to_the_end()
    made = await person.make()
    [entry] = data(await person.client.get(f"{BUILDER}/memory"))
    assert entry["bot_slug"] == made["bot_slug"]

    await person.start("Write poems for birthdays")
    while person.turn["phase"] == "basics":
        assert "same" not in [option["id"] for option in person.turn["options"]]
        await person.choose()
    ids = [option["id"] for option in person.turn["options"]]
    assert "same" in ids
    assert entry["chosen_tone"] in person.turn["options"][ids.index("same")]["label"].lower()
    await person.choose(ids.index("same"))
    assert person.view["preview"]["fields"]["tone"] == entry["chosen_tone"]

    assert data(await person.client.delete(f"{BUILDER}/memory/{entry['id']}")) == 1
    assert problem(await person.client.delete(f"{BUILDER}/memory/{entry['id']}")) == (404, "not_found")


@pytest.fixture
def without_runtimes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr("forge.skills.wasm.runtimes.BUILT", tmp_path)
    runtimes.cache_clear()
    yield
    runtimes.cache_clear()


@pytest.mark.usefixtures("without_runtimes")
async def test_skill_that_cannot_be_tested_is_still_written(person: Interviewee):
    await person.start("Count the words of a text and say which occurs most", mode="skill")
    while person.turn["action"] != "ready_to_create_skill":
        ids = [option["id"] for option in person.turn.get("options", [])]
        await (person.choose(ids.index("script")) if "script" in ids else one(person))
    trial = person.view["trial"]
    assert (trial["ran"], trial["passed"]) == (False, False)
    assert trial["output"] == "the runtimes of skills are not built"
    assert (await person.make())["has_source_code"]


async def test_created_skill_is_tested_and_usable_immediately(person: Interviewee):
    await person.start("Count the words of a text and say which occurs most", mode="skill")
    while person.turn["action"] != "ready_to_create_skill":
        ids = [option["id"] for option in person.turn.get("options", [])]
        await (person.choose(ids.index("script")) if "script" in ids else one(person))
    assert person.view["trial"]["passed"], person.view["trial"]
    shown = await person.files()
    made = await person.make()
    assert made["has_source_code"]
    assert shown[f"skills/{made['name']}/SKILL.md"] == made["skill_md_content"]
    assert "builder-created" in made["skill_md_content"]
    bot = data(await person.client.post("/api/v1/bots", json={"name": "Ada"}))
    path = f"/api/v1/bots/{bot['slug']}/skills-file"
    state = data(await person.client.get(path))
    content = f'[skills.{made["name"]}]\nskill_name = "{made["name"]}"\nenabled = true\n'
    data(await person.client.put(path, json={"content": content, "base_hash": state["hash"]}))
    [attached] = data(await person.client.get(f"/api/v1/bots/{bot['slug']}/skills"))
    assert attached["problem"] is None


def read(path: str) -> str:
    return Path(path).read_text()


async def one(person: Interviewee) -> None:
    if person.turn["action"] == "clarify":
        await person.say("It counts words")
    else:
        await person.choose()


async def test_bot_is_reconfigured_in_place(person: Interviewee):
    await person.start(STORIES)
    await person.to_the_end()
    made = await person.make()
    slug = made["bot_slug"]
    path = f"{BUILDER}/sessions/{new_id()}/reconfigure"
    person.view = data(await person.client.post(path, json={"bot_slug": slug}))
    assert person.view["mode"] == "reconfigure"
    assert person.turn["action"] == "show_preview"
    assert person.turn["preview"]["name"] == made["bot_name"]
    await person.answer({"Confirm": True})
    ids = [option["id"] for option in person.turn["options"]]
    await person.choose(ids.index("personality"))
    await person.choose(2)
    await person.to_the_end()
    changed = data(await person.client.post(f"{person.path}/assemble?dry_run=true", json={}))["files"]
    assert any(file["diff"] for file in changed)
    again = await person.make()
    assert again["bot_id"] == made["bot_id"]
    assert again["bot_slug"] == slug
    view = data(await person.client.get(f"/api/v1/bots/{slug}"))
    assert view["soul_version"] == 2
    assert view["problems"] == []
    assert len(data(await person.client.get("/api/v1/bots"))) == 1


async def test_existing_soul_is_used_unchanged(person: Interviewee):
    soul = f"---\nname: Lamp\ntraits: [calm]\ntone: quiet\n---\n\n{SOUL}"
    await person.start("", soul=soul)
    await person.to_the_end()
    made = await person.make()
    assert made["bot_name"] == "Lamp"
    assert read(made["soul_path"]) == soul
    refused = await person.client.post(f"{BUILDER}/sessions", json={"soul": "---\nname: [\n---\n"})
    assert refused.status_code == 422
    for other in ({"mode": "skill"}, {"mode": "reconfigure", "bot_slug": made["bot_slug"]}):
        refused = await person.client.post(f"{BUILDER}/sessions", json={"soul": soul, **other})
        assert refused.json()["errors"][0]["field"] == "soul", "it would not be used"


async def test_batch_is_created_at_once(person: Interviewee):
    await person.start("A reading companion", mode="batch", variants=3)
    await person.to_the_end()
    made = await person.make()
    assert len({bot["bot_slug"] for bot in made["bots"]}) == 3
    assert problem(
        await person.client.post(f"{BUILDER}/sessions", json={"mode": "batch", "variants": 1})
    ) == (
        422,
        "invalid",
    )


# With a model


async def test_model_leads_the_interview_and_writes_the_soul(person: Interviewee, model_server: StartModels):
    server = model_server(interview_script(TURNS))
    await connect_interviewer(person.client, server)
    turn = await person.start(STORIES)
    assert turn["question"] == "What shall it be called?"
    assert person.view["spoken_by"] == {
        "speaker": "model",
        "model": "scripted:scripted",
        "why": None,
        "can_switch": True,
    }
    await person.choose(0)
    assert person.view["preview"]["name"] == "Quill"
    await person.say("like an old sailor")
    assert person.turn["action"] == "ready_to_assemble"
    assert person.turn["config"]["name"] == "Quill"
    asked = server.stats().requests
    made = await person.make()
    assert "read every line aloud" in read(made["soul_path"])
    assert server.stats().requests == asked
    assert person.view["cost_micros"] > 0


async def test_settings_edited_in_the_review_get_a_new_soul(person: Interviewee, model_server: StartModels):
    server = model_server(interview_script(TURNS))
    await connect_interviewer(person.client, server)
    await person.start(STORIES)
    await person.choose()
    config = (await person.choose())["config"]
    asked = server.stats().requests
    made = await person.make(config={**config, "name": "Lantern"})
    assert made["bot_name"] == "Lantern"
    assert server.stats().requests == asked + 1


async def test_going_back_calls_no_model(person: Interviewee, model_server: StartModels):
    server = model_server(interview_script(TURNS))
    await connect_interviewer(person.client, server)
    first = await person.start(STORIES)
    second = await person.choose(0)
    asked = server.stats().requests
    assert await person.back("basics") == first
    assert person.view["preview"]["name"] is None
    assert await person.choose(0) == second
    assert server.stats().requests == asked


async def test_preview_is_computed_and_confirmed(person: Interviewee, model_server: StartModels):
    turns = [
        show_preview(phase="basics", patch={"name": "Quill"}),
        clarify("And the age of the children?"),
        ready(),
    ]
    await connect_interviewer(person.client, model_server(interview_script(turns)))
    turn = await person.start(STORIES)
    assert turn["preview"]["name"] == "Quill"
    assert (await person.answer({"Confirm": True}))["action"] == "clarify"
    assert (await person.say("five"))["action"] == "ready_to_assemble"


@pytest.mark.parametrize("fault", ["500", "401", "cut", "malformed_json", "refusal", "empty"])
async def test_guide_takes_over_after_two_model_failures(
    person: Interviewee, model_server: StartModels, fault: str
):
    await connect_interviewer(person.client, model_server(interview_script(TURNS, faults={1: fault})))
    await person.start(STORIES)
    turn = await person.choose(0)
    assert turn["action"] == "ask_question"
    assert person.view["spoken_by"]["speaker"] == "guide"
    assert person.view["spoken_by"]["why"]
    assert person.view["preview"]["name"] == "Quill"
    await person.to_the_end()
    assert (await person.make())["bot_name"] == "Quill"


async def test_speaker_can_be_switched_midway(person: Interviewee, model_server: StartModels):
    server = model_server(interview_script(TURNS))
    await person.start(STORIES)
    refused = await person.client.post(f"{person.path}/speaker", json={"speaker": "model"})
    assert problem(refused) == (409, "conflict")
    await connect_interviewer(person.client, server)
    person.view = data(await person.client.post(f"{person.path}/speaker", json={"speaker": "model"}))
    assert person.view["spoken_by"]["speaker"] == "model"
    await person.choose()
    assert server.stats().requests == 1
    person.view = data(await person.client.post(f"{person.path}/speaker", json={"speaker": "guide"}))
    await person.to_the_end()
    assert server.stats().requests == 1


async def test_pending_model_call_can_be_cancelled(person: Interviewee, model_server: StartModels):
    slow = interview_script(TURNS, faults={1: {"kind": "stall", "seconds": 60}})
    await connect_interviewer(person.client, model_server(slow))
    asked = await person.start(STORIES)
    waiting = asyncio.create_task(
        person.client.post(f"{person.path}/answer", json={"answer": {"OptionIndex": 0}})
    )
    while (await person.look()) and person.view["due"] is None:
        await asyncio.sleep(0.02)
    busy: httpx2.Response = await person.client.post(
        f"{person.path}/answer", json={"answer": {"OptionIndex": 1}}
    )
    assert problem(busy) == (409, "conflict")
    person.view = data(await person.client.post(f"{person.path}/cancel"))
    assert person.turn == asked
    assert person.view["due"] is None
    assert (await waiting).json()["data"]["turn"] == asked


async def test_cancelled_run_does_not_block_the_interview(person: Interviewee, model_server: StartModels):
    slow = interview_script(TURNS, faults={1: {"kind": "stall", "seconds": 60}})
    await connect_interviewer(person.client, model_server(slow))
    asked = await person.start(STORIES)
    waiting = asyncio.create_task(
        person.client.post(f"{person.path}/answer", json={"answer": {"OptionIndex": 0}})
    )
    while not (runs := data(await person.client.get("/api/v1/runs", params={"status": "running"}))):
        await asyncio.sleep(0.02)
    data(await person.client.post(f"/api/v1/runs/{runs[0]['id']}/cancel"))
    assert await person.look() == asked
    assert person.view["due"] is None
    assert (await waiting).json()["data"]["turn"] == asked
