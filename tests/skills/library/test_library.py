"""The skill library: writes are atomic, and nothing outside of it is touched."""

import asyncio
import errno
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tests.support.unprivileged_user import unprivileged_user

from forge.errors import Conflict, ForgeError, Invalid, NotFound, TooLarge
from forge.skills.library.library import Library, starter_files, starters
from forge.skills.models import SkillFiles, SkillSource

BAD_NAMES = [
    "../x",
    "a/b",
    "/etc",
    "..",
    ".",
    "",
    "A",
    "ä",
    "a\x00b",
    "a--b",
    "-a",
    "a" * 65,
    "notes\n",
    ".new-x",
]


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def notes(body: str = "Take notes.\n", **files: str) -> SkillFiles:
    text = f"---\nname: notes\ndescription: Takes notes.\n---\n\n{body}"
    return SkillFiles(name="notes", files={"SKILL.md": text, **files})


def read_tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def folders(library: Library) -> list[str]:
    return sorted(path.name for path in library.path("notes").parent.iterdir())


async def test_written_skill_is_found_read_and_listed(library: Library, tmp_path: Path):
    skill = notes(**{"scripts/run.py": "print()\n"})
    result = await library.write(skill)
    assert (result.path, result.is_new, result.is_changed) == (tmp_path / "skills" / "notes", True, True)
    found = await library.find("notes")
    assert (found.manifest.description, found.body) == ("Takes notes.", "Take notes.\n")
    assert (found.source, found.files) == (SkillSource.LIBRARY, ["scripts/run.py"])
    assert await library.read("notes") == skill
    assert await library.names() == sorted(["notes", *starters()])
    assert found in await library.all()
    assert await library.exists("notes")


async def test_identical_write_changes_nothing_and_a_different_one_conflicts(library: Library):
    await library.write(notes())
    before = library.path("notes").stat()
    again = await library.write(notes())
    assert (again.is_new, again.is_changed) == (False, False)
    assert library.path("notes").stat().st_ino == before.st_ino
    with pytest.raises(Conflict) as caught:
        await library.write(notes("Another.\n"))
    assert caught.value.field == "name"
    assert await library.read("notes") == notes()


async def test_replacing_keeps_binary_files_and_modes(library: Library):
    await library.write(notes(**{"old.md": "old", "scripts/run.py": "print()\n"}))
    picture = library.path("notes") / "assets" / "logo.png"
    picture.parent.mkdir()
    picture.write_bytes(b"\x89PNG\xff")
    picture.chmod(0o640)
    (library.path("notes") / "scripts" / "run.py").chmod(0o755)
    new = notes("Better.\n", **{"scripts/run.py": "print(1)\n"})
    result = await library.write(new, replace=True)
    assert (result.is_new, result.is_changed) == (False, True)
    assert await library.read("notes") == new
    assert picture.read_bytes() == b"\x89PNG\xff"
    assert (library.path("notes") / "scripts" / "run.py").stat().st_mode & 0o777 == 0o755
    assert folders(library) == ["notes"]


async def test_own_skill_hides_the_starter_of_its_name(library: Library):
    assert (await library.find("summarize")).source is SkillSource.STARTER
    assert await library.read("summarize") == starter_files("summarize")
    with pytest.raises(Conflict):
        await library.write(
            SkillFiles(name="summarize", files={"SKILL.md": "---\nname: summarize\ndescription: x\n---\n"})
        )
    assert (await library.ensure_stored("summarize")).is_new
    assert not (await library.ensure_stored("summarize")).is_new
    assert (await library.find("summarize")).source is SkillSource.LIBRARY
    assert (await library.names()).count("summarize") == 1
    await library.remove("summarize")
    assert (await library.find("summarize")).source is SkillSource.STARTER
    with pytest.raises(Conflict, match="comes with Forge"):
        await library.remove("summarize")
    with pytest.raises(NotFound):
        await library.ensure_stored("nowhere")


@pytest.mark.parametrize("name", BAD_NAMES)
async def test_invalid_name_never_becomes_a_path(library: Library, tmp_path: Path, name: str):
    (tmp_path / "x").mkdir()
    (tmp_path / "x" / "SKILL.md").write_text("---\nname: x\ndescription: secret\n---\n")
    await library.write(notes())
    before = read_tree(tmp_path)
    assert not await library.exists(name)
    for use in (library.find, library.read, library.ensure_stored, library.remove):
        with pytest.raises(Invalid):
            await use(name)
    with pytest.raises(Invalid):
        await library.write(SkillFiles.model_construct(name=name, files=notes().files))
    assert read_tree(tmp_path) == before


@pytest.mark.parametrize(
    "path",
    [
        "../x.md",
        "/etc/x",
        "a/../../x",
        "a\\b",
        "",
        ".",
        "a//b",
        "./a",
        ".git/config",
        "a\x00",
        "node_modules/x",
        "\ud800",
        "x" * 300,
    ],
)
async def test_file_outside_the_skill_is_rejected_and_nothing_is_left(
    library: Library, tmp_path: Path, path: str
):
    with pytest.raises(ForgeError):
        await library.write(notes(**{path: "x"}))
    assert read_tree(tmp_path) == {}
    assert await library.names() == sorted(starters())


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "A skill needs a SKILL.md."),
        ({"SKILL.md": "# Notes"}, "SKILL.md, line 1: The file does not start with front matter."),
        (
            {"SKILL.md": "---\nname: x\ndescription: x\n---\n"},
            "SKILL.md, line 2: `name` is x, but the folder is notes.",
        ),
        ({**notes().files, "a.md": "one\ntwo\x00"}, "a.md, line 2: The text contains a NUL character."),
    ],
)
async def test_unreadable_skill_is_not_written(library: Library, files: dict[str, str], message: str):
    with pytest.raises(Invalid) as caught:
        await library.write(SkillFiles(name="notes", files=files))
    assert caught.value.message == message
    assert not await library.exists("notes")


async def test_size_limits_are_enforced(library: Library):
    with pytest.raises(TooLarge):
        await library.write(notes(**{f"{n}.md": "x" for n in range(200)}))
    with pytest.raises(TooLarge):
        await library.write(notes(**{f"{n}.md": "x" * 900_000 for n in range(5)}))
    with pytest.raises(TooLarge):
        await library.write(notes(**{"long.md": "x" * 1_000_001}))
    with pytest.raises(TooLarge):
        await library.write(notes("ü" * 100_001))
    assert not await library.exists("notes")


async def test_unusual_files_in_the_library_are_read_safely(library: Library, tmp_path: Path):
    await library.write(notes())
    folder = library.path("notes")
    (tmp_path / "secret").write_text("secret")
    (folder / "link.md").symlink_to(tmp_path / "secret")
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.md")
    (folder / "latin.md").write_bytes(b"caf\xe9")
    (folder.parent / "NOTES").mkdir()
    (folder.parent / "file").write_text("x")
    assert await library.read("notes") == notes()
    assert (await library.find("notes")).files == ["latin.md"]
    assert await library.names() == sorted(["notes", *starters()])
    (folder.parent / "broken").mkdir()
    assert "broken" in await library.names()
    assert "broken" not in [skill.manifest.name for skill in await library.all()]
    with pytest.raises(NotFound):
        await library.find("broken")
    (folder.parent / "linked").symlink_to(tmp_path)
    with pytest.raises(Conflict):
        await library.write(
            SkillFiles(name="linked", files={"SKILL.md": "---\nname: linked\ndescription: x\n---\n"})
        )


async def test_failed_write_keeps_the_old_skill(library: Library):
    await library.write(notes())
    for replaced in (notes("New.\n", **{"a": "x", "a/b": "x"}), notes("New.\n", **{"a/b": "x", "a": "x"})):
        with pytest.raises(ForgeError):
            await library.write(replaced, replace=True)
        assert await library.read("notes") == notes()
        assert folders(library) == ["notes"]


async def test_next_reader_cleans_up_after_a_killed_writer(library: Library):
    await library.write(notes())
    root = library.path("notes").parent
    (root / "notes").rename(root / ".old-notes")
    (root / ".new-notes").mkdir()
    (root / ".gone-other").mkdir()
    assert await library.read("notes") == notes()
    assert folders(library) == ["notes"]


async def test_skill_with_a_read_only_folder_is_replaced_and_removed():
    with unprivileged_user() as home:
        library = Library(home)
        for verb in (library.write(notes("New.\n"), replace=True), library.remove("notes")):
            await library.write(notes(**{"docs/more.md": "More.\n"}), replace=True)
            (library.path("notes") / "docs").chmod(0o555)
            await verb
            assert folders(library) in ([], ["notes"])


async def test_leftovers_that_cannot_be_removed_do_not_block_the_library(
    library: Library, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
):
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("forge.kernel.tree_removal.remove_tree", refuse)
    for _ in range(2):
        await library.write(notes())
        await library.write(notes("New.\n"), replace=True)
        assert await library.read("notes") == notes("New.\n")
        await library.remove("notes")
        assert "notes" not in await library.names()
    assert "what is left of a skill" in caplog.text


async def test_library_path_that_is_a_file_is_reported(library: Library, tmp_path: Path):
    (tmp_path / "skills").write_text("x")
    with pytest.raises(ForgeError):
        await library.write(notes())
    with pytest.raises(ForgeError):
        await library.names()


async def test_concurrent_writes_are_atomic(library: Library):
    results = await asyncio.gather(*(library.write(notes()) for _ in range(10)))
    assert sum(one.is_new for one in results) == 1
    versions = [notes(f"{n}\n", **{"twin.md": f"{n}\n"}) for n in range(10)]

    async def look() -> None:
        for _ in range(10):
            found = await library.read("notes")
            assert found in (notes(), *versions)

    await asyncio.gather(look(), look(), *(library.write(one, replace=True) for one in versions))


WRITER = """
import asyncio, itertools, sys
from pathlib import Path
from forge.skills.library.library import Library
from forge.skills.models import SkillFiles

def notes(n):
    text = "---\\nname: notes\\ndescription: Takes notes.\\n---\\n\\n" + str(n)
    return SkillFiles(name="notes", files={"SKILL.md": text, **{f"{i}.md": str(n) for i in range(5)}})

async def main():
    library = Library(Path(sys.argv[1]))
    for n in itertools.cycle(range(10)):
        await library.write(notes(n), replace=True)
        print(n, flush=True)

asyncio.run(main())
"""


def write_and_die(data_dir: Path, *, after_s: float) -> None:
    writer = subprocess.Popen([sys.executable, "-c", WRITER, str(data_dir)], stdout=subprocess.PIPE)
    assert writer.stdout
    writer.stdout.readline()
    time.sleep(after_s)
    writer.kill()
    writer.communicate()


async def test_killed_writer_leaves_the_old_or_the_new_skill(library: Library, tmp_path: Path):
    for after_s in (0.010, 0.017, 0.024, 0.031):
        await asyncio.to_thread(write_and_die, tmp_path, after_s=after_s)
        found = await library.read("notes")
        assert len(found.files) == 6
        assert len({text[-1] for text in found.files.values()}) == 1
        assert folders(library) == ["notes"]
