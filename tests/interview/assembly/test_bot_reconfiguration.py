"""Reconfiguring bots: new versions of the same bot, without losing edits."""

import asyncio

import pytest
from tests.bots.environment import ME
from tests.interview.assembly.test_bot_files import with_changes
from tests.interview.assembly.workbench import AlreadyMade, Workbench, contents, interview, settings

from forge.bots.errors import BotBlocked
from forge.bots.models import BotFile, BotView, NewBot
from forge.errors import NotFound
from forge.interview.domain.build_config import BuilderConfig
from forge.interview.domain.config_builder import original_config
from forge.interview.domain.dialogue import Mode
from forge.interview.domain.state import Made, State
from forge.kernel.hashing import hash_text
from forge.store.database import Tx

SOUL, IDENTITY = BotFile.SOUL, BotFile.IDENTITY
NEW = {"name": "tide-tables", "description": "Read tide tables and say when to sail."}


async def start_reconfiguration(workbench: Workbench) -> tuple[BotView, State, BuilderConfig]:
    """Return a bot, an interview about it, and changed settings."""
    bot = await workbench.environment.bots.create(
        ME, NewBot(name="Ada", description="Watches tides."), by="Ada"
    )
    state = interview(Mode.RECONFIGURE, basis=await workbench.assembly.basis(bot))
    await workbench.begin(state)
    config = with_changes(
        original_config(state), personality__tone="playful", model_config__temperature=0.9, skills=[NEW]
    )
    return bot, state, config


async def test_reconfiguration_applies_the_planned_diff(workbench: Workbench):
    bot, state, config = await start_reconfiguration(workbench)
    plan = await workbench.assembly.plan(ME, state, config)
    assert [change.path for change in plan] == [
        "ada/SOUL.md",
        "ada/IDENTITY.md",
        "ada/skills.toml",
        "skills/tide-tables/SKILL.md",
    ]
    before = workbench.on_disk()
    assert [change.before for change in plan] == [before.get(change.path) for change in plan]
    assert "\n-temperature: 0.7\n+temperature: 0.9\n" in plan[1].diff
    made = await workbench.assemble(state, config)
    assert workbench.on_disk() == {**before, **contents(plan)}
    assert made.hashes == {change.path: hash_text(change.content) for change in plan}
    assert made.before == {
        path: before[path] for path in ("ada/SOUL.md", "ada/IDENTITY.md", "ada/skills.toml")
    }
    assert [(one.bot_id, one.bot_slug, one.is_new) for one in made.bots] == [(bot.id, "ada", False)]
    assert await workbench.result() == made
    [now] = await workbench.environment.bots.find_all(ME)
    assert (now.id, now.identity.temperature, now.soul_version, now.blocked) == (bot.id, 0.9, 2, None)
    version = await workbench.environment.versions.get(bot, SOUL, 2)
    assert (version.author, version.message) == ("Ada", "Reconfigured with Forge")


async def test_unchanged_settings_change_no_file(workbench: Workbench):
    _, state, _ = await start_reconfiguration(workbench)
    before = workbench.on_disk()
    made = await workbench.assemble(state, original_config(state))
    assert (made.hashes, made.before, workbench.on_disk()) == ({}, {}, before)
    assert await workbench.result() == made


async def test_failed_finish_changes_no_file(workbench: Workbench):
    bot, state, config = await start_reconfiguration(workbench)
    before = workbench.on_disk()

    async def refuse(_tx: Tx, _made: Made) -> None:
        raise AlreadyMade("Another request was faster.")

    with pytest.raises(AlreadyMade):
        await workbench.assembly.assemble(ME, state, config, by="Ada", finish=refuse)
    assert workbench.on_disk() == before
    assert (await workbench.environment.versions.state(bot, SOUL)).version == 1


async def test_failed_skill_write_changes_no_file(workbench: Workbench):
    bot, state, config = await start_reconfiguration(workbench)
    (workbench.environment.data_dir / "skills").write_text("in the way")
    before = workbench.on_disk()
    with pytest.raises(Exception, match=r"."):
        await workbench.assemble(state, config)
    assert workbench.on_disk() == before
    assert (
        await workbench.result(),
        (await workbench.environment.versions.state(bot, IDENTITY)).version,
    ) == (None, 1)


async def test_concurrent_confirmations_save_one_version(workbench: Workbench):
    bot, state, config = await start_reconfiguration(workbench)
    results = await asyncio.gather(
        *(workbench.assemble(state, config) for _ in range(3)), return_exceptions=True
    )
    assert sum(isinstance(result, Made) for result in results) == 1
    assert (await workbench.environment.versions.state(bot, SOUL)).version == 2


async def test_unaccepted_soul_blocks_reconfiguration(workbench: Workbench):
    bot, state, config = await start_reconfiguration(workbench)
    path = workbench.environment.file(bot, SOUL)
    path.write_text(path.read_text() + "\nBy hand.\n")
    for operation in (workbench.assembly.plan(ME, state, config), workbench.assemble(state, config)):
        with pytest.raises(BotBlocked) as caught:
            await operation
        assert "forge bots files accept ada" in (caught.value.hint or "")
    assert path.read_text().endswith("By hand.\n")
    assert await workbench.result() is None


async def test_concurrent_edits_are_kept_on_reconfiguration(workbench: Workbench):
    bot, state, config = await start_reconfiguration(workbench)
    path = workbench.environment.file(bot, IDENTITY)
    path.write_text(path.read_text().replace("max_tokens: 4096", "max_tokens: 1000 # enough"))
    await workbench.assemble(state, config)
    assert "max_tokens: 1000 # enough\n" in path.read_text()
    assert "temperature: 0.9\n" in path.read_text()


async def test_deleted_bot_is_not_reconfigured(workbench: Workbench):
    _, state, config = await start_reconfiguration(workbench)
    await workbench.environment.bots.delete(ME, "ada")
    with pytest.raises(NotFound):
        await workbench.assemble(state, config)
    assert "skills/tide-tables/SKILL.md" not in workbench.on_disk()


async def test_created_bot_can_be_reconfigured_repeatedly(workbench: Workbench):
    """Each change yields the same text as creating the bot with the final settings."""
    state, config = interview(), settings()
    await workbench.begin(state)
    made = await workbench.assemble(state, config)
    bot = await workbench.environment.bots.find(ME, made.bots[0].bot_id)

    async def accept(_tx: Tx, _made: Made) -> None:
        pass

    for tone in ("warm", "playful", "technical"):
        reconfiguration = interview(Mode.RECONFIGURE, basis=await workbench.assembly.basis(bot))
        config = with_changes(original_config(reconfiguration), personality__tone=tone)
        await workbench.assembly.assemble(ME, reconfiguration, config, by="Ada", finish=accept)
    assert hash_text(workbench.on_disk()["ada/SOUL.md"]) == made.hashes["ada/SOUL.md"]
    assert (await workbench.environment.versions.state(bot, SOUL)).version == 4


async def test_skill_missing_in_the_library_is_left_alone(workbench: Workbench):
    bot, _, _ = await start_reconfiguration(workbench)
    path = workbench.environment.file(bot, BotFile.SKILLS)
    path.write_text("[skills.lost-one]\nenabled = true\n")
    state = interview(Mode.RECONFIGURE, basis=await workbench.assembly.basis(bot))
    config = with_changes(original_config(state), tags=["sea"])
    await workbench.assemble(state, config)
    assert path.read_text() == "[skills.lost-one]\nenabled = true\n"
    assert not any(name.startswith("skills/") for name in workbench.on_disk())
