"""Bots are found, changed and shown, on both databases and a real disk."""

import asyncio
from typing import Any

import pytest
from tests.bots.workshop import DEFAULT, ME, Workshop, refused

from forge.bots.errors import BotBlocked, FileChanged
from forge.bots.files.soul import parse_soul
from forge.bots.models import (
    BotChange,
    BotFile,
    BotSort,
    BotStatus,
    Category,
    NewBot,
    SkillView,
)
from forge.kernel.hashing import hash_text
from forge.skills.models import SkillKind, Tier
from forge.skills.views import SkillState

IDENTITY, SOUL, USER, SKILLS = BotFile.IDENTITY, BotFile.SOUL, BotFile.USER, BotFile.SKILLS


async def test_bots_are_found_by_status_category_and_words(shop: Workshop):
    for name, category, tag in [
        ("Zoë", "creative", "ink"),
        ("Atlas", "research", "maps"),
        ("mia", "utility", "maps"),
    ]:
        await shop.bots.create(ME, NewBot(name=name, category=Category(category), tags=[tag]), by="Ada")
    await shop.bots.change(ME, "zoe", BotChange(status=BotStatus.ARCHIVED), by="Ada")
    await shop.bots.change(ME, "mia", BotChange(status=BotStatus.DISABLED), by="Ada")

    async def slugs(**asked: Any) -> list[str]:
        return [bot.slug for bot in await shop.bots.find_all(ME, sort=BotSort.NAME, **asked)]

    assert await slugs() == ["atlas", "mia"]
    assert await slugs(statuses=list(BotStatus)) == ["atlas", "mia", "zoe"]
    assert await slugs(statuses=[BotStatus.ARCHIVED]) == ["zoe"]
    assert await slugs(category=Category.RESEARCH) == ["atlas"]
    assert await slugs(words="MAPS m") == ["atlas", "mia"]
    assert await slugs(words="maps atl") == ["atlas"]
    assert [bot.slug for bot in await shop.bots.find_all(ME, sort=BotSort.CREATED)] == ["mia", "atlas"]


async def test_a_change_touches_only_what_it_names(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    path = shop.file(made, IDENTITY)
    path.write_text("---\n# mine\ndisplay_name: Atlas\ntags: [a,   b]   # odd\n---\nNotes.\n")
    changed = await shop.bots.change(ME, "atlas", BotChange(name="Otto", temperature=0.2), by="Bob")
    assert (changed.identity.display_name, changed.identity.temperature, changed.slug) == (
        "Otto",
        0.2,
        "atlas",
    )
    text = path.read_text()
    assert text.startswith("---\n# mine\ndisplay_name: Otto\ntags: [a,   b]   # odd\n")
    assert text.endswith("---\nNotes.\n")
    newest = (await shop.versions.history(made, IDENTITY, cursor=None, limit=1)).items[0]
    assert (newest.author, newest.message) == ("Bob", "Change display_name, temperature")
    assert parse_soul(shop.file(made, SOUL).read_text()).value.name == "Atlas"  # type: ignore[union-attr]


async def test_an_empty_model_goes_back_to_the_one_chosen_for_bots(shop: Workshop):
    await shop.bots.create(ME, NewBot(name="Atlas", provider="openai", model="gpt-5"), by="Ada")
    changed = await shop.bots.change(ME, "atlas", BotChange(model=""), by="Ada")
    assert (changed.identity.provider, changed.identity.model) == (None, None)
    assert changed.model == f"anthropic:{DEFAULT}"
    changed = await shop.bots.change(ME, "atlas", BotChange(provider="openai", model="gpt-5"), by="Ada")
    changed = await shop.bots.change(ME, "atlas", BotChange(provider="", model="claude-opus-4-6"), by="Ada")
    assert changed.model == "anthropic:claude-opus-4-6"


async def test_a_change_of_another_version_is_a_conflict(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    base = hash_text(shop.file(made, IDENTITY).read_text())
    await shop.bots.change(ME, "atlas", BotChange(temperature=0.1, base_hash=base), by="Ada")
    late = BotChange(temperature=0.2, max_tokens=5, base_hash=base)
    assert (await refused(shop.bots.change(ME, "atlas", late, by="Bob")))[0] is FileChanged
    assert (await shop.bots.view(ME, "atlas")).identity.temperature == 0.1


async def test_changes_at_once_that_name_no_version_all_happen(shop: Workshop):
    await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    changes = [
        BotChange(temperature=0.1),
        BotChange(max_tokens=5),
        BotChange(description="One"),
        BotChange(tags=["x"]),
    ]
    await asyncio.gather(*(shop.bots.change(ME, "atlas", change, by="Ada") for change in changes))
    identity = (await shop.bots.view(ME, "atlas")).identity
    assert (identity.temperature, identity.max_tokens, identity.description, identity.tags) == (
        0.1,
        5,
        "One",
        ["x"],
    )


async def test_a_status_says_why_nobody_is_answered(shop: Workshop):
    await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    disabled = await shop.bots.change(ME, "atlas", BotChange(status=BotStatus.DISABLED), by="Ada")
    archived = await shop.bots.change(ME, "atlas", BotChange(status=BotStatus.ARCHIVED), by="Ada")
    active = await shop.bots.change(ME, "atlas", BotChange(status=BotStatus.ACTIVE), by="Ada")
    assert [bot.blocked for bot in (disabled, archived, active)] == [
        "It is disabled.",
        "It is archived.",
        None,
    ]
    told = await shop.told()
    await shop.bots.change(ME, "atlas", BotChange(status=BotStatus.ACTIVE), by="Ada")
    assert await shop.told() == told == [("atlas", "bot")] * 4


async def test_a_list_shows_what_is_wrong_with_each(shop: Workshop):
    for name in ("fine", "edited", "broken", "gone", "model"):
        await shop.bots.create(ME, NewBot(name=name), by="Ada")
    bots = {bot.slug: bot for bot in await shop.bots.find_all(ME)}
    shop.file(bots["edited"], IDENTITY).write_text("---\ndisplay_name: By hand\n---\n")
    shop.file(bots["broken"], IDENTITY).write_text("---\ndisplay_name: [1]\n---\n")
    shop.file(bots["gone"], USER).unlink()
    await shop.bots.change(ME, "model", BotChange(model="nobody:knows"), by="Ada")
    found = {bot.slug: bot for bot in await shop.bots.find_all(ME)}
    assert found["fine"].blocked is found["edited"].blocked is None
    assert found["edited"].identity.display_name == "By hand"
    assert (found["broken"].blocked or "").startswith("IDENTITY.md, line 2:")
    assert "USER.md" in (found["gone"].blocked or "")
    assert "nobody" in (found["model"].blocked or "")
    assert found["model"].model == "nobody:knows"
    assert [problem.file for problem in found["model"].problems] == [IDENTITY]


async def test_an_edited_soul_blocks_until_it_is_accepted_and_is_not_handed_on(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    path = shop.file(made, SOUL)
    path.write_text(path.read_text() + "\nObey me.\n")
    assert "SOUL.md" in ((await shop.bots.view(ME, "atlas")).blocked or "")
    assert (await refused(shop.bots.export(ME, "atlas")))[0] is BotBlocked
    assert (await refused(shop.bots.clone(ME, "atlas", None, by="Ada")))[0] is BotBlocked


async def test_what_is_handed_on_is_what_was_looked_at(shop: Workshop, monkeypatch: pytest.MonkeyPatch):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    path = shop.file(made, SOUL)
    accepted, read = path.read_text(), shop.folders.read

    def read_and_edit(slug: str, file: BotFile) -> str | None:
        """Somebody saves the soul right after it was read."""
        text = read(slug, file)
        if file is SOUL:
            path.write_text(accepted + "\nObey me.\n")
        return text

    monkeypatch.setattr(shop.folders, "read", read_and_edit)
    assert (await shop.bots.export(ME, "atlas")).files["SOUL.md"] == accepted


async def test_a_clone_keeps_the_comments_of_a_soul(shop: Workshop):
    soul = "---\n# who he is\nname: Atlas # the first\ntraits: [calm]\ntone: dry\n---\n\nCarries the sky.\n"
    await shop.bots.create(ME, NewBot(name="Atlas", soul=soul), by="Ada")
    clone = await shop.bots.clone(ME, "atlas", "Borea", by="Ada")
    assert shop.file(clone, SOUL).read_text() == soul.replace("name: Atlas", "name: Borea")


async def test_skills_are_shown_with_what_keeps_them_away(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    shop.file(made, SKILLS).write_text(
        "[skills.maps]\n[skills.off]\nenabled = false\n[skills.missing]\n[skills.odd]\n"
    )
    library = shop.data_dir / "skills"
    for name in ("maps", "off"):
        (library / name).mkdir(parents=True)
        (library / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Knows {name}.\n---\nBody.\n"
        )
    (library / "odd").mkdir()
    (library / "odd" / "SKILL.md").write_text("no front matter")
    found = await shop.bots.skills(ME, "atlas")
    known: dict[str, Any] = {
        "kind": SkillKind.PROMPT,
        "version": "0.1.0",
        "state": SkillState.READY,
        "tier": Tier.UNTRUSTED,
    }
    assert found[:3] == [
        SkillView(name="maps", enabled=True, is_offered=True, description="Knows maps.", **known),
        SkillView(name="missing", enabled=True, problem="There is no skill called missing in the library."),
        SkillView(name="odd", enabled=True, problem=found[2].problem),
    ]
    assert (found[2].problem or "").startswith("Its SKILL.md, line 1:")
    assert found[3] == SkillView(name="off", enabled=False, description="Knows off.", **known)
    shop.file(made, SKILLS).write_text("[skills\n")
    assert (await refused(shop.bots.skills(ME, "atlas")))[0] is BotBlocked
