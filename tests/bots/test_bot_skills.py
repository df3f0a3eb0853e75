"""The skills of skills.toml that a bot can use, and the reasons for the others."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from forge.bots.management.bot_skills import BotSkills
from forge.bots.management.skill_access import SkillAccess
from forge.bots.models import SkillEntry, SkillView
from forge.errors import Unavailable
from forge.skills.invocations.runner import RunRequest
from forge.skills.library.library import Library
from forge.skills.models import Capability, SkillKind, Tier
from forge.skills.skill_state import SkillStates
from forge.skills.views import SkillRan, SkillState
from forge.store.database import Store

ME = "me"


async def cannot_run(_name: str, _request: RunRequest) -> SkillRan:
    raise Unavailable("Skills cannot be run here.")


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "data" / "skills"


@pytest.fixture
def bot_skills(store: Store, library: Path) -> Iterator[BotSkills]:
    found = Library(library.parent)
    yield BotSkills(SkillAccess(SkillStates(store, found), found, cannot_run))


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


async def offered(bot_skills: BotSkills, *given: SkillEntry) -> list[str]:
    return [offer.seen.name for offer in await bot_skills.offered(ME, given)]


async def test_enabled_skills_are_offered_by_name(bot_skills: BotSkills, library: Path):
    for name in ("walks", "maps", "off"):
        put_skill(library, name)
    given = [*entries("walks", "maps", "missing"), SkillEntry(skill_name="off", enabled=False)]
    offers = await bot_skills.offered(ME, given)
    assert [(one.seen.name, one.description, one.seen.body) for one in offers] == [
        ("maps", "Knows: maps", "# How\nAsk maps.\n"),
        ("walks", "Knows: walks", "# How\nAsk walks.\n"),
    ]


async def test_skills_are_missing_without_library(bot_skills: BotSkills):
    assert await offered(bot_skills, *entries("maps")) == []
    assert [view.problem for view in await bot_skills.views(ME, entries("maps"))] == [
        "There is no skill called maps in the library."
    ]


async def test_skill_of_wrong_version_is_not_offered(bot_skills: BotSkills, library: Path):
    put_skill(library, "maps", version="1.4.2")
    for pin in ("1.4.2", "^1.2", "~1.4", ">=1.0,<2", "1", "*", ""):
        assert await offered(bot_skills, SkillEntry(skill_name="maps", version=pin)) == ["maps"], pin
    for pin in ("1.4.1", "^2", "<1.4", "2"):
        pinned = SkillEntry(skill_name="maps", version=pin)
        assert await offered(bot_skills, pinned) == [], pin
        (view,) = await bot_skills.views(ME, [pinned])
        assert (view.is_offered, view.pin, view.version) == (False, pin, "1.4.2")
        assert view.problem == f"skills.toml requires version {pin}, but the library has 1.4.2."
    (view,) = await bot_skills.views(ME, [SkillEntry(skill_name="maps", version="newest")])
    assert view.problem == "skills.toml requires version newest, which is not a version or a version range."


async def test_overrides_set_description_and_settings(bot_skills: BotSkills, library: Path):
    put_skill(library, "maps")
    overrides = {"description": "Knows my village.", "origin": "builder-created", "region": "north"}
    (offer,) = await bot_skills.offered(ME, [SkillEntry(skill_name="maps", overrides=overrides)])
    assert (offer.description, offer.settings) == ("Knows my village.", {"region": "north"})


async def test_capabilities_restrict_grants(bot_skills: BotSkills, library: Path):
    put_skill(library, "maps", forge_kind="script", forge_capabilities="http_get kv")
    (library / "maps" / "skill.py").write_text("def run(input):\n    return {}\n")

    async def narrowed(given: list[str] | None) -> list[Capability] | None:
        (offer,) = await bot_skills.offered(ME, [SkillEntry(skill_name="maps", capabilities=given)])
        return offer.narrowed

    assert await narrowed(None) is None
    assert await narrowed([]) is None
    assert await narrowed(["kv", "fly"]) == [Capability.KV]
    assert await narrowed(["fly"]) == []


async def test_view_contains_library_state(bot_skills: BotSkills, library: Path):
    put_skill(library, "maps", forge_kind="script", forge_capabilities="http_get", version="1.0.0")
    (library / "maps" / "skill.py").write_text("def run(input):\n    return {}\n")
    (view,) = await bot_skills.views(ME, entries("maps"))
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


async def test_skill_with_missing_dependencies_is_not_offered(bot_skills: BotSkills, library: Path):
    put_skill(library, "maps", forge_dependencies="compass@^1")
    assert await offered(bot_skills, *entries("maps")) == []
    (view,) = await bot_skills.views(ME, entries("maps"))
    assert view.state is SkillState.BROKEN and view.problem and "compass" in view.problem


async def test_inherited_text_is_included(bot_skills: BotSkills, library: Path):
    put_skill(library, "base")
    put_skill(library, "maps", forge_parents="base")
    (offer,) = await bot_skills.offered(ME, entries("maps"))
    assert offer.seen.body.index("Ask base.") < offer.seen.body.index("Ask maps.")


async def test_broken_skill_shows_its_problem(bot_skills: BotSkills, library: Path, tmp_path: Path):
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
    assert await offered(bot_skills, *entries(*names)) == []
    views = await bot_skills.views(ME, entries(*names))
    assert [view.name for view in views] == names
    assert all(view.problem and "secret" not in view.description for view in views)
    problems = {view.name: view.problem for view in views}
    assert (problems["bomb"] or "").startswith("Its SKILL.md, line 2:")
