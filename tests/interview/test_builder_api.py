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
async def interviewee(live_forge: Live) -> AsyncIterator[Interviewee]:
    async with live_forge.client() as client:
        yield Interviewee(client)


async def test_guide_asks_without_a_model_and_says_why(interviewee: Interviewee):
    turn = await interviewee.start(STORIES)
    assert turn["action"] == "ask_question"
    assert turn["phase"] == "basics"
    assert 2 <= len(turn["options"]) <= 6
    assert all(option["reason"] == option["description"] for option in turn["options"])
    assert interviewee.view["spoken_by"]["speaker"] == "guide"
    assert "ANTHROPIC_API_KEY" in interviewee.view["spoken_by"]["why"]


async def test_usable_model_is_offered_before_one_without_a_key(interviewee: Interviewee):
    client = interviewee.client
    provider = {"base_url": "http://127.0.0.1:9/v1"}
    data(await client.put("/api/v1/models/providers/local", json=provider))
    price = {"input": 0, "output": 0, "context_window": 8192}
    data(await client.put("/api/v1/models/prices", params={"model": "local:tiny"}, json=price))
    data(await client.put("/api/v1/models/roles/utility", json={"chain": ["local:tiny"]}))
    turn = await interviewee.start(STORIES)
    while turn.get("phase") != "model":
        turn = await interviewee.choose()
    assert turn["options"][0]["id"] == "local:tiny"
    assert "There is no key for anthropic" in turn["options"][1]["reason"]


async def test_created_files_equal_the_dry_run(interviewee: Interviewee):
    await interviewee.start(STORIES)
    ready_turn = await interviewee.finish()
    assert ready_turn["action"] == "ready_to_assemble"
    shown = await interviewee.files()
    made = await interviewee.create(config=ready_turn["config"])
    folder = Path(made["soul_path"]).parent
    assert {
        f"{made['bot_slug']}/{file.name}": file.read_text() for file in folder.iterdir() if file.is_file()
    } == {path: text for path, text in shown.items() if not path.startswith("skills/")}
    identity = parse_identity((folder / "IDENTITY.md").read_text())
    assert identity.problems == []
    assert identity.value is not None
    assert identity.value.temperature == ready_turn["config"]["model_config"]["temperature"]
    view = data(await interviewee.client.get(f"/api/v1/bots/{made['bot_slug']}"))
    assert view["problems"] == []
    assert [
        skill["name"]
        for skill in data(await interviewee.client.get(f"/api/v1/bots/{made['bot_slug']}/skills"))
    ] == sorted(made["skills_attached"])


async def test_second_assembly_returns_the_same_bot(interviewee: Interviewee):
    await interviewee.start(STORIES)
    await interviewee.finish()
    made = await asyncio.gather(*(interviewee.create() for _ in range(5)))
    assert len({bot["bot_id"] for bot in made}) == 1
    assert len(data(await interviewee.client.get("/api/v1/bots"))) == 1
    assert data(await interviewee.client.get(f"{BUILDER}/drafts")) == []
    await interviewee.refresh()
    assert interviewee.view["made"]["bots"][0]["bot_id"] == made[0]["bot_id"]


async def test_drafts_are_saved_on_every_turn_and_can_be_resumed(interviewee: Interviewee):
    await interviewee.start(STORIES)
    await interviewee.choose(1)
    turn, revision = interviewee.turn, interviewee.view["revision"]
    [draft] = data(await interviewee.client.get(f"{BUILDER}/drafts"))
    assert draft["initial_description"] == STORIES
    assert draft["phase"] == turn["phase"]
    created = draft["created_at"]
    assert await interviewee.refresh() == turn
    assert interviewee.view["revision"] == revision
    await interviewee.choose()
    [draft] = data(await interviewee.client.get(f"{BUILDER}/drafts"))
    assert draft["created_at"] == created
    for _ in range(2):
        assert data(await interviewee.client.delete(interviewee.path))["deleted"]
    assert problem(await interviewee.client.get(interviewee.path)) == (404, "not_found")


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
    interviewee: Interviewee, answer: Any, code: str
):
    await interviewee.start(STORIES)
    before = interviewee.view
    response = await interviewee.client.post(f"{interviewee.path}/answer", json={"answer": answer})
    assert response.json()["errors"][0]["code"] == code
    assert 400 <= response.status_code < 500
    await interviewee.refresh()
    assert interviewee.view == before


async def test_started_interviews_are_answered_with_201(interviewee: Interviewee):
    bot = data(await interviewee.client.post("/api/v1/bots", json={"name": "Ada"}))
    path = f"{BUILDER}/sessions"
    started = await interviewee.client.post(path, json={"description": STORIES})
    changing = await interviewee.client.post(f"{path}/{new_id()}/reconfigure", json={"bot_slug": bot["slug"]})
    assert (started.status_code, changing.status_code) == (201, 201)


async def test_missing_interview_is_reported_with_the_request_that_lists_them(interviewee: Interviewee):
    response = await interviewee.client.get(f"{BUILDER}/sessions/{new_id()}")
    (error,) = response.json()["errors"]
    assert error["hint"] == "List unfinished interviews: `GET /api/v1/builder/drafts`"


async def test_answer_to_an_earlier_turn_is_rejected(interviewee: Interviewee):
    await interviewee.start(STORIES)
    late = interviewee.view["revision"]
    await interviewee.choose()
    body = {"answer": {"OptionIndex": 1}, "turn": late}
    assert problem(await interviewee.client.post(f"{interviewee.path}/answer", json=body)) == (409, "went_on")


async def test_parallel_identical_answers_answer_one_question(interviewee: Interviewee):
    """A double click: the second request has no turn either, and cannot have seen the next one."""
    await interviewee.start(STORIES)
    body = {"answer": {"OptionIndex": 0}}
    path = f"{interviewee.path}/answer"
    first, second = await asyncio.gather(*(interviewee.client.post(path, json=body) for _ in range(2)))
    assert data(first)["turn"] == data(second)["turn"]
    await interviewee.refresh()
    assert interviewee.view["question_count"] == 1


async def test_repeated_answer_with_its_turn_is_applied_once(interviewee: Interviewee):
    await interviewee.start(STORIES)
    body = {"answer": {"OptionIndex": 0}, "turn": interviewee.view["revision"]}
    first, again = [
        data(await interviewee.client.post(f"{interviewee.path}/answer", json=body)) for _ in range(2)
    ]
    assert (again["turn"], again["revision"]) == (first["turn"], first["revision"])


async def test_second_assembly_with_another_config_is_rejected(interviewee: Interviewee):
    await interviewee.start(STORIES)
    config = (await interviewee.finish())["config"]
    made = await interviewee.create(config=config)
    assert made["config"]["name"] == config["name"]  # an object, not JSON in a string
    path = f"{interviewee.path}/assemble"
    other = await interviewee.client.post(path, json={"config": config | {"name": "Another"}})
    assert problem(other) == (409, "conflict")
    assert data(await interviewee.client.post(path, json={"config": config}))["result"] == made


async def test_skill_is_created_from_a_complete_request_on_an_unfinished_session(interviewee: Interviewee):
    await interviewee.start("Count the words of a text", mode="skill")
    request = {"name": "count-all", "description": "Count the words of a text.", "skill_type": "wasm"}
    made = await interviewee.create(skill_request=request)
    assert made["name"] == "count-all"
    skill = data(await interviewee.client.get("/api/v1/skills/count-all"))
    assert skill["kind"] == "script"
    path = f"{interviewee.path}/create-skill"
    assert data(await interviewee.client.post(path, json={"skill_request": request}))["result"] == made
    other = request | {"description": "Count the letters of a text."}
    response = await interviewee.client.post(path, json={"skill_request": other})
    assert problem(response) == (409, "conflict")


async def test_confirming_does_not_create_the_skill(interviewee: Interviewee):
    await interviewee.start("Count the words of a text", mode="skill")
    assert (await interviewee.finish())["action"] == "ready_to_create_skill"
    body = {"answer": {"Confirm": True}, "turn": interviewee.view["revision"]}
    response = await interviewee.client.post(f"{interviewee.path}/answer", json=body)
    assert (response.status_code, "create-skill" in response.json()["errors"][0]["hint"]) == (409, True)


async def test_errors_of_answers_name_no_internal_fields(interviewee: Interviewee):
    await interviewee.start(STORIES)
    for answer in ({"OptionIndex": "one"}, {"OptionIndex": -1}, {"Nothing": 1}, {"FreeText": ""}):
        response = await interviewee.client.post(f"{interviewee.path}/answer", json={"answer": answer})
        (error,) = response.json()["errors"]
        assert error["message"].startswith("answer: "), error
        assert error["field"] == "answer"


async def test_assembly_without_config_uses_the_ready_turn(interviewee: Interviewee):
    await interviewee.start(STORIES)
    await interviewee.finish()
    assert data(await interviewee.client.post(f"{interviewee.path}/assemble"))["result"]["bot_slug"]


async def test_operations_of_the_other_mode_are_rejected(interviewee: Interviewee):
    await interviewee.start("Count the words of a text", mode="skill")
    assert problem(await interviewee.client.post(f"{interviewee.path}/assemble", json={})) == (
        400,
        "wrong_mode",
    )
    await interviewee.start(STORIES)
    assert problem(await interviewee.client.post(f"{interviewee.path}/create-skill", json={})) == (
        400,
        "wrong_mode",
    )
    assert problem(await interviewee.client.post(f"{interviewee.path}/assemble", json={})) == (
        409,
        "conflict",
    )


async def test_next_interview_offers_the_remembered_choices(interviewee: Interviewee):
    await interviewee.start(STORIES)
    while interviewee.turn["phase"] == "basics":
        await interviewee.choose()
    await interviewee.choose(1)
    await interviewee.finish()
    made = await interviewee.create()
    [entry] = data(await interviewee.client.get(f"{BUILDER}/memory"))
    assert entry["bot_slug"] == made["bot_slug"]

    await interviewee.start("Write poems for birthdays")
    while interviewee.turn["phase"] == "basics":
        assert "same" not in [option["id"] for option in interviewee.turn["options"]]
        await interviewee.choose()
    ids = [option["id"] for option in interviewee.turn["options"]]
    assert "same" in ids
    assert entry["chosen_tone"] in interviewee.turn["options"][ids.index("same")]["label"].lower()
    await interviewee.choose(ids.index("same"))
    assert interviewee.view["preview"]["fields"]["tone"] == entry["chosen_tone"]

    assert data(await interviewee.client.delete(f"{BUILDER}/memory/{entry['id']}")) == 1
    assert problem(await interviewee.client.delete(f"{BUILDER}/memory/{entry['id']}")) == (404, "not_found")


@pytest.fixture
def without_runtimes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    monkeypatch.setattr("forge.skills.wasm.runtimes.BUILT", tmp_path)
    runtimes.cache_clear()
    yield
    runtimes.cache_clear()


@pytest.mark.usefixtures("without_runtimes")
async def test_skill_that_cannot_be_tested_is_still_written(interviewee: Interviewee):
    await interviewee.start("Count the words of a text and say which occurs most", mode="skill")
    while interviewee.turn["action"] != "ready_to_create_skill":
        ids = [option["id"] for option in interviewee.turn.get("options", [])]
        await (interviewee.choose(ids.index("script")) if "script" in ids else answer_turn(interviewee))
    trial = interviewee.view["trial"]
    assert (trial["ran"], trial["passed"]) == (False, False)
    assert trial["output"] == "the runtimes of skills are not built"
    assert (await interviewee.create())["has_source_code"]


async def test_created_skill_is_tested_and_usable_immediately(interviewee: Interviewee):
    await interviewee.start("Count the words of a text and say which occurs most", mode="skill")
    while interviewee.turn["action"] != "ready_to_create_skill":
        ids = [option["id"] for option in interviewee.turn.get("options", [])]
        await (interviewee.choose(ids.index("script")) if "script" in ids else answer_turn(interviewee))
    assert interviewee.view["trial"]["passed"], interviewee.view["trial"]
    shown = await interviewee.files()
    made = await interviewee.create()
    assert made["has_source_code"]
    assert shown[f"skills/{made['name']}/SKILL.md"] == made["skill_md_content"]
    assert "builder-created" in made["skill_md_content"]
    bot = data(await interviewee.client.post("/api/v1/bots", json={"name": "Ada"}))
    path = f"/api/v1/bots/{bot['slug']}/skills-file"
    state = data(await interviewee.client.get(path))
    content = f'[skills.{made["name"]}]\nskill_name = "{made["name"]}"\nenabled = true\n'
    data(await interviewee.client.put(path, json={"content": content, "base_hash": state["hash"]}))
    [attached] = data(await interviewee.client.get(f"/api/v1/bots/{bot['slug']}/skills"))
    assert attached["problem"] is None


def read(path: str) -> str:
    return Path(path).read_text()


async def answer_turn(interviewee: Interviewee) -> None:
    if interviewee.turn["action"] == "clarify":
        await interviewee.say("It counts words")
    else:
        await interviewee.choose()


async def test_bot_is_reconfigured_in_place(interviewee: Interviewee):
    await interviewee.start(STORIES)
    await interviewee.finish()
    made = await interviewee.create()
    slug = made["bot_slug"]
    path = f"{BUILDER}/sessions/{new_id()}/reconfigure"
    interviewee.view = data(await interviewee.client.post(path, json={"bot_slug": slug}))
    assert interviewee.view["mode"] == "reconfigure"
    assert interviewee.turn["action"] == "show_preview"
    assert interviewee.turn["preview"]["name"] == made["bot_name"]
    await interviewee.answer({"Confirm": True})
    ids = [option["id"] for option in interviewee.turn["options"]]
    await interviewee.choose(ids.index("personality"))
    await interviewee.choose(2)
    await interviewee.finish()
    changed = data(await interviewee.client.post(f"{interviewee.path}/assemble?dry_run=true", json={}))[
        "files"
    ]
    assert any(file["diff"] for file in changed)
    again = await interviewee.create()
    assert again["bot_id"] == made["bot_id"]
    assert again["bot_slug"] == slug
    view = data(await interviewee.client.get(f"/api/v1/bots/{slug}"))
    assert view["soul_version"] == 2
    assert view["problems"] == []
    assert len(data(await interviewee.client.get("/api/v1/bots"))) == 1


async def test_existing_soul_is_used_unchanged(interviewee: Interviewee):
    soul = f"---\nname: Lamp\ntraits: [calm]\ntone: quiet\n---\n\n{SOUL}"
    await interviewee.start("", soul=soul)
    await interviewee.finish()
    made = await interviewee.create()
    assert made["bot_name"] == "Lamp"
    assert read(made["soul_path"]) == soul
    response = await interviewee.client.post(f"{BUILDER}/sessions", json={"soul": "---\nname: [\n---\n"})
    assert response.status_code == 422
    for other in ({"mode": "skill"}, {"mode": "reconfigure", "bot_slug": made["bot_slug"]}):
        response = await interviewee.client.post(f"{BUILDER}/sessions", json={"soul": soul, **other})
        assert response.json()["errors"][0]["field"] == "soul", "the soul would not be used"


async def test_batch_is_created_at_once(interviewee: Interviewee):
    await interviewee.start("A reading companion", mode="batch", variants=3)
    await interviewee.finish()
    made = await interviewee.create()
    assert len({bot["bot_slug"] for bot in made["bots"]}) == 3
    assert problem(
        await interviewee.client.post(f"{BUILDER}/sessions", json={"mode": "batch", "variants": 1})
    ) == (
        422,
        "invalid",
    )


# With a model


async def test_model_leads_the_interview_and_writes_the_soul(
    interviewee: Interviewee, model_server: StartModels
):
    server = model_server(interview_script(TURNS))
    await connect_interviewer(interviewee.client, server)
    turn = await interviewee.start(STORIES)
    assert turn["question"] == "What shall it be called?"
    assert interviewee.view["spoken_by"] == {
        "speaker": "model",
        "model": "scripted:scripted",
        "why": None,
        "can_switch": True,
    }
    await interviewee.choose(0)
    assert interviewee.view["preview"]["name"] == "Quill"
    await interviewee.say("like an old sailor")
    assert interviewee.turn["action"] == "ready_to_assemble"
    assert interviewee.turn["config"]["name"] == "Quill"
    asked = server.stats().requests
    made = await interviewee.create()
    assert "read every line aloud" in read(made["soul_path"])
    assert server.stats().requests == asked
    assert interviewee.view["cost_micros"] > 0


async def test_settings_edited_in_the_review_get_a_new_soul(
    interviewee: Interviewee, model_server: StartModels
):
    server = model_server(interview_script(TURNS))
    await connect_interviewer(interviewee.client, server)
    await interviewee.start(STORIES)
    await interviewee.choose()
    config = (await interviewee.choose())["config"]
    asked = server.stats().requests
    made = await interviewee.create(config={**config, "name": "Lantern"})
    assert made["bot_name"] == "Lantern"
    assert server.stats().requests == asked + 1


async def test_going_back_calls_no_model(interviewee: Interviewee, model_server: StartModels):
    server = model_server(interview_script(TURNS))
    await connect_interviewer(interviewee.client, server)
    first = await interviewee.start(STORIES)
    second = await interviewee.choose(0)
    asked = server.stats().requests
    assert await interviewee.back("basics") == first
    assert interviewee.view["preview"]["name"] is None
    assert await interviewee.choose(0) == second
    assert server.stats().requests == asked


async def test_preview_is_computed_and_confirmed(interviewee: Interviewee, model_server: StartModels):
    turns = [
        show_preview(phase="basics", patch={"name": "Quill"}),
        clarify("And the age of the children?"),
        ready(),
    ]
    await connect_interviewer(interviewee.client, model_server(interview_script(turns)))
    turn = await interviewee.start(f"{STORIES}, to be called Quill")
    assert turn["preview"]["name"] == "Quill"
    assert (await interviewee.answer({"Confirm": True}))["action"] == "clarify"
    assert (await interviewee.say("five"))["action"] == "ready_to_assemble"


@pytest.mark.parametrize("fault", ["500", "401", "cut", "malformed_json", "refusal", "empty"])
async def test_guide_takes_over_after_two_model_failures(
    interviewee: Interviewee, model_server: StartModels, fault: str
):
    await connect_interviewer(interviewee.client, model_server(interview_script(TURNS, faults={1: fault})))
    await interviewee.start(STORIES)
    turn = await interviewee.choose(0)
    assert turn["action"] == "ask_question"
    assert interviewee.view["spoken_by"]["speaker"] == "guide"
    assert interviewee.view["spoken_by"]["why"]
    assert interviewee.view["preview"]["name"] == "Quill"
    await interviewee.finish()
    assert (await interviewee.create())["bot_name"] == "Quill"


async def test_speaker_can_be_switched_midway(interviewee: Interviewee, model_server: StartModels):
    server = model_server(interview_script(TURNS))
    await interviewee.start(STORIES)
    response = await interviewee.client.post(f"{interviewee.path}/speaker", json={"speaker": "model"})
    assert problem(response) == (409, "conflict")
    await connect_interviewer(interviewee.client, server)
    interviewee.view = data(
        await interviewee.client.post(f"{interviewee.path}/speaker", json={"speaker": "model"})
    )
    assert interviewee.view["spoken_by"]["speaker"] == "model"
    await interviewee.choose()
    assert server.stats().requests == 1
    interviewee.view = data(
        await interviewee.client.post(f"{interviewee.path}/speaker", json={"speaker": "guide"})
    )
    await interviewee.finish()
    assert server.stats().requests == 1


async def test_pending_model_call_can_be_cancelled(interviewee: Interviewee, model_server: StartModels):
    slow = interview_script(TURNS, faults={1: {"kind": "stall", "seconds": 60}})
    await connect_interviewer(interviewee.client, model_server(slow))
    asked = await interviewee.start(STORIES)
    waiting = asyncio.create_task(
        interviewee.client.post(f"{interviewee.path}/answer", json={"answer": {"OptionIndex": 0}})
    )
    while (await interviewee.refresh()) and interviewee.view["due"] is None:
        await asyncio.sleep(0.02)
    busy: httpx2.Response = await interviewee.client.post(
        f"{interviewee.path}/answer", json={"answer": {"OptionIndex": 1}}
    )
    assert problem(busy) == (409, "went_on")  # sent before the first answer had a response
    interviewee.view = data(await interviewee.client.post(f"{interviewee.path}/cancel"))
    assert interviewee.turn == asked
    assert interviewee.view["due"] is None
    assert (await waiting).json()["data"]["turn"] == asked


async def test_cancelled_run_does_not_block_the_interview(
    interviewee: Interviewee, model_server: StartModels
):
    slow = interview_script(TURNS, faults={1: {"kind": "stall", "seconds": 60}})
    await connect_interviewer(interviewee.client, model_server(slow))
    asked = await interviewee.start(STORIES)
    waiting = asyncio.create_task(
        interviewee.client.post(f"{interviewee.path}/answer", json={"answer": {"OptionIndex": 0}})
    )
    while not (runs := data(await interviewee.client.get("/api/v1/runs", params={"status": "running"}))):
        await asyncio.sleep(0.02)
    data(await interviewee.client.post(f"/api/v1/runs/{runs[0]['id']}/cancel"))
    assert await interviewee.refresh() == asked
    assert interviewee.view["due"] is None
    assert (await waiting).json()["data"]["turn"] == asked
