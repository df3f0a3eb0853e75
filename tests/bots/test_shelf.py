"""The library of skills: read safely, whatever lies in it."""

import os
from pathlib import Path

import pytest

from forge.bots.models import SkillEntry
from forge.bots.shelf import Shelf, SkillText
from forge.skills.library import Library


@pytest.fixture
def library(tmp_path: Path) -> Path:
    return tmp_path / "data" / "skills"


def put(library: Path, name: str, content: bytes) -> Path:
    (library / name).mkdir(parents=True)
    path = library / name / "SKILL.md"
    path.write_bytes(content)
    return path


def entries(*names: str) -> list[SkillEntry]:
    return [SkillEntry(skill_name=name) for name in names]


async def test_skills_that_are_on_reach_the_conversation_in_the_order_of_their_names(library: Path):
    for name in ("walks", "maps", "off"):
        text = f"---\nname: {name}\ndescription: 'Knows: {name}'\nlicense: MIT\n---\n\n# How\nAsk {name}.\n"
        put(library, name, text.encode())
    given = [*entries("walks", "maps", "missing"), SkillEntry(skill_name="off", enabled=False)]
    assert await Shelf(Library(library.parent)).texts(given) == [
        SkillText("maps", "Knows: maps", "# How\nAsk maps.\n"),
        SkillText("walks", "Knows: walks", "# How\nAsk walks.\n"),
    ]


async def test_without_a_library_every_skill_is_missing(library: Path):
    shelf = Shelf(Library(library.parent))
    assert await shelf.texts(entries("maps")) == []
    assert [view.problem for view in await shelf.views(entries("maps"))] == [
        "There is no skill called maps in the library."
    ]


async def test_what_is_no_skill_says_why(library: Path, tmp_path: Path):
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
    shelf = Shelf(Library(library.parent))
    assert await shelf.texts(entries(*names)) == []
    views = await shelf.views(entries(*names))
    assert [view.name for view in views] == names
    assert all(view.problem and "secret" not in view.description for view in views)
    problems = {view.name: view.problem for view in views}
    assert problems["long"] == "Its SKILL.md has more than 200 kB."
    assert problems["latin"] == "Its SKILL.md is not text in UTF-8."
    assert (problems["bomb"] or "").startswith("Its SKILL.md, line 2:")
