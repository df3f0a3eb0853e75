"""The transcript is a recipe: what is saved of an interview is enough to make the same files again, byte for byte."""

import asyncio
from pathlib import Path

import pytest
from tests.bots.workshop import ME
from tests.interview.assembly.test_changing import altered
from tests.interview.assembly.test_skill_making import about, wanted, written
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
from forge.interview.phases import Mode
from forge.interview.remembering import entry_of
from forge.interview.replaying import replay, verify
from forge.interview.state import Speaker, State, Written
from forge.interview.writing import settings_before, soul_hash
from forge.store.engine import Store

BODY = "# Personality\n\nDry.\n\n# Purpose\n\nTo review.\n\n# Boundaries\n\n- None.\n"
NEW = {"name": "tide-tables", "description": "Read tide tables and say when to sail."}


@pytest.fixture
def bench(store: Store, tmp_path: Path) -> Workbench:
    return open_workbench(store, tmp_path / "data")


async def saved(bench: Workbench) -> State:
    """As a later process reads it."""
    return (await bench.drafts.find(ME, SESSION)).state


async def test_new_bots_are_made_again_from_what_is_saved(bench: Workbench):
    config = settings(variants=[{"name": "Ada"}, {"name": "Grace", "difference": "Brief."}], skills=[NEW])
    state = interview(Mode.BATCH, written=Written(of=soul_hash(config), by=Speaker.MODEL, soul=BODY))
    await bench.shop.bots.create(ME, NewBot(name="Grace"), by="Ada")
    others = set(bench.on_disk())
    await bench.begin(state)
    await bench.assemble(state, config)
    files = {path: text for path, text in bench.on_disk().items() if path not in others}
    again = replay(await saved(bench))
    assert contents(again) == files
    assert {path.split("/")[0] for path in files} == {"ada", "grace-2", "skills"}
    assert verify(await saved(bench), again) == []


async def test_a_change_is_made_again_whatever_the_bot_is_by_now(bench: Workbench):
    bot = await bench.shop.bots.create(ME, NewBot(name="Ada"), by="Ada")
    state = interview(Mode.RECONFIGURE, basis=await bench.assembly.basis(bot))
    await bench.begin(state)
    config = altered(settings_before(state), personality__tone="playful", tags=["sea"], skills=[NEW])
    plan = await bench.assembly.plan(ME, state, config)
    await bench.assemble(state, config)
    await asyncio.to_thread(
        bench.shop.file(bot, BotFile.IDENTITY).write_text, "---\ndisplay_name: Eve\n---\n"
    )
    again = replay(await saved(bench))
    assert again == plan
    assert verify(await saved(bench), again) == []


async def test_a_skill_is_made_again_from_what_is_saved(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    await bench.create(state, wanted(capabilities=["log"]))
    again = replay(await saved(bench))
    assert contents(again) == bench.on_disk()
    assert verify(await saved(bench), again) == []


async def test_what_is_not_as_it_was_is_named(bench: Workbench):
    state, config = interview(), settings()
    await bench.begin(state)
    await bench.assemble(state, config)
    now = await saved(bench)
    soul, *rest = replay(now)
    other = soul.model_copy(update={"content": soul.content + "more"})
    assert verify(now, [other, *rest]) == ["ada/SOUL.md"]
    assert verify(now, rest[1:]) == ["ada/IDENTITY.md", "ada/SOUL.md"]


def test_before_anything_is_made_the_files_are_those_that_would_be():
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


async def test_a_finished_interview_is_remembered_as_it_ended(bench: Workbench):
    state, config = interview(), settings(personality__tone="dry", skills=[{"name": "summarize"}])
    await bench.begin(state)
    made = await bench.assemble(state, config)
    entry = entry_of(state, made)
    assert (entry.purpose_category, entry.initial_description) == (
        "coding",
        "A bot that reviews pull requests",
    )
    assert (entry.chosen_tone, entry.chosen_model, entry.chosen_skills) == ("dry", "default", ["summarize"])
    assert (entry.bot_slug, entry.created_at) == ("ada", made.at)


async def test_a_skill_is_remembered_by_its_name(bench: Workbench):
    state = about(written())
    await bench.begin(state)
    entry = entry_of(state, await bench.create(state, wanted()))
    assert (entry.chosen_tone, entry.chosen_skills, entry.bot_slug) == (None, ["add-up"], None)
