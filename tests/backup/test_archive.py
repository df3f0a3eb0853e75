"""The archive: what goes in comes out, and nothing else is ever taken for it."""

import gzip
import io
import os
import tarfile
import threading
import zlib
from pathlib import Path

import pytest
from tests.support.unprivileged_user import unprivileged_user

from forge.backup.archive import ArchiveExtractor, create_archive, read_archive
from forge.backup.data_files import add_data_files, is_included
from forge.backup.models import DatabaseCopy, Manifest
from forge.errors import Invalid, NotFound, Unavailable
from forge.kernel.clock import now

ODD = os.fsdecode(b"odd-\xff\\name")


def write(path: Path, data_dir: Path) -> Manifest:
    database = DatabaseCopy(kind="sqlite", revision="0001")
    with create_archive(path) as writer:
        gaps = add_data_files(writer, data_dir, path.parent)
        about = Manifest(
            forge="1",
            made_at=now(),
            database=database,
            vault_key_hash=None,
            has_vault_key=False,
            restless=gaps.restless,
            unreadable=gaps.unreadable,
        )
        return writer.finish(about)


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """With everything a file system has that is not simply a file."""
    root = tmp_path / "data"
    (root / "workspaces" / "empty").mkdir(parents=True)
    (root / "bots").mkdir(mode=0o750)
    (root / "bots" / ODD).write_bytes(b"\x00\xff" * 1000)
    (root / "bots" / "run.sh").write_text("#!/bin/sh\n")
    (root / "bots" / "run.sh").chmod(0o755)
    (root / "bots" / ("long-" * 30)).write_text("long name")
    (root / "bots" / "outside").symlink_to("/etc/hostname")
    (root / "bots" / "nowhere").symlink_to("../gone")
    (root / "bots" / "a folder").symlink_to("../workspaces")
    os.mkfifo(root / "bots" / "pipe")
    (root / "logs").mkdir()
    (root / "logs" / "forge.log").write_text("not kept")
    return root


def tree(root: Path) -> dict[str, object]:
    """Everything below a folder, as it can be compared."""
    return {
        os.fsdecode(path.relative_to(root)): str(path.readlink())
        if path.is_symlink()
        else (path.stat().st_mode, path.read_bytes() if path.is_file() else None)
        for path in sorted(root.rglob("*"))
        if not path.is_fifo()
    }


def test_archive_round_trip(data_dir: Path, tmp_path: Path):
    archive = tmp_path / "a.tar.gz"
    written = write(archive, data_dir)
    unpacking = ArchiveExtractor(tmp_path / "out")
    assert read_archive(archive, unpacking) == written
    unpacking.finish()
    kept = {path: entry for path, entry in tree(data_dir).items() if not path.startswith("logs")}
    assert tree(tmp_path / "out" / "data") == kept
    assert archive.stat().st_mode & 0o777 == 0o600


def test_changed_or_truncated_archive_is_rejected(data_dir: Path, tmp_path: Path):
    archive, broken = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"
    write(archive, data_dir)
    whole = archive.read_bytes()
    content = gzip.decompress(whole)
    for place in range(10, len(whole), len(whole) // 60):  # before, there are gzip's own time and system
        broken.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        if not _says_the_same(broken, content):
            with pytest.raises(Invalid, match="is not an intact backup of Forge"):
                read_archive(broken)
        broken.write_bytes(whole[:place])
        with pytest.raises(Invalid, match="is not an intact backup of Forge"):
            read_archive(broken)


def _says_the_same(path: Path, content: bytes) -> bool:
    """A row of zeros can be packed in several ways."""
    try:
        return gzip.decompress(path.read_bytes()) == content
    except (OSError, EOFError, zlib.error):
        return False


@pytest.mark.parametrize("name", ["../outside", "/outside", "data/../../outside"])
def test_archive_with_outside_paths_is_rejected_and_writes_nothing(name: str, tmp_path: Path):
    archive = tmp_path / "evil.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = 4
        tar.addfile(member, io.BytesIO(b"evil"))
    with pytest.raises(Invalid, match="outside"):
        read_archive(archive, ArchiveExtractor(tmp_path / "out"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.tar.gz", "out"]


def test_links_in_an_archive_are_not_followed(tmp_path: Path):
    archive, target = tmp_path / "evil.tar.gz", tmp_path / "target"
    target.mkdir()
    with tarfile.open(archive, "w:gz") as tar:
        link = tarfile.TarInfo("data/way")
        link.type, link.linkname = tarfile.SYMTYPE, str(target)
        tar.addfile(link)
        member = tarfile.TarInfo("data/way/file")
        member.size = 4
        tar.addfile(member, io.BytesIO(b"evil"))
    with pytest.raises(Invalid):
        read_archive(archive, ArchiveExtractor(tmp_path / "out"))
    assert list(target.iterdir()) == []


def test_other_file_is_rejected_as_archive(tmp_path: Path):
    plain = tmp_path / "plain"
    plain.write_text("hello")
    with pytest.raises(Invalid, match="is not an intact backup"):
        read_archive(plain)
    with pytest.raises(NotFound):
        read_archive(tmp_path / "missing")


def test_newer_format_is_rejected(tmp_path: Path):
    archive = tmp_path / "new.tar.gz"
    text = b'{"format": 2}'
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    with pytest.raises(Invalid, match="created by a newer Forge"):
        read_archive(archive)


def test_changing_file_is_included_and_listed(data_dir: Path, tmp_path: Path):
    busy, stop = data_dir / "busy", threading.Event()
    with busy.open("wb") as file:
        file.truncate(40_000_000)  # takes a while to read

    def keep_writing() -> None:
        with busy.open("r+b") as file:
            while not stop.is_set():
                file.seek(0)
                file.write(os.urandom(64))
                file.flush()

    writing = threading.Thread(target=keep_writing)
    writing.start()
    try:
        manifest = write(tmp_path / "a.tar.gz", data_dir)
    finally:
        stop.set()
        writing.join()
    assert manifest.restless == ["busy"]
    assert read_archive(tmp_path / "a.tar.gz") == manifest


def test_unreadable_files_are_listed_and_the_rest_is_included():
    with unprivileged_user() as home:
        (home / "data" / "closed").mkdir(parents=True)
        (home / "data" / "closed" / "inside").write_text("never seen")
        (home / "data" / "open").write_text("kept")
        (home / "data" / "sealed").write_text("never seen")
        (home / "data" / "closed").chmod(0)
        (home / "data" / "sealed").chmod(0)
        manifest = write(home / "a.tar.gz", home / "data")
        assert manifest.unreadable == ["closed", "sealed"]
        assert [entry.path for entry in manifest.entries] == ["data/closed", "data/open"]
        assert read_archive(home / "a.tar.gz") == manifest
        (home / "data" / "closed").chmod(0o700)


def test_error_names_the_file_that_failed(data_dir: Path, tmp_path: Path):
    spool = tmp_path / "gone"
    with (
        pytest.raises(Unavailable, match=f"Cannot create the backup: {spool}"),
        create_archive(tmp_path / "a.tar.gz"),
    ):
        spool.read_bytes()


def test_unwritable_backup_leaves_no_file(data_dir: Path, tmp_path: Path):
    with pytest.raises(Unavailable, match="Cannot write the backup"):
        write(tmp_path / "missing" / "a.tar.gz", data_dir)
    with pytest.raises(RuntimeError), create_archive(tmp_path / "a.tar.gz"):
        raise RuntimeError
    assert sorted(path.name for path in tmp_path.iterdir()) == ["data"]


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("bots/ada/SOUL.md", True),
        ("forge.toml", True),
        ("audit/signing.key", True),
        ("something new", True),
        ("bots/forge.db", True),
        ("forge.db", False),
        ("forge.db-wal", False),
        ("forge.db.schema-0001.backup", False),
        ("vault.key", False),
        ("server.json", False),
        ("before-restore-1", False),
    ],
)
def test_data_directory_is_included_except_process_files(path: str, kept: bool):
    from pathlib import PurePosixPath

    assert is_included(PurePosixPath(path)) is kept
