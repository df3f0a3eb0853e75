"""Attaching and detaching skills; each change is a version of skills.toml."""

import pytest
from tests.bots.environment import ME, BotEnvironment

from forge.bots.models import BotFile, BotSkillChange, NewBot, NewBotSkill
from forge.errors import Conflict, Invalid, NotFound, TooLarge


@pytest.fixture
async def env(env: BotEnvironment) -> BotEnvironment:
    await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    return env


async def messages(env: BotEnvironment) -> list[str]:
    bot = await env.bots.find(ME, "atlas")
    page = await env.versions.history(bot, BotFile.SKILLS, cursor=None, limit=50)
    return [version.message for version in page.items]


async def text(env: BotEnvironment) -> str:
    return env.file(await env.bots.find(ME, "atlas"), BotFile.SKILLS).read_text()


async def test_starter_is_copied_attached_changed_and_detached(env: BotEnvironment):
    attached = await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize", version="*"), by="Ada")
    assert (attached.name, attached.is_offered, attached.pin) == ("summarize", True, "*")
    assert (env.data_dir / "skills" / "summarize" / "SKILL.md").exists()
    disabled = await env.bots.change_skill(ME, "atlas", "summarize", BotSkillChange(enabled=False), by="Ada")
    assert (disabled.enabled, disabled.is_offered, disabled.pin) == (False, False, "*")
    change = BotSkillChange(version=None, overrides={"words": "50"}, capabilities=["log"])
    changed = await env.bots.change_skill(ME, "atlas", "summarize", change, by="Ada")
    assert (changed.enabled, changed.pin, changed.overrides, changed.narrowed) == (
        False,
        None,
        {"words": "50"},
        ["log"],
    )
    assert await env.bots.slugs_by_skill(ME) == {"summarize": ["atlas"]}
    detached = await env.bots.detach(ME, "atlas", "summarize", by="Ada")
    assert detached.name == "summarize"
    assert (await env.bots.skills(ME, "atlas"), await env.bots.slugs_by_skill(ME)) == ([], {})
    assert (env.data_dir / "skills" / "summarize" / "SKILL.md").exists()
    assert await messages(env) == [
        "Detach summarize",
        "Change summarize: version, overrides, capabilities",
        "Disable summarize",
        "Attach summarize",
        "Created",
    ]
    assert ("atlas", "skills") in await env.notifications()


async def test_change_without_effect_creates_no_version(env: BotEnvironment):
    await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    await env.bots.change_skill(ME, "atlas", "summarize", BotSkillChange(enabled=True), by="Ada")
    assert await messages(env) == ["Attach summarize", "Created"]


async def test_failed_attach_leaves_no_trace(env: BotEnvironment):
    before = await text(env)
    with pytest.raises(NotFound, match="no skill called nowhere"):
        await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="nowhere"), by="Ada")
    with pytest.raises(Invalid, match="not a version or a version range"):
        await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize", version="newest"), by="Ada")
    with pytest.raises(NotFound, match="has no skill summarize"):
        await env.bots.detach(ME, "atlas", "summarize", by="Ada")
    assert (await text(env), await messages(env)) == (before, ["Created"])
    await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    with pytest.raises(Conflict, match="already"):
        await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")


async def test_too_large_change_is_rejected_without_effect(env: BotEnvironment):
    await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    before = await text(env)
    large = BotSkillChange(overrides={f"word{number}": "\a" * 2000 for number in range(50)})
    with pytest.raises(TooLarge, match=r"skills\.toml would have more than 200,000 characters"):
        await env.bots.change_skill(ME, "atlas", "summarize", large, by="Ada")
    assert await text(env) == before


async def test_skill_with_missing_dependencies_can_be_attached(env: BotEnvironment):
    folder = env.data_dir / "skills" / "maps"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: maps\ndescription: Knows.\nmetadata:\n  forge-dependencies: compass\n---\nBody.\n"
    )
    attached = await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="maps"), by="Ada")
    assert not attached.is_offered and attached.problem and "compass" in attached.problem


async def test_hand_written_lines_are_kept(env: BotEnvironment):
    bot = await env.bots.find(ME, "atlas")
    env.file(bot, BotFile.SKILLS).write_text("# mine\n[skills.editing]\nenabled = true  # always\n")
    await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    assert (await text(env)).startswith("# mine\n[skills.editing]\nenabled = true  # always\n\n[skills.summ")


async def test_other_accounts_and_deleted_bots_are_not_counted(env: BotEnvironment):
    await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    await env.bots.create("somebody else", NewBot(name="Zoe"), by="Zoe")
    await env.bots.attach("somebody else", "zoe", NewBotSkill(skill_name="summarize"), by="Zoe")
    assert await env.bots.slugs_by_skill(ME) == {"summarize": ["atlas"]}
    await env.bots.delete(ME, "atlas")
    assert await env.bots.slugs_by_skill(ME) == {}


async def test_conflicting_skills_are_rejected(env: BotEnvironment):
    for name, more in (("loud", ""), ("quiet", "metadata:\n  forge-conflicts: loud\n")):
        folder = env.data_dir / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Is {name}.\n{more}---\n\nDo it.\n")
    await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="quiet"), by="Ada")
    with pytest.raises(Conflict, match="cannot be used together with loud"):
        await env.bots.attach(ME, "atlas", NewBotSkill(skill_name="loud"), by="Ada")
    assert await messages(env) == ["Attach quiet", "Created"]
