"""Creation of bots: names, slugs, files and folders."""

import asyncio
from typing import Any

import pytest
from tests.bots.environment import DEFAULT, ME, BotEnvironment, error_of

from forge.bots.files.identity import parse_identity
from forge.bots.files.soul import parse_soul
from forge.bots.management import creation
from forge.bots.models import (
    BotChange,
    BotFile,
    BotStatus,
    Category,
    Identity,
    NewBot,
)
from forge.errors import Conflict, Invalid, NotFound

IDENTITY, SOUL, USER, SKILLS = BotFile.IDENTITY, BotFile.SOUL, BotFile.USER, BotFile.SKILLS
HARMLESS = [
    "a: b",
    "'single' and \"double\"",
    "two\nlines",
    "tab\there",
    "🦊 fox",
    "\u202eright to left \u05d0\u05d1",
    "مرحبا",
    "../../etc/passwd",
    "..\\..\\windows",
    "/etc/shadow",
    "~/x",
    "- item",
    "# heading 1",
    "--- x",
    "null",
    "yes",
    "1.0",
    "{a: 1}",
    "&anchor *alias",
    "!!python/object:os.system 1",
    "two  spaces 1",
    "%s %(name)s {name}",
    "x" * 200,
    "con",
    "import",
    "$(rm -rf 1)",
    "a\u2028b",
]


async def test_bot_is_created_from_a_name(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert (created.slug, created.status, created.identity) == (
        "atlas",
        BotStatus.ACTIVE,
        Identity(display_name="Atlas"),
    )
    assert (created.model, created.problems, created.blocked, created.soul_version) == (
        f"anthropic:{DEFAULT}",
        [],
        None,
        1,
    )
    assert created.folder == str(env.data_dir / "bots" / "atlas")
    assert [created] == await env.bots.find_all(ME)
    assert created == await env.bots.view(ME, "atlas") == await env.bots.view(ME, created.id)
    assert env.tree() == [
        "bots",
        "bots/atlas",
        *(f"bots/atlas/{file.file_name}" for file in sorted(BotFile, key=lambda file: file.file_name)),
    ]
    version = await env.versions.get(created, SOUL, 1)
    assert (version.author, version.content) == ("Ada", env.file(created, SOUL).read_text())
    assert await env.notifications() == [("atlas", "bot")]


async def test_bot_is_created_with_all_fields(env: BotEnvironment):
    new = NewBot(
        name="Atlas",
        description="Finds the way.",
        category=Category.RESEARCH,
        tags=["maps", "roads"],
        provider="openai",
        model="gpt-5",
        temperature=0,
        max_tokens=100,
        avatar="🗺️",
        colour="#102030",
        soul="---\nname: Atlas\n---\n# Personality\nQuiet.\n# Purpose\nMaps.\n# Boundaries\nNone.\n",
        user="I walk.\n",
    )
    created = await env.bots.create(ME, new, by="Ada")
    given = new.model_dump(exclude={"name", "soul", "user"})
    assert created.identity == Identity(display_name="Atlas", **given)
    assert (created.model, created.blocked) == ("openai:gpt-5", None)
    assert (env.file(created, SOUL).read_text(), env.file(created, USER).read_text()) == (new.soul, new.user)


@pytest.mark.parametrize("name", HARMLESS)
async def test_any_name_round_trips_through_files(env: BotEnvironment, name: str):
    created = await env.bots.create(ME, NewBot(name=name, description=name), by="Ada")
    soul = parse_soul(env.file(created, SOUL).read_bytes().decode()).value
    identity = parse_identity(env.file(created, IDENTITY).read_bytes().decode()).value
    assert soul and identity
    assert (soul.name, identity.display_name, identity.description) == (name, name, name)
    assert (created.blocked, [problem for problem in created.problems if not problem.is_warning]) == (
        None,
        [],
    )
    renamed = await env.bots.change(ME, created.id, BotChange(name=f"{name[:-1]}2"), by="Ada")
    assert (renamed.identity.display_name, renamed.slug) == (f"{name[:-1]}2", created.slug)
    cloned = await env.bots.clone(ME, created.id, name, by="Ada")
    copy = await env.bots.import_bundle(ME, await env.bots.export(ME, cloned.id), by="Ada")
    assert (cloned.identity.display_name, copy.identity.display_name) == (name, name)
    assert {path.split("/")[1] for path in env.tree() if "/" in path} == {
        created.slug,
        cloned.slug,
        copy.slug,
    }


@pytest.mark.parametrize("name", ["", " ", "…", "../", "\n", "🦊"])
async def test_name_without_letter_or_digit_is_rejected(env: BotEnvironment, name: str):
    with pytest.raises((Invalid, ValueError)):
        await env.bots.create(ME, NewBot(name=name), by="Ada")
    assert (await env.bots.find_all(ME), env.tree()) == ([], [])


async def test_taken_slug_gets_a_number_up_to_100(env: BotEnvironment):
    first = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    slugs = [(await env.bots.create(ME, NewBot(name="atlas!"), by="Ada")).slug for _ in range(99)]
    assert (first.slug, slugs) == ("atlas", [f"atlas-{number}" for number in range(2, 101)])
    kind, message = await error_of(env.bots.create(ME, NewBot(name="Atlas"), by="Ada"))
    assert (kind, "taken" in message) == (Conflict, True)
    assert len(list((env.data_dir / "bots").iterdir())) == 100


async def test_concurrent_creation_with_same_name_creates_two_bots(env: BotEnvironment):
    created = await asyncio.gather(*(env.bots.create(ME, NewBot(name="Atlas"), by="Ada") for _ in range(8)))
    assert sorted(bot.slug for bot in created) == ["atlas", *(f"atlas-{number}" for number in range(2, 9))]
    assert {bot.blocked for bot in await env.bots.find_all(ME)} == {None}


async def test_slug_of_another_account_is_not_found(env: BotEnvironment):
    await env.bots.create("you", NewBot(name="Atlas"), by="Bob")
    mine = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert mine.slug == "atlas-2"
    assert [bot.slug for bot in await env.bots.find_all(ME)] == ["atlas-2"]
    assert (await error_of(env.bots.view(ME, "atlas")))[0] is NotFound


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"soul": "no front matter"}, "SOUL.md, line 1:"),
        ({"soul": "---\nname: A\ntone: [1, 2]\n---\n"}, "SOUL.md, line 3:"),
        ({"soul": "---\nname: A\nvoice: loud\n---\n"}, "SOUL.md, line 3:"),
        ({"provider": "openai"}, "IDENTITY.md, line"),
    ],
)
async def test_invalid_file_is_rejected_with_line(env: BotEnvironment, given: dict[str, Any], words: str):
    kind, message = await error_of(env.bots.create(ME, NewBot(name="Atlas", **given), by="Ada"))
    assert kind is Invalid
    assert message.startswith(words)
    assert (await env.bots.find_all(ME), env.tree()) == ([], [])


async def test_failed_creation_leaves_nothing(env: BotEnvironment, monkeypatch: pytest.MonkeyPatch):
    async def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(creation, "notify_changed", fail)
        with pytest.raises(OSError, match="the disk is gone"):
            await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert (await env.bots.find_all(ME), env.tree()) == ([], ["bots", "bots/.trash"])
    assert (await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")).slug == "atlas"


async def test_stray_folder_is_moved_to_trash(env: BotEnvironment):
    stray = env.data_dir / "bots" / "atlas"
    stray.mkdir(parents=True)
    (stray / "notes.txt").write_text("mine")
    created = await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert (created.slug, created.blocked) == ("atlas", None)
    assert [path.read_text() for path in (env.data_dir / "bots" / ".trash").rglob("notes.txt")] == ["mine"]


async def test_stray_folder_is_restored_after_failed_creation(
    env: BotEnvironment, monkeypatch: pytest.MonkeyPatch
):
    stray = env.data_dir / "bots" / "atlas"
    stray.mkdir(parents=True)
    (stray / "notes.txt").write_text("mine")

    async def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(creation, "notify_changed", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        await env.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert env.tree() == ["bots", "bots/.trash", "bots/atlas", "bots/atlas/notes.txt"]


async def test_clone_copies_only_files(env: BotEnvironment):
    created = await env.bots.create(ME, NewBot(name="Atlas", user="I walk.\n", tags=["maps"]), by="Ada")
    await env.bots.change(ME, "atlas", BotChange(temperature=0.3), by="Ada")
    clone = await env.bots.clone(ME, "atlas", None, by="Bob")
    assert (clone.slug, clone.identity.display_name) == ("atlas-clone", "Atlas (Clone)")
    assert (clone.identity.temperature, clone.identity.tags, clone.soul_version) == (0.3, ["maps"], 1)
    for file in (SOUL, USER, SKILLS):
        assert env.file(clone, file).read_text() == env.file(created, file).read_text()
    history = (await env.versions.history(clone, IDENTITY, cursor=None, limit=10)).items
    assert [(version.number, version.author) for version in history] == [(1, "Bob")]
    otto = await env.bots.clone(ME, "atlas", "Otto", by="Bob")
    soul = env.file(created, SOUL).read_text()
    assert env.file(otto, SOUL).read_text() == soul.replace("name: Atlas", "name: Otto", 1)
    long = await env.bots.create(ME, NewBot(name="x" * 200), by="Ada")
    assert len((await env.bots.clone(ME, long.id, None, by="Ada")).identity.display_name) == 200
