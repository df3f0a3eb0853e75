"""Packing a local folder: all its files, without following links."""

import io
import os
import zipfile
from pathlib import Path

import pytest

from forge.errors import Invalid, NotFound, TooLarge
from forge.skills.format import zip_archive
from forge.skills.format.zip_archive import pack, read_folder


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    skill = tmp_path / "word-count"
    (skill / "tests").mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: word-count\n---\n")
    (skill / "tests" / "one.json").write_bytes(b"\x00\xff")
    return skill


def test_packed_folder_unpacks_unchanged(folder: Path):
    files = read_folder(folder).files
    assert files == {"SKILL.md": b"---\nname: word-count\n---\n", "tests/one.json": b"\x00\xff"}
    assert unpacked(pack(files)) == files
    assert unpacked(pack(files, below="word-count")) == {
        f"word-count/{path}": data for path, data in files.items()
    }


def test_archive_is_reproducible(folder: Path):
    first = pack(read_folder(folder).files)
    os.utime(folder / "SKILL.md", (1, 1))
    assert pack(read_folder(folder).files) == first


@pytest.mark.parametrize("name", [".git", "node_modules", "__pycache__", ".venv"])
@pytest.mark.parametrize("below", ["", "tests"])
def test_ignored_folders_are_not_packed(folder: Path, name: str, below: str):
    before = read_folder(folder).files
    (folder / below / name).mkdir()
    (folder / below / name / "config").write_text("secret")
    assert read_folder(folder).files == before


def test_links_are_reported_and_not_followed(folder: Path, tmp_path: Path):
    before = read_folder(folder).files
    (tmp_path / "private").mkdir()
    (tmp_path / "private" / "key").write_text("secret")
    (folder / "inside").symlink_to("SKILL.md")
    (folder / "key").symlink_to(tmp_path / "private" / "key")
    (folder / "tests" / "private").symlink_to(tmp_path / "private")
    (folder / "gone").symlink_to("nowhere")
    os.mkfifo(folder / "pipe")
    found = read_folder(folder)
    assert found.files == before
    assert found.left_out == ["gone", "inside", "key", "pipe", "tests/private"]


def test_too_large_folder_is_rejected(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(zip_archive, "MAX_BYTES", 10)
    with pytest.raises(TooLarge, match="word-count has more than"):
        read_folder(folder)


def test_too_many_files_are_rejected(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(zip_archive, "MAX_FILES", 1)
    with pytest.raises(TooLarge):
        read_folder(folder)


def test_file_name_that_is_not_utf8_is_rejected(folder: Path):
    (Path(os.fsdecode(os.fsencode(folder) + b"/\xff.md"))).write_text("x")
    with pytest.raises(Invalid, match="is not valid UTF-8"):
        read_folder(folder)


def test_missing_folder_is_not_found(folder: Path):
    for path in (folder / "none", folder / "SKILL.md"):
        with pytest.raises(NotFound):
            read_folder(path)
