"""Replaying recreates the files of an interview byte for byte from its saved state."""

import asyncio
from pathlib import Path

import pytest
from tests.bots.environment import ME
from tests.interview.assembly.test_bot_files import with_changes
from tests.interview.assembly.test_skill_creation import skill_files, skill_interview, skill_request
from tests.interview.assembly.workbench import (
    SESSION,
    Workbench,
    contents,
    interview,
    open_workbench,
    settings,
)

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
def workbench(store: Store, tmp_path: Path) -> Workbench:
    return open_workbench(store, tmp_path / "data")


async def load_state(workbench: Workbench) -> State:
    """Load the state as a later process would."""
    return (await workbench.drafts.find(ME, SESSION)).state


async def test_new_bots_are_replayed_from_the_saved_state(workbench: Workbench):
    config = settings(variants=[{"name": "Ada"}, {"name": "Grace", "difference": "Brief."}], skills=[NEW])
    state = interview(Mode.BATCH, written=Written(of=soul_hash(config), by=InterviewSpeaker.MODEL, soul=BODY))
    await workbench.environment.bots.create(ME, NewBot(name="Grace"), by="Ada")
    others = set(workbench.on_disk())
    await workbench.begin(state)
    await workbench.assemble(state, config)
    files = {path: text for path, text in workbench.on_disk().items() if path not in others}
    replayed = replay(await load_state(workbench))
    assert contents(replayed) == files
    assert {path.split("/")[0] for path in files} == {"ada", "grace-2", "skills"}
    assert find_differences(await load_state(workbench), replayed) == []


async def test_reconfiguration_is_replayed_regardless_of_later_edits(workbench: Workbench):
    bot = await workbench.environment.bots.create(ME, NewBot(name="Ada"), by="Ada")
    state = interview(Mode.RECONFIGURE, basis=await workbench.assembly.basis(bot))
    await workbench.begin(state)
    config = with_changes(original_config(state), personality__tone="playful", tags=["sea"], skills=[NEW])
    plan = await workbench.assembly.plan(ME, state, config)
    await workbench.assemble(state, config)
    await asyncio.to_thread(
        workbench.environment.file(bot, BotFile.IDENTITY).write_text, "---\ndisplay_name: Eve\n---\n"
    )
    replayed = replay(await load_state(workbench))
    assert replayed == plan
    assert find_differences(await load_state(workbench), replayed) == []


async def test_skill_is_replayed_from_the_saved_state(workbench: Workbench):
    state = skill_interview(skill_files())
    await workbench.begin(state)
    await workbench.create(state, skill_request(capabilities=["log"]))
    replayed = replay(await load_state(workbench))
    assert contents(replayed) == workbench.on_disk()
    assert find_differences(await load_state(workbench), replayed) == []


async def test_differing_files_are_named(workbench: Workbench):
    state, config = interview(), settings()
    await workbench.begin(state)
    await workbench.assemble(state, config)
    now = await load_state(workbench)
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
    assert [change.path for change in replay(skill_interview(skill_files(), opening=known))] == [
        f"skills/add-up/{path}" for path in skill_files().files
    ]
    with pytest.raises(Conflict):
        replay(interview(Mode.RECONFIGURE))


async def test_finished_interview_is_remembered_with_its_final_settings(workbench: Workbench):
    state, config = interview(), settings(personality__tone="dry", skills=[{"name": "summarize"}])
    await workbench.begin(state)
    made = await workbench.assemble(state, config)
    entry = memory_entry(state, made)
    assert (entry.purpose_category, entry.initial_description) == (
        "coding",
        "A bot that reviews pull requests",
    )
    assert (entry.chosen_tone, entry.chosen_model, entry.chosen_skills) == ("dry", "default", ["summarize"])
    assert (entry.bot_slug, entry.created_at) == ("ada", made.at)


async def test_skill_is_remembered_by_its_name(workbench: Workbench):
    state = skill_interview(skill_files())
    await workbench.begin(state)
    entry = memory_entry(state, await workbench.create(state, skill_request()))
    assert (entry.chosen_tone, entry.chosen_skills, entry.bot_slug) == (None, ["add-up"], None)
