"""Which of the skills its file names a bot can take up, and why not the others."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.bots.models import SkillEntry, SkillView
from forge.bots.shelf import Shelf
from forge.bots.skill_hands import SkillCall
from forge.bots.skill_library import LibraryHands
from forge.errors import Unavailable
from forge.skills.knowing import Knowing
from forge.skills.library import Library
from forge.skills.models import Capability, SkillKind, Tier
from forge.skills.views import SkillRan, SkillState
from forge.store.engine import Store

ME = "me"


async def run_nothing(_account_id: str, _name: str, _call: SkillCall) -> SkillRan:
    raise Unavailable("Nothing is run here.")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "data" / "skills"


@pytest.fixture
def shelf(store: Store, library: Path) -> Iterator[Shelf]:
    found = Library(library.parent)
    yield Shelf(LibraryHands(Knowing(store, found), found, run_nothing))


def put(library: Path, name: str, content: bytes) -> Path:
    (library / name).mkdir(parents=True)
    path = library / name / "SKILL.md"
    path.write_bytes(content)
    return path


def put_skill(library: Path, name: str, **metadata: str) -> None:
    lines = "".join(f"  {key.replace('_', '-')}: '{value}'\n" for key, value in metadata.items())
    ours = f"metadata:\n{lines}" if lines else ""
    text = f"---\nname: {name}\ndescription: 'Knows: {name}'\nlicense: MIT\n{ours}---\n\n# How\nAsk {name}.\n"
    put(library, name, text.encode())


def entries(*names: str) -> list[SkillEntry]:
    return [SkillEntry(skill_name=name) for name in names]


async def offered(shelf: Shelf, *given: SkillEntry) -> list[str]:
    return [offer.seen.name for offer in await shelf.offers(ME, given)]


async def test_skills_that_are_on_can_be_taken_up_in_the_order_of_their_names(shelf: Shelf, library: Path):
    for name in ("walks", "maps", "off"):
        put_skill(library, name)
    given = [*entries("walks", "maps", "missing"), SkillEntry(skill_name="off", enabled=False)]
    offers = await shelf.offers(ME, given)
    assert [(one.seen.name, one.description, one.seen.body) for one in offers] == [
        ("maps", "Knows: maps", "# How\nAsk maps.\n"),
        ("walks", "Knows: walks", "# How\nAsk walks.\n"),
    ]


async def test_without_a_library_every_skill_is_missing(shelf: Shelf):
    assert await offered(shelf, *entries("maps")) == []
    assert [view.problem for view in await shelf.views(ME, entries("maps"))] == [
        "There is no skill called maps in the library."
    ]


async def test_a_skill_of_another_version_is_not_offered_and_the_view_says_why(shelf: Shelf, library: Path):
    put_skill(library, "maps", version="1.4.2")
    for pin in ("1.4.2", "^1.2", "~1.4", ">=1.0,<2", "1", "*", ""):
        assert await offered(shelf, SkillEntry(skill_name="maps", version=pin)) == ["maps"], pin
    for pin in ("1.4.1", "^2", "<1.4", "2"):
        pinned = SkillEntry(skill_name="maps", version=pin)
        assert await offered(shelf, pinned) == [], pin
        (view,) = await shelf.views(ME, [pinned])
        assert (view.is_offered, view.pin, view.version) == (False, pin, "1.4.2")
        assert view.problem == f"skills.toml wants the version {pin}, and the library has 1.4.2."
    (view,) = await shelf.views(ME, [SkillEntry(skill_name="maps", version="newest")])
    assert view.problem == "skills.toml wants the version newest, which is no version and no range of them."


async def test_overrides_are_the_line_the_bot_reads_and_settings_of_the_skill(shelf: Shelf, library: Path):
    put_skill(library, "maps")
    overrides = {"description": "Knows my village.", "origin": "builder-created", "region": "north"}
    (offer,) = await shelf.offers(ME, [SkillEntry(skill_name="maps", overrides=overrides)])
    assert (offer.description, offer.settings) == ("Knows my village.", {"region": "north"})


async def test_capabilities_of_the_file_narrow_and_none_are_all(shelf: Shelf, library: Path):
    put_skill(library, "maps", forge_kind="script", forge_capabilities="http_get kv")
    (library / "maps" / "skill.py").write_text("def run(input):\n    return {}\n")

    async def narrowed(given: list[str] | None) -> list[Capability] | None:
        (offer,) = await shelf.offers(ME, [SkillEntry(skill_name="maps", capabilities=given)])
        return offer.narrowed

    assert await narrowed(None) is None
    assert await narrowed([]) is None
    assert await narrowed(["kv", "fly"]) == [Capability.KV]
    assert await narrowed(["fly"]) == []


async def test_a_view_has_what_the_library_knows(shelf: Shelf, library: Path):
    put_skill(library, "maps", forge_kind="script", forge_capabilities="http_get", version="1.0.0")
    (library / "maps" / "skill.py").write_text("def run(input):\n    return {}\n")
    (view,) = await shelf.views(ME, entries("maps"))
    assert view == SkillView(
        name="maps",
        enabled=True,
        is_offered=True,
        description="Knows: maps",
        kind=SkillKind.SCRIPT,
        version="1.0.0",
        state=SkillState.REVIEW,
        problem=view.problem,
        tier=Tier.UNTRUSTED,
        capabilities=[Capability.HTTP_GET],
    )
    assert view.problem and "http_get" in view.problem


async def test_a_skill_whose_dependencies_are_missing_is_not_offered(shelf: Shelf, library: Path):
    put_skill(library, "maps", forge_dependencies="compass@^1")
    assert await offered(shelf, *entries("maps")) == []
    (view,) = await shelf.views(ME, entries("maps"))
    assert view.state is SkillState.BROKEN and view.problem and "compass" in view.problem


async def test_a_skill_brings_along_what_it_inherits(shelf: Shelf, library: Path):
    put_skill(library, "base")
    put_skill(library, "maps", forge_parents="base")
    (offer,) = await shelf.offers(ME, entries("maps"))
    assert offer.seen.body.index("Ask base.") < offer.seen.body.index("Ask maps.")


async def test_what_is_no_skill_says_why(shelf: Shelf, library: Path, tmp_path: Path):
    secret = tmp_path / "secret.md"
    secret.write_text("---\ndescription: secret\n---\nsecret")
    put(library, "long", b"---\nname: long\n---\n" + b"x" * 200_001)
    put(library, "latin", b"---\nname: caf\xe9\n---\n")
    put(library, "bomb", b"---\na: &a [x, x]\nb: [*a, *a]\n---\n")
    put(library, "file-link", b"").unlink()
    (library / "file-link" / "SKILL.md").symlink_to(secret)
    (library / "folder-link").symlink_to(tmp_path)
    (library / "pipe").mkdir()
    os.mkfifo(library / "pipe" / "SKILL.md")
    (library / "folder" / "SKILL.md").mkdir(parents=True)
    names = ["bomb", "file-link", "folder", "folder-link", "latin", "long", "pipe"]
    assert await offered(shelf, *entries(*names)) == []
    views = await shelf.views(ME, entries(*names))
    assert [view.name for view in views] == names
    assert all(view.problem and "secret" not in view.description for view in views)
    problems = {view.name: view.problem for view in views}
    assert (problems["bomb"] or "").startswith("Its SKILL.md, line 2:")
