"""The archive: what goes in comes out, and nothing else is ever taken for it."""

import gzip
import io
import os
import tarfile
import threading
import zlib
from pathlib import Path

import pytest
from tests.support.somebody import somebody

from forge.backup.archive import create_archive, read_archive
from forge.backup.data_files import add_data_files, is_kept
from forge.backup.models import DatabaseCopy, Manifest
from forge.backup.unpacking import Unpacking
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


def test_what_goes_in_comes_out_as_it_was(data_dir: Path, tmp_path: Path):
    archive = tmp_path / "a.tar.gz"
    written = write(archive, data_dir)
    unpacking = Unpacking(tmp_path / "out")
    assert read_archive(archive, unpacking) == written
    unpacking.finish()
    kept = {path: entry for path, entry in tree(data_dir).items() if not path.startswith("logs")}
    assert tree(tmp_path / "out" / "data") == kept
    assert archive.stat().st_mode & 0o777 == 0o600


def test_an_archive_with_a_changed_byte_or_a_lost_end_is_refused(data_dir: Path, tmp_path: Path):
    archive, broken = tmp_path / "a.tar.gz", tmp_path / "b.tar.gz"
    write(archive, data_dir)
    whole = archive.read_bytes()
    content = gzip.decompress(whole)
    for place in range(10, len(whole), len(whole) // 60):  # before, there are gzip's own time and system
        broken.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        if not _says_the_same(broken, content):
            with pytest.raises(Invalid, match="is not a whole backup of Forge"):
                read_archive(broken)
        broken.write_bytes(whole[:place])
        with pytest.raises(Invalid, match="is not a whole backup of Forge"):
            read_archive(broken)


def _says_the_same(path: Path, content: bytes) -> bool:
    """A row of zeros can be packed in several ways."""
    try:
        return gzip.decompress(path.read_bytes()) == content
    except (OSError, EOFError, zlib.error):
        return False


@pytest.mark.parametrize("name", ["../outside", "/outside", "data/../../outside"])
def test_an_archive_that_points_outside_is_refused_and_writes_nothing(name: str, tmp_path: Path):
    archive = tmp_path / "evil.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo(name)
        member.size = 4
        tar.addfile(member, io.BytesIO(b"evil"))
    with pytest.raises(Invalid, match="outside"):
        read_archive(archive, Unpacking(tmp_path / "out"))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evil.tar.gz", "out"]


def test_an_archive_does_not_write_through_its_own_links(tmp_path: Path):
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
        read_archive(archive, Unpacking(tmp_path / "out"))
    assert list(target.iterdir()) == []


def test_what_is_no_archive_is_refused(tmp_path: Path):
    plain = tmp_path / "plain"
    plain.write_text("hello")
    with pytest.raises(Invalid, match="is not a whole backup"):
        read_archive(plain)
    with pytest.raises(NotFound):
        read_archive(tmp_path / "missing")


def test_a_newer_format_is_named(tmp_path: Path):
    archive = tmp_path / "new.tar.gz"
    text = b'{"format": 2}'
    with tarfile.open(archive, "w:gz") as tar:
        member = tarfile.TarInfo("manifest.json")
        member.size = len(text)
        tar.addfile(member, io.BytesIO(text))
    with pytest.raises(Invalid, match="made by a newer Forge"):
        read_archive(archive)


def test_a_file_that_never_holds_still_is_in_and_named(data_dir: Path, tmp_path: Path):
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


def test_what_may_not_be_read_is_named_and_everything_else_is_in():
    with somebody() as home:
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


def test_a_backup_that_fails_of_something_else_does_not_blame_its_target(data_dir: Path, tmp_path: Path):
    spool = tmp_path / "gone"
    with (
        pytest.raises(Unavailable, match=f"could not be made: {spool}"),
        create_archive(tmp_path / "a.tar.gz"),
    ):
        spool.read_bytes()


def test_a_backup_that_cannot_be_written_leaves_nothing(data_dir: Path, tmp_path: Path):
    with pytest.raises(Unavailable, match="could not be written"):
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
def test_all_is_kept_but_what_belongs_to_a_process_or_has_its_own_way(path: str, kept: bool):
    from pathlib import PurePosixPath

    assert is_kept(PurePosixPath(path)) is kept
