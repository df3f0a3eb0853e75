"""Creating bots: exactly as planned, once, all or nothing."""

import asyncio

import pytest
from tests.bots.environment import ME
from tests.interview.assembly.workbench import (
    SESSION,
    AlreadyMade,
    Workbench,
    contents,
    interview,
    settings,
)

from forge.bots.models import BotFile, NewBot
from forge.errors import ForgeError
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Made
from forge.kernel.hashing import hash_text
from forge.store.database import Tx

NEW = {"name": "tide-tables", "description": "Read tide tables and say when to sail."}
SKILLS = [{"name": "code-review"}, NEW]


async def test_created_files_match_the_plan(workbench: Workbench):
    state, config = interview(), settings(skills=SKILLS)
    await workbench.begin(state)
    plan = await workbench.assembly.plan(ME, state, config)
    assert [change.path for change in plan] == [
        *(f"ada/{file.file_name}" for file in BotFile),
        "skills/tide-tables/SKILL.md",
    ]
    assert workbench.on_disk() == {}
    made = await workbench.assemble(state, config)
    files = workbench.on_disk()
    starter = files.pop("skills/code-review/SKILL.md")
    assert starter == (await workbench.library.read("code-review")).files["SKILL.md"]
    assert files == contents(plan)
    assert made.hashes == {path: hash_text(text) for path, text in files.items()}
    assert made.config == config.model_dump(mode="json")
    assert await workbench.result() == made
    [bot] = made.bots
    view = await workbench.environment.bots.view(ME, bot.bot_id)
    assert (view.slug, view.blocked, view.identity.temperature) == (bot.bot_slug, None, 0.2)
    assert (bot.bot_name, bot.skills_attached, bot.is_new) == ("Ada", ["code-review", "tide-tables"], True)
    assert bot.soul_path == str(workbench.environment.data_dir / "bots" / "ada" / "SOUL.md")
    skills = await workbench.environment.bots.skills(ME, "ada")
    assert [(skill.name, skill.problem) for skill in skills] == [("code-review", None), ("tide-tables", None)]


async def test_plan_shows_the_numbered_slug_of_a_taken_name(workbench: Workbench):
    await workbench.environment.bots.create(ME, NewBot(name="Ada"), by="Ada")
    state, config = interview(Mode.BATCH), settings(variants=[{"name": "Ada!"}, {"name": "ada?"}])
    await workbench.begin(state)
    plan = await workbench.assembly.plan(ME, state, config)
    made = await workbench.assemble(state, config)
    assert [bot.bot_slug for bot in made.bots] == ["ada-2", "ada-3"]
    assert list(made.hashes) == [change.path for change in plan]


async def test_concurrent_confirmations_create_one_bot(workbench: Workbench):
    state, config = interview(), settings(skills=SKILLS)
    await workbench.begin(state)
    results = await asyncio.gather(
        *(workbench.assemble(state, config) for _ in range(4)), return_exceptions=True
    )
    made = [result for result in results if isinstance(result, Made)]
    assert len(made) == 1
    assert {type(result) for result in results} == {Made, AlreadyMade}
    assert [bot.slug for bot in await workbench.environment.bots.find_all(ME)] == ["ada"]
    assert set(workbench.on_disk()) == {*made[0].hashes, "skills/code-review/SKILL.md"}


async def test_failed_finish_leaves_no_bot(workbench: Workbench):
    async def refuse(_tx: Tx, _made: Made) -> None:
        raise AlreadyMade("Another request was faster.")

    with pytest.raises(AlreadyMade):
        await workbench.assembly.assemble(ME, interview(), settings(skills=SKILLS), by="Ada", finish=refuse)
    assert workbench.on_disk() == {}
    assert await workbench.environment.bots.find_all(ME) == []


async def test_new_skills_are_removed_when_the_folder_fails(workbench: Workbench):
    await workbench.begin(interview())
    await workbench.library.ensure_stored("summarize")
    (workbench.environment.data_dir / "bots").write_text("in the way")
    config = settings(skills=[*SKILLS, {"name": "summarize"}])
    with pytest.raises((ForgeError, OSError)):
        await workbench.assemble(interview(), config)
    assert set(workbench.on_disk()) == {"skills/summarize/SKILL.md", "bots"}
    assert (await workbench.result(), await workbench.environment.bots.find_all(ME)) == (None, [])


async def test_failed_skill_write_leaves_no_bot(workbench: Workbench):
    await workbench.begin(interview())
    workbench.environment.data_dir.mkdir(parents=True)
    (workbench.environment.data_dir / "skills").write_text("in the way")
    with pytest.raises((ForgeError, OSError)):
        await workbench.assemble(interview(), settings(skills=SKILLS))
    assert workbench.on_disk() == {"skills": "in the way"}
    assert (await workbench.result(), await workbench.environment.bots.find_all(ME)) == (None, [])


async def test_failed_bot_of_a_batch_leaves_no_bots(workbench: Workbench):
    """The folder of the second bot exists and cannot be moved away, because the trash is a file."""
    await workbench.begin(interview(Mode.BATCH))
    bots = workbench.environment.data_dir / "bots"
    (bots / "grace").mkdir(parents=True)
    (bots / ".trash").write_text("in the way")
    with pytest.raises((ForgeError, OSError)):
        await workbench.assemble(
            interview(Mode.BATCH), settings(variants=[{"name": "Ada"}, {"name": "Grace"}], skills=SKILLS)
        )
    assert await workbench.environment.bots.find_all(ME) == []
    assert await workbench.result() is None
    assert "skills/tide-tables/SKILL.md" not in workbench.on_disk()


async def test_invalid_soul_leaves_no_bot(workbench: Workbench):
    state = interview(basis={"soul": "---\nname: [\n---\n"})
    await workbench.begin(state)
    with pytest.raises(ForgeError, match=r"SOUL\.md, line"):
        await workbench.assemble(state, settings())
    assert (await workbench.result(), workbench.on_disk()) == (None, {})
    assert (await workbench.drafts.find(ME, SESSION)).state == state
