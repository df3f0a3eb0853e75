"""How a bot comes to be: its name, its files, its place on the disk."""

import asyncio
from typing import Any

import pytest
from tests.bots.workshop import DEFAULT, ME, Workshop, refused

from forge.bots import making
from forge.bots.files.identity import parse_identity
from forge.bots.files.soul import parse_soul
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


async def test_a_name_is_all_a_bot_needs(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert (made.slug, made.status, made.identity) == (
        "atlas",
        BotStatus.ACTIVE,
        Identity(display_name="Atlas"),
    )
    assert (made.model, made.problems, made.blocked, made.soul_version) == (
        f"anthropic:{DEFAULT}",
        [],
        None,
        1,
    )
    assert made.folder == str(shop.data_dir / "bots" / "atlas")
    assert [made] == await shop.bots.find_all(ME)
    assert made == await shop.bots.view(ME, "atlas") == await shop.bots.view(ME, made.id)
    assert shop.tree() == [
        "bots",
        "bots/atlas",
        *(f"bots/atlas/{file.file_name}" for file in sorted(BotFile, key=lambda file: file.file_name)),
    ]
    version = await shop.versions.get(made, SOUL, 1)
    assert (version.author, version.content) == ("Ada", shop.file(made, SOUL).read_text())
    assert await shop.told() == [("atlas", "bot")]


async def test_everything_can_be_said_at_once(shop: Workshop):
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
    made = await shop.bots.create(ME, new, by="Ada")
    given = new.model_dump(exclude={"name", "soul", "user"})
    assert made.identity == Identity(display_name="Atlas", **given)
    assert (made.model, made.blocked) == ("openai:gpt-5", None)
    assert (shop.file(made, SOUL).read_text(), shop.file(made, USER).read_text()) == (new.soul, new.user)


@pytest.mark.parametrize("name", HARMLESS)
async def test_any_name_round_trips_through_the_files(shop: Workshop, name: str):
    made = await shop.bots.create(ME, NewBot(name=name, description=name), by="Ada")
    soul = parse_soul(shop.file(made, SOUL).read_bytes().decode()).value
    identity = parse_identity(shop.file(made, IDENTITY).read_bytes().decode()).value
    assert soul and identity
    assert (soul.name, identity.display_name, identity.description) == (name, name, name)
    assert (made.blocked, [problem for problem in made.problems if not problem.is_warning]) == (None, [])
    renamed = await shop.bots.change(ME, made.id, BotChange(name=f"{name[:-1]}2"), by="Ada")
    assert (renamed.identity.display_name, renamed.slug) == (f"{name[:-1]}2", made.slug)
    cloned = await shop.bots.clone(ME, made.id, name, by="Ada")
    copy = await shop.bots.take_in(ME, await shop.bots.export(ME, cloned.id), by="Ada")
    assert (cloned.identity.display_name, copy.identity.display_name) == (name, name)
    assert {path.split("/")[1] for path in shop.tree() if "/" in path} == {made.slug, cloned.slug, copy.slug}


@pytest.mark.parametrize("name", ["", " ", "…", "../", "\n", "🦊"])
async def test_a_name_without_a_letter_or_digit_is_refused(shop: Workshop, name: str):
    with pytest.raises((Invalid, ValueError)):
        await shop.bots.create(ME, NewBot(name=name), by="Ada")
    assert (await shop.bots.find_all(ME), shop.tree()) == ([], [])


async def test_a_slug_that_is_taken_gets_a_number_until_there_are_a_hundred(shop: Workshop):
    first = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    slugs = [(await shop.bots.create(ME, NewBot(name="atlas!"), by="Ada")).slug for _ in range(99)]
    assert (first.slug, slugs) == ("atlas", [f"atlas-{number}" for number in range(2, 101)])
    kind, said = await refused(shop.bots.create(ME, NewBot(name="Atlas"), by="Ada"))
    assert (kind, "taken" in said) == (Conflict, True)
    assert len(list((shop.data_dir / "bots").iterdir())) == 100


async def test_two_who_make_the_same_name_at_once_get_two_bots(shop: Workshop):
    made = await asyncio.gather(*(shop.bots.create(ME, NewBot(name="Atlas"), by="Ada") for _ in range(8)))
    assert sorted(bot.slug for bot in made) == ["atlas", *(f"atlas-{number}" for number in range(2, 9))]
    assert {bot.blocked for bot in await shop.bots.find_all(ME)} == {None}


async def test_a_slug_belongs_to_one_account_and_is_shown_to_no_other(shop: Workshop):
    await shop.bots.create("you", NewBot(name="Atlas"), by="Bob")
    mine = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert mine.slug == "atlas-2"
    assert [bot.slug for bot in await shop.bots.find_all(ME)] == ["atlas-2"]
    assert (await refused(shop.bots.view(ME, "atlas")))[0] is NotFound


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"soul": "no front matter"}, "SOUL.md, line 1:"),
        ({"soul": "---\nname: A\ntone: [1, 2]\n---\n"}, "SOUL.md, line 3:"),
        ({"soul": "---\nname: A\nvoice: loud\n---\n"}, "SOUL.md, line 3:"),
        ({"provider": "openai"}, "IDENTITY.md, line"),
    ],
)
async def test_a_file_with_a_mistake_is_refused_with_its_line(
    shop: Workshop, given: dict[str, Any], words: str
):
    kind, said = await refused(shop.bots.create(ME, NewBot(name="Atlas", **given), by="Ada"))
    assert kind is Invalid
    assert said.startswith(words)
    assert (await shop.bots.find_all(ME), shop.tree()) == ([], [])


async def test_what_cannot_be_made_leaves_nothing(shop: Workshop, monkeypatch: pytest.MonkeyPatch):
    async def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    with monkeypatch.context() as patched:
        patched.setattr(making, "tell_changed", fail)
        with pytest.raises(OSError, match="the disk is gone"):
            await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert (await shop.bots.find_all(ME), shop.tree()) == ([], ["bots", "bots/.trash"])
    assert (await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")).slug == "atlas"


async def test_a_folder_without_a_bot_does_not_keep_the_name_and_is_not_lost(shop: Workshop):
    stray = shop.data_dir / "bots" / "atlas"
    stray.mkdir(parents=True)
    (stray / "notes.txt").write_text("mine")
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert (made.slug, made.blocked) == ("atlas", None)
    assert [path.read_text() for path in (shop.data_dir / "bots" / ".trash").rglob("notes.txt")] == ["mine"]


async def test_a_stray_folder_is_put_back_when_no_bot_takes_its_place(
    shop: Workshop, monkeypatch: pytest.MonkeyPatch
):
    stray = shop.data_dir / "bots" / "atlas"
    stray.mkdir(parents=True)
    (stray / "notes.txt").write_text("mine")

    async def fail(*_: object) -> None:
        raise OSError("the disk is gone")

    monkeypatch.setattr(making, "tell_changed", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    assert shop.tree() == ["bots", "bots/.trash", "bots/atlas", "bots/atlas/notes.txt"]


async def test_a_clone_has_the_files_and_nothing_else(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas", user="I walk.\n", tags=["maps"]), by="Ada")
    await shop.bots.change(ME, "atlas", BotChange(temperature=0.3), by="Ada")
    clone = await shop.bots.clone(ME, "atlas", None, by="Bob")
    assert (clone.slug, clone.identity.display_name) == ("atlas-clone", "Atlas (Clone)")
    assert (clone.identity.temperature, clone.identity.tags, clone.soul_version) == (0.3, ["maps"], 1)
    for file in (SOUL, USER, SKILLS):
        assert shop.file(clone, file).read_text() == shop.file(made, file).read_text()
    history = (await shop.versions.history(clone, IDENTITY, cursor=None, limit=10)).items
    assert [(version.number, version.author) for version in history] == [(1, "Bob")]
    otto = await shop.bots.clone(ME, "atlas", "Otto", by="Bob")
    soul = shop.file(made, SOUL).read_text()
    assert shop.file(otto, SOUL).read_text() == soul.replace("name: Atlas", "name: Otto", 1)
    long = await shop.bots.create(ME, NewBot(name="x" * 200), by="Ada")
    assert len((await shop.bots.clone(ME, long.id, None, by="Ada")).identity.display_name) == 200
