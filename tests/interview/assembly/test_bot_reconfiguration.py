"""Reconfiguring bots: new versions of the same bot, without losing edits."""

import asyncio

import pytest
from tests.bots.environment import ME
from tests.interview.assembly.bench import AlreadyMade, Workbench, contents, interview, settings
from tests.interview.assembly.test_bot_files import altered

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


async def begun(bench: Workbench) -> tuple[BotView, State, BuilderConfig]:
    """Return a bot, an interview about it, and changed settings."""
    bot = await bench.shop.bots.create(ME, NewBot(name="Ada", description="Watches tides."), by="Ada")
    state = interview(Mode.RECONFIGURE, basis=await bench.assembly.basis(bot))
    await bench.begin(state)
    config = altered(
        original_config(state), personality__tone="playful", model_config__temperature=0.9, skills=[NEW]
    )
    return bot, state, config


async def test_reconfiguration_applies_the_planned_diff(bench: Workbench):
    bot, state, config = await begun(bench)
    plan = await bench.assembly.plan(ME, state, config)
    assert [change.path for change in plan] == [
        "ada/SOUL.md",
        "ada/IDENTITY.md",
        "ada/skills.toml",
        "skills/tide-tables/SKILL.md",
    ]
    before = bench.on_disk()
    assert [change.before for change in plan] == [before.get(change.path) for change in plan]
    assert "\n-temperature: 0.7\n+temperature: 0.9\n" in plan[1].diff
    made = await bench.assemble(state, config)
    assert bench.on_disk() == {**before, **contents(plan)}
    assert made.hashes == {change.path: hash_text(change.content) for change in plan}
    assert made.before == {
        path: before[path] for path in ("ada/SOUL.md", "ada/IDENTITY.md", "ada/skills.toml")
    }
    assert [(one.bot_id, one.bot_slug, one.is_new) for one in made.bots] == [(bot.id, "ada", False)]
    assert await bench.ended() == made
    [now] = await bench.shop.bots.find_all(ME)
    assert (now.id, now.identity.temperature, now.soul_version, now.blocked) == (bot.id, 0.9, 2, None)
    version = await bench.shop.versions.get(bot, SOUL, 2)
    assert (version.author, version.message) == ("Ada", "Reconfigured with Forge")


async def test_unchanged_settings_change_no_file(bench: Workbench):
    _, state, _ = await begun(bench)
    before = bench.on_disk()
    made = await bench.assemble(state, original_config(state))
    assert (made.hashes, made.before, bench.on_disk()) == ({}, {}, before)
    assert await bench.ended() == made


async def test_failed_finish_changes_no_file(bench: Workbench):
    bot, state, config = await begun(bench)
    before = bench.on_disk()

    async def refuse(_tx: Tx, _made: Made) -> None:
        raise AlreadyMade("Somebody else was quicker.")

    with pytest.raises(AlreadyMade):
        await bench.assembly.assemble(ME, state, config, by="Ada", finish=refuse)
    assert bench.on_disk() == before
    assert (await bench.shop.versions.state(bot, SOUL)).version == 1


async def test_failed_skill_write_changes_no_file(bench: Workbench):
    bot, state, config = await begun(bench)
    (bench.shop.data_dir / "skills").write_text("in the way")
    before = bench.on_disk()
    with pytest.raises(Exception, match=r"."):
        await bench.assemble(state, config)
    assert bench.on_disk() == before
    assert (await bench.ended(), (await bench.shop.versions.state(bot, IDENTITY)).version) == (None, 1)


async def test_concurrent_confirmations_save_one_version(bench: Workbench):
    bot, state, config = await begun(bench)
    results = await asyncio.gather(*(bench.assemble(state, config) for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(result, Made) for result in results) == 1
    assert (await bench.shop.versions.state(bot, SOUL)).version == 2


async def test_unaccepted_soul_blocks_reconfiguration(bench: Workbench):
    bot, state, config = await begun(bench)
    path = bench.shop.file(bot, SOUL)
    path.write_text(path.read_text() + "\nBy hand.\n")
    for doing in (bench.assembly.plan(ME, state, config), bench.assemble(state, config)):
        with pytest.raises(BotBlocked) as caught:
            await doing
        assert "forge bots files accept ada" in (caught.value.hint or "")
    assert path.read_text().endswith("By hand.\n")
    assert await bench.ended() is None


async def test_concurrent_edits_are_kept_on_reconfiguration(bench: Workbench):
    bot, state, config = await begun(bench)
    path = bench.shop.file(bot, IDENTITY)
    path.write_text(path.read_text().replace("max_tokens: 4096", "max_tokens: 1000 # enough"))
    await bench.assemble(state, config)
    assert "max_tokens: 1000 # enough\n" in path.read_text()
    assert "temperature: 0.9\n" in path.read_text()


async def test_deleted_bot_is_not_reconfigured(bench: Workbench):
    _, state, config = await begun(bench)
    await bench.shop.bots.delete(ME, "ada")
    with pytest.raises(NotFound):
        await bench.assemble(state, config)
    assert "skills/tide-tables/SKILL.md" not in bench.on_disk()


async def test_created_bot_can_be_reconfigured_repeatedly(bench: Workbench):
    """Each change yields the same text as creating the bot with the final settings."""
    state, config = interview(), settings()
    await bench.begin(state)
    made = await bench.assemble(state, config)
    bot = await bench.shop.bots.find(ME, made.bots[0].bot_id)

    async def end(_tx: Tx, _made: Made) -> None:
        pass

    for tone in ("warm", "playful", "technical"):
        changing = interview(Mode.RECONFIGURE, basis=await bench.assembly.basis(bot))
        wanted = altered(original_config(changing), personality__tone=tone)
        await bench.assembly.assemble(ME, changing, wanted, by="Ada", finish=end)
    assert hash_text(bench.on_disk()["ada/SOUL.md"]) == made.hashes["ada/SOUL.md"]
    assert (await bench.shop.versions.state(bot, SOUL)).version == 4


async def test_skill_missing_in_the_library_is_left_alone(bench: Workbench):
    bot, _, _ = await begun(bench)
    path = bench.shop.file(bot, BotFile.SKILLS)
    path.write_text("[skills.lost-one]\nenabled = true\n")
    state = interview(Mode.RECONFIGURE, basis=await bench.assembly.basis(bot))
    config = altered(original_config(state), tags=["sea"])
    await bench.assemble(state, config)
    assert path.read_text() == "[skills.lost-one]\nenabled = true\n"
    assert not any(name.startswith("skills/") for name in bench.on_disk())
