"""Skills are given to bots and taken away, each time as a version of skills.toml."""

import pytest
from tests.bots.workshop import ME, Workshop

from forge.bots.models import BotFile, BotSkillChange, NewBot, NewBotSkill
from forge.errors import Conflict, Invalid, NotFound, TooLarge


@pytest.fixture
async def shop(shop: Workshop) -> Workshop:
    await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    return shop


async def messages(shop: Workshop) -> list[str]:
    bot = await shop.bots.find(ME, "atlas")
    page = await shop.versions.history(bot, BotFile.SKILLS, cursor=None, limit=50)
    return [version.message for version in page.items]


async def text(shop: Workshop) -> str:
    return shop.file(await shop.bots.find(ME, "atlas"), BotFile.SKILLS).read_text()


async def test_a_starter_is_copied_attached_changed_and_detached(shop: Workshop):
    made = await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize", version="*"), by="Ada")
    assert (made.name, made.is_offered, made.pin) == ("summarize", True, "*")
    assert (shop.data_dir / "skills" / "summarize" / "SKILL.md").exists()
    off = await shop.bots.change_skill(ME, "atlas", "summarize", BotSkillChange(enabled=False), by="Ada")
    assert (off.enabled, off.is_offered, off.pin) == (False, False, "*")
    change = BotSkillChange(version=None, overrides={"words": "50"}, capabilities=["log"])
    free = await shop.bots.change_skill(ME, "atlas", "summarize", change, by="Ada")
    assert (free.enabled, free.pin, free.overrides, free.narrowed) == (False, None, {"words": "50"}, ["log"])
    assert await shop.bots.having(ME) == {"summarize": ["atlas"]}
    gone = await shop.bots.detach(ME, "atlas", "summarize", by="Ada")
    assert gone.name == "summarize"
    assert (await shop.bots.skills(ME, "atlas"), await shop.bots.having(ME)) == ([], {})
    assert (shop.data_dir / "skills" / "summarize" / "SKILL.md").exists()
    assert await messages(shop) == [
        "Detach summarize",
        "Change summarize: version, overrides, capabilities",
        "Disable summarize",
        "Attach summarize",
        "Created",
    ]
    assert ("atlas", "skills") in await shop.told()


async def test_a_change_that_changes_nothing_is_no_version(shop: Workshop):
    await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    await shop.bots.change_skill(ME, "atlas", "summarize", BotSkillChange(enabled=True), by="Ada")
    assert await messages(shop) == ["Attach summarize", "Created"]


async def test_what_cannot_be_attached_is_refused_and_leaves_no_trace(shop: Workshop):
    before = await text(shop)
    with pytest.raises(NotFound, match="no skill called nowhere"):
        await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="nowhere"), by="Ada")
    with pytest.raises(Invalid, match="no version and no range"):
        await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize", version="newest"), by="Ada")
    with pytest.raises(NotFound, match="has no skill called summarize"):
        await shop.bots.detach(ME, "atlas", "summarize", by="Ada")
    assert (await text(shop), await messages(shop)) == (before, ["Created"])
    await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    with pytest.raises(Conflict, match="already"):
        await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")


async def test_more_than_a_file_can_hold_is_refused_and_leaves_no_trace(shop: Workshop):
    await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    before = await text(shop)
    large = BotSkillChange(overrides={f"word{number}": "\a" * 2000 for number in range(50)})
    with pytest.raises(TooLarge, match=r"skills\.toml would have more than 200,000 characters"):
        await shop.bots.change_skill(ME, "atlas", "summarize", large, by="Ada")
    assert await text(shop) == before


async def test_one_whose_dependencies_are_missing_is_attached_and_says_so(shop: Workshop):
    folder = shop.data_dir / "skills" / "maps"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        "---\nname: maps\ndescription: Knows.\nmetadata:\n  forge-dependencies: compass\n---\nBody.\n"
    )
    made = await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="maps"), by="Ada")
    assert not made.is_offered and made.problem and "compass" in made.problem


async def test_hand_written_lines_stay(shop: Workshop):
    bot = await shop.bots.find(ME, "atlas")
    shop.file(bot, BotFile.SKILLS).write_text("# mine\n[skills.editing]\nenabled = true  # always\n")
    await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    assert (await text(shop)).startswith("# mine\n[skills.editing]\nenabled = true  # always\n\n[skills.summ")


async def test_bots_of_others_and_deleted_ones_are_not_counted(shop: Workshop):
    await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="summarize"), by="Ada")
    await shop.bots.create("somebody else", NewBot(name="Zoe"), by="Zoe")
    await shop.bots.attach("somebody else", "zoe", NewBotSkill(skill_name="summarize"), by="Zoe")
    assert await shop.bots.having(ME) == {"summarize": ["atlas"]}
    await shop.bots.delete(ME, "atlas")
    assert await shop.bots.having(ME) == {}


async def test_skills_that_do_not_get_along_are_not_given_to_one_bot(shop: Workshop):
    for name, more in (("loud", ""), ("quiet", "metadata:\n  forge-conflicts: loud\n")):
        folder = shop.data_dir / "skills" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Is {name}.\n{more}---\n\nDo it.\n")
    await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="quiet"), by="Ada")
    with pytest.raises(Conflict, match="cannot be used together with loud"):
        await shop.bots.attach(ME, "atlas", NewBotSkill(skill_name="loud"), by="Ada")
    assert await messages(shop) == ["Attach quiet", "Created"]
