"""Fifty interviews: every purpose and mode, going back, and a model with every kind of fault."""

import asyncio
import random
import re
from pathlib import Path
from typing import Any

import pytest
from tests.support.chat_client import data
from tests.support.interview_client import BUILDER, Interviewee, connect_interviewer
from tests.support.interview_scripts import NAME, POSITION, SOUL, ask, option, ready
from tests.support.live_forge import live, settings_for
from tests.support.models import StartModels

PURPOSES = (
    "Remind me of birthdays",
    "Analyze our sales data and write a report",
    "Write poems for every occasion",
    "Review the code of pull requests",
    "Research papers and name the sources",
    "Answer the tickets of our customers",
    "Talk with my plants",
)
MODES = ("bot", "bot", "skill", "batch", "reconfigure")
BOTS = {"bot": 1, "skill": 0, "batch": 2, "reconfigure": 1}
FAULTS: tuple[Any, ...] = (
    None,
    "back",
    "400",
    "500",
    "cut",
    "refusal",
    "malformed_json",
    "wrong_types",
    "empty",
    {"kind": "529", "times": 1},
    "guide",
)
QUESTIONS = [
    NAME,
    ask("How?", option("Gently", "gentle"), option("Wildly", "wild"), field="tone", phase="personality"),
    ready(purpose="Help me every day."),
]
SKILL = {"body": "# Count words\n\nCount them and say the number.\n", "capabilities": []}


def skill_questions(number: int) -> list[dict[str, Any]]:
    names = f"word-count-{number}", f"tally-{number}"
    kinds = option("Instructions", "prompt"), option("A script", "script")
    return [
        ask("Its name?", *names, field="name", phase="basics"),
        ask("What kind?", *kinds, field="kind", phase="model"),
        ready(description="Counts words when somebody asks how long a text is."),
    ]


def script() -> dict[str, Any]:
    """Build a script for each interview, found by its number; each has its own fault at the second turn."""
    scenes: dict[str, Any] = {
        "soul": {"match": {"system": "^You write the soul of a bot"}, "turns": [{"text": SOUL}]},
        "skill": {"match": {"system": "^You write a skill"}, "turns": [{"tools": [{"answer": SKILL}]}]},
    }
    for number in range(50):
        questions = skill_questions(number) if mode_of(number) == "skill" else QUESTIONS
        turns: list[dict[str, Any]] = [{"tools": [{"answer": turn}]} for turn in questions]
        if (fault := fault_of(number)) not in (None, "back", "guide"):
            turns[1]["fault"] = fault
        match = {"system": "^You are Forge", "opening": rf"\bcase {number}\b"}
        scenes[f"case {number}"] = {"match": match, "turns": turns, "position": POSITION}
    return {"scenes": scenes}


def mode_of(number: int) -> str:
    return MODES[number % len(MODES)]


def fault_of(number: int) -> Any:
    return FAULTS[number % len(FAULTS)]


async def interview(interviewee: Interviewee, number: int) -> dict[str, Any]:
    mode = mode_of(number)
    more: dict[str, Any] = {"mode": mode}
    if mode == "batch":
        more["variants"] = 2
    if mode == "reconfigure":
        bot = data(await interviewee.client.post("/api/v1/bots", json={"name": f"Old {number}"}))
        more["bot_slug"] = bot["slug"]
    if fault_of(number) == "guide":
        more["speaker"] = "guide"
    await interviewee.start(f"{PURPOSES[number % len(PURPOSES)]}, case {number}", **more)
    if fault_of(number) == "back":
        await go_back_and_repeat(interviewee)
    ending = await interviewee.finish()
    assert ending["action"].startswith("ready_to_")
    made = await interviewee.create()
    replayed = data(await interviewee.client.get(f"{interviewee.path}/replay"))
    assert replayed["differs"] == []
    return made


async def go_back_and_repeat(interviewee: Interviewee) -> None:
    first = interviewee.turn
    await answer_turn(interviewee)
    second = interviewee.turn
    assert await interviewee.back() == first
    await answer_turn(interviewee)
    assert interviewee.turn == second


async def answer_turn(interviewee: Interviewee) -> None:
    if interviewee.turn["action"] == "show_preview":
        await interviewee.answer({"Confirm": True})
    elif interviewee.turn["action"] == "clarify":
        await interviewee.say("It helps me every day")
    else:
        await interviewee.choose()


@pytest.mark.timeout(1500)
async def test_fifty_interviews_reach_the_end(
    tmp_path: Path, model_server: StartModels, thorough: bool, chance: random.Random
):
    numbers = range(50) if thorough else chance.sample(range(50), 12)
    database = f"sqlite:///{tmp_path / 'forge.db'}"
    async with live(settings_for(tmp_path / "data", database)) as running, running.client() as client:
        await connect_interviewer(client, model_server(script()))
        limit = asyncio.Semaphore(4)

        async def run_interview(number: int) -> dict[str, Any]:
            async with limit:
                return await interview(Interviewee(client), number)

        made = await asyncio.gather(*(run_interview(number) for number in numbers))
        slugs = [bot["bot_slug"] for result in made for bot in result["bots"]]
        skills = {result["skill"]["name"] for result in made if result["skill"]}
        assert len(slugs) == len(set(slugs)) == sum(BOTS[mode_of(number)] for number in numbers)
        assert all(re.fullmatch(r"[a-z0-9-]+", name) for name in skills)
        assert data(await client.get(f"{BUILDER}/drafts")) == []
        for bot in data(await client.get("/api/v1/bots")):
            assert bot["problems"] == [], bot
