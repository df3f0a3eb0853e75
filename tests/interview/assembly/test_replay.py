"""Replaying recreates the files of an interview byte for byte from its saved state."""

import asyncio
from pathlib import Path

import pytest
from tests.bots.environment import ME
from tests.interview.assembly.bench import (
    SESSION,
    Workbench,
    contents,
    interview,
    open_workbench,
    settings,
)
from tests.interview.assembly.test_bot_files import altered
from tests.interview.assembly.test_skill_creation import about, wanted, written

from forge.bots.models import BotFile, NewBot
from forge.errors import Conflict
from forge.interview.assembly.replay import find_differences, replay
from forge.interview.domain.config_builder import original_config, soul_hash
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import InterviewSpeaker, State, Written
from forge.interview.service import memory_entry
from forge.store.database import Store

BODY = "# Personality\n\nDry.\n\n# Purpose\n\nTo review.\n\n# Boundaries\n\n- None.\n"
NEW = {"name": "tide-tables", "description": "Read tide tables and say when to sail."}


@pytest.fixture
def bench(store: Store, tmp_path: Path) -> Workbench:
    return open_workbench(store, tmp_path / "data")


async def saved(bench: Workbench) -> State:
    """Load the state as a later process would."""
    return (await bench.drafts.find(ME, SESSION)).state


async def test_new_bots_are_replayed_from_the_saved_state(bench: Workbench):
    config = settings(variants=[{"name": "Ada"}, {"name": "Grace", "difference": "Brief."}], skills=[NEW])
    state = interview(Mode.BATCH, written=Written(of=soul_hash(config), by=InterviewSpeaker.MODEL, soul=BODY))
    await bench.shop.bots.create(ME, NewBot(name="Grace"), by="Ada")
    others = set(bench.on_disk())
    await bench.begin(state)
    await bench.assemble(state, config)
    files = {path: text for path, text in bench.on_disk().items() if path not in others}
    again = replay(await saved(bench))
    assert contents(again) == files
    assert {path.split("/")[0] for path in files} == {"ada", "grace-2", "skills"}
    assert find_differences(await saved(bench), again) == []


async def test_reconfiguration_is_replayed_regardless_of_later_edits(bench: Workbench):
    bot = await bench.shop.bots.create(ME, NewBot(name="Ada"), by="Ada")
    state = interview(Mode.RECONFIGURE, basis=await bench.assembly.basis(bot))
    await bench.begin(state)
    config = altered(original_config(state), personality__tone="playful", tags=["sea"], skills=[NEW])
    plan = await bench.assembly.plan(ME, state, config)
    await bench.assemble(state, config)
    await asyncio.to_thread(
        bench.shop.file(bot, BotFile.IDENTITY).write_text, "---\ndisplay_name: Eve\n---\n"
    )
    again = replay(await saved(bench))
    assert again == plan
    assert find_differences(await saved(bench), again) == []


async def test_skill_is_replayed_from_the_saved_state(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    await bench.create(state, wanted(capabilities=["log"]))
    again = replay(await saved(bench))
    assert contents(again) == bench.on_disk()
    assert find_differences(await saved(bench), again) == []


async def test_differing_files_are_named(bench: Workbench):
    state, config = interview(), settings()
    await bench.begin(state)
    await bench.assemble(state, config)
    now = await saved(bench)
    soul, *rest = replay(now)
    other = soul.model_copy(update={"content": soul.content + "more"})
    assert find_differences(now, [other, *rest]) == ["ada/SOUL.md"]
    assert find_differences(now, rest[1:]) == ["ada/IDENTITY.md", "ada/SOUL.md"]


def test_replay_of_an_unfinished_interview_shows_planned_files():
    known = {"name": "Ada", "skills": [{"name": "tide-tables", "description": "Read tide tables."}]}
    state = interview(basis={"fields": known})
    assert [change.path for change in replay(state)] == [
        *(f"ada/{file.file_name}" for file in BotFile),
        "skills/tide-tables/SKILL.md",
    ]
    known = {"name": "add-up", "kind": "script", "description": "Adds two numbers."}
    assert [change.path for change in replay(about(written(), opening=known))] == [
        f"skills/add-up/{path}" for path in written().files
    ]
    with pytest.raises(Conflict):
        replay(interview(Mode.RECONFIGURE))


async def test_finished_interview_is_remembered_with_its_final_settings(bench: Workbench):
    state, config = interview(), settings(personality__tone="dry", skills=[{"name": "summarize"}])
    await bench.begin(state)
    made = await bench.assemble(state, config)
    entry = memory_entry(state, made)
    assert (entry.purpose_category, entry.initial_description) == (
        "coding",
        "A bot that reviews pull requests",
    )
    assert (entry.chosen_tone, entry.chosen_model, entry.chosen_skills) == ("dry", "default", ["summarize"])
    assert (entry.bot_slug, entry.created_at) == ("ada", made.at)


async def test_skill_is_remembered_by_its_name(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    entry = memory_entry(state, await bench.create(state, wanted()))
    assert (entry.chosen_tone, entry.chosen_skills, entry.bot_slug) == (None, ["add-up"], None)
