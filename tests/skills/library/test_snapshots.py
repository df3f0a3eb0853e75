"""Snapshots of whole skills as bytes: consistent reads and writes, and conflicts."""

import os
import time
from pathlib import Path

import pytest

from forge.errors import Conflict, ForgeError, Invalid, NotFound, TooLarge
from forge.skills.format.contents import MAX_FILES, Snapshot, hash_files
from forge.skills.library.library import Library
from forge.skills.models import SkillSource

MANIFEST = b"---\nname: notes\ndescription: Takes notes.\n---\n\nTake notes.\n"
PICTURE = b"\x89PNG\xff\x00"
FILES = {"SKILL.md": MANIFEST, "assets/logo.png": PICTURE, "scripts/run.py": b"print()\n"}


@pytest.fixture
def library(tmp_path: Path) -> Library:
    return Library(tmp_path)


def settle(folder: Path) -> None:
    """Wait until the time stamps of the files are in the past."""
    time.sleep(0.15)
    assert folder.exists()


def test_hash_distinguishes_paths_and_contents():
    assert hash_files({"a": b"bc"}) != hash_files({"ab": b"c"})
    assert hash_files({"a": b"", "b": b""}) != hash_files({"a": b"1:b0:"})
    assert hash_files({"a": b"1", "b": b"2"}) == hash_files({"b": b"2", "a": b"1"})
    assert hash_files({"a": b"1", "b": b"2"}) != hash_files({"a": b"2", "b": b"1"})


async def test_snapshot_contains_the_stored_files(library: Library):
    result = await library.put("notes", FILES, replace=False)
    assert (result.is_new, result.is_changed) == (True, True)
    assert await library.snapshot("notes") == Snapshot("notes", FILES, hash_files(FILES))
    assert (await library.find("notes")).files == ["assets/logo.png", "scripts/run.py"]


async def test_same_skill_is_unchanged_and_a_different_one_conflicts(library: Library):
    await library.put("notes", FILES, replace=False)
    inode = library.path("notes").stat().st_ino
    result = await library.put("notes", FILES, replace=True)
    assert (result.is_new, result.is_changed) == (False, False)
    assert library.path("notes").stat().st_ino == inode
    with pytest.raises(Conflict):
        await library.put("notes", {"SKILL.md": MANIFEST}, replace=False)
    assert (await library.snapshot("notes")).files == FILES


async def test_replacing_removes_old_files(library: Library):
    await library.put("notes", FILES, replace=False)
    result = await library.put("notes", {"SKILL.md": MANIFEST + b"Well.\n"}, replace=True)
    assert (result.is_new, result.is_changed) == (False, True)
    assert (await library.snapshot("notes")).files == {"SKILL.md": MANIFEST + b"Well.\n"}
    assert [path.name for path in library.path("notes").parent.iterdir()] == ["notes"]


async def test_every_edit_changes_the_hash(library: Library):
    await library.put("notes", FILES, replace=False)
    source = library.path("notes") / "scripts" / "run.py"
    settle(source)
    before = await library.snapshot("notes")
    assert await library.snapshot("notes") is before
    status = source.stat()
    source.write_bytes(b"evil()!\n")
    os.utime(source, ns=(status.st_atime_ns, status.st_mtime_ns))
    after = await library.snapshot("notes")
    assert after.files["scripts/run.py"] == b"evil()!\n"
    assert after.folder_hash != before.folder_hash


async def test_edits_within_a_clock_tick_are_detected(library: Library):
    await library.put("notes", FILES, replace=False)
    source = library.path("notes") / "scripts" / "run.py"
    for number in range(50):
        text = f"print({number:03})\n".encode()
        source.write_bytes(text)
        assert (await library.snapshot("notes")).files["scripts/run.py"] == text


async def test_links_are_not_part_of_a_skill(library: Library, tmp_path: Path):
    await library.put("notes", FILES, replace=False)
    (tmp_path / "secret").write_text("secret")
    (library.path("notes") / "secret.md").symlink_to(tmp_path / "secret")
    (library.path("notes") / "more").symlink_to(tmp_path)
    os.mkfifo(library.path("notes") / "pipe")
    assert (await library.snapshot("notes")).files == FILES
    (library.path("notes").parent / "linked").symlink_to(tmp_path)
    with pytest.raises(Conflict):
        await library.snapshot("linked")


async def test_build_output_is_included_and_caches_are_not(library: Library):
    built = {**FILES, "dist/index.js": b"run()\n"}
    await library.put("notes", built, replace=False)
    cache = library.path("notes") / "scripts" / "__pycache__"
    cache.mkdir()
    (cache / "run.pyc").write_bytes(b"x")
    assert (await library.snapshot("notes")).files == built


async def test_size_limits_apply_to_reads_and_writes(library: Library):
    many = {"SKILL.md": MANIFEST} | {f"{number}.md": b"x" for number in range(MAX_FILES)}
    large = {"SKILL.md": MANIFEST, "a": bytes((16 << 20) + 1)}
    heavy = {"SKILL.md": MANIFEST, "a": bytes(16 << 20), "b": bytes(16 << 20)}
    for files in (many, large, heavy):
        with pytest.raises(TooLarge):
            await library.put("notes", files, replace=False)
    assert not await library.exists("notes")
    await library.put("notes", {"SKILL.md": MANIFEST}, replace=False)
    for number in range(MAX_FILES):
        (library.path("notes") / f"{number}.md").write_text("x")
    with pytest.raises(TooLarge):
        await library.snapshot("notes")


@pytest.mark.parametrize(
    "path", ["../x", "/x", "a\\b", ".git/config", ".GIT/hooks/post-checkout", "a/../b", ""]
)
async def test_file_outside_the_skill_is_not_written(library: Library, tmp_path: Path, path: str):
    with pytest.raises(ForgeError):
        await library.put("notes", {"SKILL.md": MANIFEST, path: b"x"}, replace=False)
    assert list(tmp_path.iterdir()) == []  # noqa: ASYNC240


async def test_invalid_skill_is_not_stored(library: Library):
    for files in ({}, {"SKILL.md": b"# Notes"}, {"SKILL.md": b"\xff"}, {"run.py": b""}):
        with pytest.raises(Invalid):
            await library.put("notes", files, replace=False)
    with pytest.raises(NotFound):
        await library.snapshot("notes")


async def test_saving_replaces_text_files_and_keeps_binary_files(library: Library):
    await library.put("notes", {**FILES, "old.md": b"old"}, replace=False)
    (library.path("notes") / "scripts" / "run.py").chmod(0o755)
    base = await library.snapshot("notes")
    texts = {"SKILL.md": MANIFEST.decode() + "Well.\n", "scripts/run.py": "print(1)\n"}
    result = await library.save("notes", texts, base.folder_hash)
    assert (result.is_new, result.is_changed) == (False, True)
    assert (await library.snapshot("notes")).files == {
        "SKILL.md": MANIFEST + b"Well.\n",
        "assets/logo.png": PICTURE,
        "scripts/run.py": b"print(1)\n",
    }
    assert (library.path("notes") / "scripts" / "run.py").stat().st_mode & 0o777 == 0o755


async def test_saving_over_a_concurrent_change_is_a_conflict(library: Library):
    await library.put("notes", FILES, replace=False)
    base = await library.snapshot("notes")
    (library.path("notes") / "scripts" / "run.py").write_text("print(2)\n")
    with pytest.raises(Conflict) as caught:
        await library.save("notes", {"SKILL.md": MANIFEST.decode()}, base.folder_hash)
    now = await library.snapshot("notes")
    assert caught.value.detail == {"folder_hash": now.folder_hash}
    assert now.files["scripts/run.py"] == b"print(2)\n"
    same = await library.save(
        "notes", {"SKILL.md": MANIFEST.decode(), "scripts/run.py": "print(2)\n"}, now.folder_hash
    )
    assert not same.is_changed


async def test_saving_a_starter_creates_an_own_copy(library: Library):
    starter = await library.snapshot("summarize")
    text = starter.files["SKILL.md"].decode() + "\nBe brief.\n"
    with pytest.raises(Conflict):
        await library.save("summarize", {"SKILL.md": text}, hash_files({}))
    await library.save("summarize", {"SKILL.md": text}, starter.folder_hash)
    assert (await library.find("summarize")).source is SkillSource.LIBRARY
    assert (await library.snapshot("summarize")).files == {"SKILL.md": text.encode()}
    with pytest.raises(NotFound):
        await library.save("nowhere", {"SKILL.md": "---\nname: nowhere\ndescription: x\n---\n"}, "")
