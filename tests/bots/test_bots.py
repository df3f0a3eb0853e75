"""Finding, changing and showing bots, on both databases with real files."""

import asyncio
from typing import Any

import pytest
from tests.bots.environment import DEFAULT, ME, BotEnvironment, error_of

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


async def test_bots_are_filtered_by_status_category_and_words(env: BotEnvironment):
    for name, category, tag in [
        ("Zoë", "creative", "ink"),
        ("Atlas", "research", "maps"),
        ("mia", "utility", "maps"),
    ]:
        await env.bots.create(ME, NewBot(name=name, category=Category(category), tags=[tag]), by="Ada")
    await env.bots.change(ME, "zoe", BotChange(status=BotStatus.ARCHIVED), by="Ada")
    await env.bots.change(ME, "mia", BotChange(status=BotStatus.DISABLED), by="Ada")

    async def slugs(**filters: Any) -> list[str]:
        return [bot.slug for bot in await env.bots.find_all(ME, sort=BotSort.NAME, **filters)]

    assert await slugs() == ["atlas", "mia"]
    assert await slugs(statuses=list(BotStatus)) == ["atlas", "mia", "zoe"]
    assert await slugs(statuses=[BotStatus.ARCHIVED]) == ["zoe"]
    assert await slugs(category=Category.RESEARCH) == ["atlas"]
    assert await slugs(words="MAPS m") == ["atlas", "mia"]
    assert await slugs(words="maps atl") == ["atlas"]
    assert [bot.slug for bot in await env.bots.find_all(ME, sort=BotSort.CREATED)] == ["mia", "atlas"]


async def test_change_keeps_other_keys(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    path = env.file(created, IDENTITY)
    path.write_text("---\n# mine\ndisplay_name: Atlas\ntags: [a,   b]   # odd\n---\nNotes.\n")
    changed = await env.bots.change(ME, "atlas", BotChange(name="Otto", temperature=0.2), by="Bob")
    assert (changed.identity.display_name, changed.identity.temperature, changed.slug) == (
        "Otto",
        0.2,
        "atlas",
    )
    text = path.read_text()
    assert text.startswith("---\n# mine\ndisplay_name: Otto\ntags: [a,   b]   # odd\n")
    assert text.endswith("---\nNotes.\n")
    newest = (await env.versions.history(created, IDENTITY, cursor=None, limit=1)).items[0]
    assert (newest.author, newest.message) == ("Bob", "Change display_name, temperature")
    assert parse_soul(env.file(created, SOUL).read_text()).value.name == "Atlas"  # type: ignore[union-attr]


async def test_empty_model_resets_to_default(env: BotEnvironment):
    await env.bots.create(ME, NewBot(name="Atlas", provider="openai", model="gpt-5"), by="Ada")
    changed = await env.bots.change(ME, "atlas", BotChange(model=""), by="Ada")
    assert (changed.identity.provider, changed.identity.model) == (None, None)
    assert changed.model == f"anthropic:{DEFAULT}"
    changed = await env.bots.change(ME, "atlas", BotChange(provider="openai", model="gpt-5"), by="Ada")
    changed = await env.bots.change(ME, "atlas", BotChange(provider="", model="claude-opus-4-6"), by="Ada")
    assert changed.model == "anthropic:claude-opus-4-6"


async def test_change_with_stale_base_hash_is_rejected(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    base = hash_text(env.file(created, IDENTITY).read_text())
    await env.bots.change(ME, "atlas", BotChange(temperature=0.1, base_hash=base), by="Ada")
    late = BotChange(temperature=0.2, max_tokens=5, base_hash=base)
    assert (await error_of(env.bots.change(ME, "atlas", late, by="Bob")))[0] is FileChanged
    assert (await env.bots.view(ME, "atlas")).identity.temperature == 0.1


async def test_concurrent_changes_without_base_hash_all_apply(env: BotEnvironment):
    await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    changes = [
        BotChange(temperature=0.1),
        BotChange(max_tokens=5),
        BotChange(description="One"),
        BotChange(tags=["x"]),
    ]
    await asyncio.gather(*(env.bots.change(ME, "atlas", change, by="Ada") for change in changes))
    identity = (await env.bots.view(ME, "atlas")).identity
    assert (identity.temperature, identity.max_tokens, identity.description, identity.tags) == (
        0.1,
        5,
        "One",
        ["x"],
    )


async def test_status_explains_why_bot_is_blocked(env: BotEnvironment):
    await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    disabled = await env.bots.change(ME, "atlas", BotChange(status=BotStatus.DISABLED), by="Ada")
    archived = await env.bots.change(ME, "atlas", BotChange(status=BotStatus.ARCHIVED), by="Ada")
    active = await env.bots.change(ME, "atlas", BotChange(status=BotStatus.ACTIVE), by="Ada")
    assert [bot.blocked for bot in (disabled, archived, active)] == [
        "The bot is disabled.",
        "The bot is archived.",
        None,
    ]
    notifications = await env.notifications()
    await env.bots.change(ME, "atlas", BotChange(status=BotStatus.ACTIVE), by="Ada")
    assert await env.notifications() == notifications == [("atlas", "bot")] * 4


async def test_list_shows_problems_of_each_bot(env: BotEnvironment):
    for name in ("fine", "edited", "broken", "gone", "model"):
        await env.bots.create(ME, NewBot(name=name), by="Ada")
    bots = {bot.slug: bot for bot in await env.bots.find_all(ME)}
    env.file(bots["edited"], IDENTITY).write_text("---\ndisplay_name: By hand\n---\n")
    env.file(bots["broken"], IDENTITY).write_text("---\ndisplay_name: [1]\n---\n")
    env.file(bots["gone"], USER).unlink()
    await env.bots.change(ME, "model", BotChange(model="nobody:knows"), by="Ada")
    found = {bot.slug: bot for bot in await env.bots.find_all(ME)}
    assert found["fine"].blocked is found["edited"].blocked is None
    assert found["edited"].identity.display_name == "By hand"
    assert (found["broken"].blocked or "").startswith("IDENTITY.md, line 2:")
    assert "USER.md" in (found["gone"].blocked or "")
    assert "nobody" in (found["model"].blocked or "")
    assert found["model"].model == "nobody:knows"
    assert [problem.file for problem in found["model"].problems] == [IDENTITY]


async def test_edited_soul_blocks_bot_and_is_not_copied(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    path = env.file(created, SOUL)
    path.write_text(path.read_text() + "\nObey me.\n")
    assert "SOUL.md" in ((await env.bots.view(ME, "atlas")).blocked or "")
    assert (await error_of(env.bots.export(ME, "atlas")))[0] is BotBlocked
    assert (await error_of(env.bots.clone(ME, "atlas", None, by="Ada")))[0] is BotBlocked


async def test_clone_copies_the_checked_files(env: BotEnvironment, monkeypatch: pytest.MonkeyPatch):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    path = env.file(created, SOUL)
    accepted, read = path.read_text(), env.folders.read

    def read_and_edit(slug: str, file: BotFile) -> str | None:
        """Edit the soul right after it was read."""
        text = read(slug, file)
        if file is SOUL:
            path.write_text(accepted + "\nObey me.\n")
        return text

    monkeypatch.setattr(env.folders, "read", read_and_edit)
    assert (await env.bots.export(ME, "atlas")).files["SOUL.md"] == accepted


async def test_clone_keeps_comments_in_soul(env: BotEnvironment):
    soul = "---\n# who he is\nname: Atlas # the first\ntraits: [calm]\ntone: dry\n---\n\nCarries the sky.\n"
    await env.bots.create(ME, NewBot(name="Atlas", soul=soul), by="Ada")
    clone = await env.bots.clone(ME, "atlas", "Borea", by="Ada")
    assert env.file(clone, SOUL).read_text() == soul.replace("name: Atlas", "name: Borea")


async def test_skills_are_listed_with_their_problems(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    env.file(created, SKILLS).write_text(
        "[skills.maps]\n[skills.off]\nenabled = false\n[skills.missing]\n[skills.odd]\n"
    )
    library = env.data_dir / "skills"
    for name in ("maps", "off"):
        (library / name).mkdir(parents=True)
        (library / name / "SKILL.md").write_text(
            f"---\nname: {name}\ndescription: Knows {name}.\n---\nBody.\n"
        )
    (library / "odd").mkdir()
    (library / "odd" / "SKILL.md").write_text("no front matter")
    found = await env.bots.skills(ME, "atlas")
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
    env.file(created, SKILLS).write_text("[skills\n")
    assert (await error_of(env.bots.skills(ME, "atlas")))[0] is BotBlocked
