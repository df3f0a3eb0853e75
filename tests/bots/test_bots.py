"""What people can do with bots, on both databases and a real disk."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event
from tests.bots.chat.rows import add_session, say
from tests.bots.workshop import DEFAULT, ME, Workshop

from forge.bots import making
from forge.bots.chat.models import MessageStatus, Speaker
from forge.bots.errors import BotBlocked, FileChanged
from forge.bots.files.identity import parse_identity
from forge.bots.files.soul import parse_soul
from forge.bots.models import (
    BotChange,
    BotFile,
    BotSort,
    BotStatus,
    Category,
    Identity,
    NewBot,
    SkillView,
    Stats,
)
from forge.bots.tables import bots as bot_rows
from forge.errors import Conflict, ForgeError, Gone, Invalid, NotFound
from forge.kernel.hashing import hash_text
from forge.kernel.ids import new_id
from forge.llm.models import CallStatus, Role, Usage
from forge.llm.money import Limits, Money, Order, Spender
from forge.llm.store import Settlement
from forge.skills.models import SkillKind, Tier
from forge.skills.views import SkillState
from forge.store.engine import Store

IDENTITY, SOUL, USER, SKILLS = BotFile.IDENTITY, BotFile.SOUL, BotFile.USER, BotFile.SKILLS


@pytest.fixture
def shop(store: Store, tmp_path: Path) -> Workshop:
    return Workshop(store, tmp_path / "data")


async def refused(doing: Awaitable[object]) -> tuple[type[ForgeError], str]:
    with pytest.raises(ForgeError) as caught:
        await doing
    return type(caught.value), f"{caught.value.message} {caught.value.hint or ''}".strip()


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


async def test_a_deletion_can_be_taken_back(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    before = shop.tree()
    deleted = await shop.bots.delete(ME, "atlas")
    assert (deleted.id, deleted.blocked, deleted.deleted_at is None) == (made.id, "It is deleted.", False)
    assert not shop.file(made, SOUL).exists()
    assert await shop.bots.find_all(ME) == []
    assert [bot.slug for bot in await shop.bots.find_all(ME, deleted=True)] == ["atlas"]
    for doing in (shop.bots.view(ME, "atlas"), shop.bots.delete(ME, "atlas")):
        assert await refused(doing) == (
            NotFound,
            "There is no such bot. Restore it: forge bots restore atlas",
        )
    assert (await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")).slug == "atlas-2"
    restored = await shop.bots.restore(ME, "atlas")
    assert (restored.id, restored.blocked, restored.deleted_at) == (made.id, None, None)
    assert set(before) <= set(shop.tree())
    assert (await shop.bots.restore(ME, "atlas")).id == made.id
    assert await shop.told() == [
        ("atlas", "bot"),
        ("atlas", "deleted"),
        ("atlas-2", "bot"),
        ("atlas", "bot"),
    ]


async def test_deleting_and_restoring_at_once_leaves_one_or_the_other(shop: Workshop):
    await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")

    async def do(verb: Callable[..., Awaitable[object]]) -> None:
        for _ in range(5):
            with suppress(NotFound):
                await verb(ME, "atlas")

    await asyncio.gather(*(do(verb) for verb in (shop.bots.delete, shop.bots.restore) * 3))
    restored = await shop.bots.restore(ME, "atlas")
    assert (restored.blocked, restored.deleted_at) == (None, None)
    assert (await shop.versions.state(restored, SOUL)).is_accepted


async def test_after_thirty_days_it_is_too_late(shop: Workshop):
    await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await shop.bots.delete(ME, "atlas")
    shop.clock.ahead = timedelta(days=29)
    assert [bot.slug for bot in await shop.bots.find_all(ME, deleted=True)] == ["atlas"]
    shop.clock.ahead = timedelta(days=31)
    assert await shop.bots.find_all(ME, deleted=True) == []
    assert (await refused(shop.bots.restore(ME, "atlas")))[0] is Gone


async def test_a_delete_that_was_interrupted_can_be_taken_back(shop: Workshop):
    """Killed between the row and the folder: the folder is still where it was."""
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    async with shop.database.begin() as tx:
        await tx.execute(sa.update(bot_rows).values(deleted_at=made.created_at))
    assert (await shop.bots.restore(ME, "atlas")).blocked is None


async def test_a_bot_whose_trash_was_emptied_comes_back_from_its_versions(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await shop.bots.change(ME, "atlas", BotChange(description="Newer"), by="Ada")
    await shop.bots.delete(ME, "atlas")
    shop.folders.discard(made.id)
    restored = await shop.bots.restore(ME, "atlas")
    assert (restored.blocked, restored.identity.description) == (None, "Newer")


async def test_a_folder_that_took_the_place_of_a_deleted_bot_is_left_alone(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Atlas"), by="Ada")
    await shop.bots.delete(ME, "atlas")
    shop.file(made, SOUL).parent.mkdir()
    assert (await refused(shop.bots.restore(ME, "atlas")))[0] is Conflict
    shop.file(made, SOUL).parent.rmdir()
    assert (await shop.bots.restore(ME, "atlas")).blocked is None


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


async def test_numbers_are_of_each_bot(shop: Workshop):
    made = await shop.bots.create(ME, NewBot(name="Talks"), by="Ada")
    await shop.bots.create(ME, NewBot(name="Silent"), by="Ada")
    for status in (MessageStatus.DONE, MessageStatus.WRITING):
        session = await add_session(shop.database, made, account=ME)
        asked = await say(shop.database, session, Speaker.USER, "Hello?", None)
        await say(shop.database, session, Speaker.ASSISTANT, "Hel", asked, status=status)
    money = Money(shop.database, Limits(10, 50, 200))
    for scope in (f"bot:{made.id}", f"bot:{made.id}", ""):
        spender = Spender(ME, new_id(), scope=scope)
        call = await money.reserve(spender, Order(Role.BOT, "anthropic", DEFAULT, "0", 9000))
        usage = Usage(input=1, output=20, cache_read=300, cache_write=4000)
        await money.settle(spender, call, Settlement(CallStatus.SETTLED, usage, 7, made.created_at))
    talks, silent = await shop.bots.find_all(ME, words="talks"), await shop.bots.view(ME, "silent")
    numbers = {"sessions": 2, "answering": 1, "messages": 4, "tokens": 8642, "spent_micros": 14}
    assert talks == [made.model_copy(update=numbers)]
    assert (silent.sessions, silent.messages, silent.tokens, silent.spent_micros) == (0, 0, 0, 0)
    stats = await shop.bots.stats(ME)
    assert (stats.total_sessions, stats.active_sessions, stats.total_messages) == (2, 1, 4)
    assert (stats.tokens, stats.spent_micros) == (8642, 14)


async def test_many_bots_take_no_more_queries_than_one(shop: Workshop):
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        asked.append(statement)

    engine = shop.database._reader.sync_engine
    counts: list[int] = []
    for number in (1, 9):
        for _ in range(number):
            await shop.bots.create(ME, NewBot(name="Many"), by="Ada")
        event.listen(engine, "before_cursor_execute", note)
        assert len(await shop.bots.find_all(ME)) == sum((1, 9)[: len(counts) + 1])
        event.remove(engine, "before_cursor_execute", note)
        counts.append(len(asked))
        asked.clear()
    assert counts[0] == counts[1]


async def test_numbers_are_over_all_bots_that_are_there(shop: Workshop):
    for name in ("one", "two", "three", "four"):
        await shop.bots.create(ME, NewBot(name=name), by="Ada")
    await shop.bots.change(ME, "two", BotChange(status=BotStatus.DISABLED), by="Ada")
    await shop.bots.change(ME, "three", BotChange(status=BotStatus.ARCHIVED), by="Ada")
    await shop.bots.delete(ME, "four")
    assert await shop.bots.stats(ME) == Stats(
        total_bots=3,
        active_bots=1,
        disabled_bots=1,
        archived_bots=1,
        total_sessions=0,
        active_sessions=0,
        total_messages=0,
        total_memories=0,
        tokens=0,
        spent_micros=0,
    )
